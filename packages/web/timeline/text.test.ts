import { expect, test } from "vitest";
import type { TimelineData, TimelineJob } from "./data.ts";
import { detailLines, jobsCsv, severalLines, sumsText } from "./text.ts";

const data: TimelineData = { jobs: [], cpus: 8, clock: "elapsed", nowMs: 90_000 };
const waiting: TimelineJob = {
  ...{ job: 4, name: "a,\nb", user: "eva", queue: "short", state: "queued", tasks: 2, cpus: [] },
  submittedMs: 1000,
  expectedStart: { p10Ms: 100_000, p50Ms: 120_000, p90Ms: 180_000 },
  expectedEnd: { p10Ms: 200_000, p50Ms: 200_100, p90Ms: 200_200 },
  promisedMs: 150_000,
};
const ended: TimelineJob = {
  ...{ job: 5, name: "sim", tasks: 3, startMs: 0, endMs: 60_000 },
  cpus: [
    { first: 0, end: 2 },
    { first: 5, end: 6 },
  ],
};

test("a job in lines: medians with their range unless it is below a second", () => {
  expect(detailLines(data, waiting)).toEqual([
    "4 a,\\nb",
    "eva · queue short · queued",
    "2 CPUs",
    "start about 2 min (1 min 40 s to 3 min)",
    "end about 3 min 20.1 s",
    "promised start 2 min 30 s",
  ]);
  const { expectedStart, expectedEnd } = waiting;
  const rough = {
    ...waiting,
    expectedStart: { ...expectedStart!, onlyRange: true as const },
    expectedEnd: { ...expectedEnd!, onlyRange: true as const },
  };
  expect(detailLines(data, rough)).toEqual(
    expect.arrayContaining(["start 1 min 40 s to 3 min", "end about 3 min 20.1 s"]),
  );
  expect(detailLines(data, ended)).toEqual(["5 sim", "3 CPUs: 0-1,5", "start 0", "end 1 min"]);
  const simulated = { ...ended, submittedMs: -90_000 };
  expect(detailLines(data, simulated).at(-1)).toBe("waited 90 s");
  expect(detailLines({ ...data, clock: "calendar" }, simulated).join()).not.toContain("waited");
});

test("several jobs at a pixel are counted, the first ones named", () => {
  const jobs = Array.from({ length: 10 }, (_, i) => ({ ...ended, job: i + 1 }));
  const lines = severalLines(jobs);
  expect([lines[0], lines[1], lines.at(-1)]).toEqual(["10 jobs here: zoom in", "1 sim", "and 2 more"]);
});

test("sums of an area", () => {
  const area = { fromMs: 0, toMs: 100_000, firstRow: 0, endRow: 2 };
  const sums = { jobs: [{ index: 0, usedCpuMs: 60_000, expectedCpuMs: 40_000 }], capacityCpuMs: 200_000 };
  expect(sumsText({ ...sums, usedCpuMs: 60_000, expectedCpuMs: 40_000 }, area)).toBe(
    "1 job in 100 s: 60 s of CPU time used and 40 s expected, 50.0 % of the CPUs",
  );
});

test("CSV quotes names and gives seconds, or ISO 8601 on a calendar", () => {
  const [heading, first, last] = jobsCsv(data, [waiting, ended]).split("\n");
  expect(heading).toMatch(/^job,name,user,queue,state,cpus,on_cpus,submitted,start,end,start_p10/);
  expect(first).toBe('4,"a,\\nb",eva,short,queued,2,,1,,,100,120,180,200,200.1,200.2');
  expect(last).toBe('5,sim,,,,3,"0-1,5",,0,60,,,,,,');
  expect(jobsCsv({ ...data, clock: "calendar" }, [ended])).toContain(
    ",1970-01-01T00:00:00.000Z,1970-01-01T00:01:00.000Z,",
  );
});
