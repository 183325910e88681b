import { optionText } from "@tutti/words/job-fields.ts";
import { describe, expect, test } from "vitest";
import { NO_TEXTS, problemsOf, readTexts, textsOf } from "./job-request.ts";

const NOW_MS = new Date(2026, 5, 1, 12, 0).getTime();
const read = (texts: Partial<typeof NO_TEXTS>) => readTexts({ ...NO_TEXTS, ...texts }, NOW_MS);

test("what the fields say about a job is read again as what it has", () => {
  const job = { name: "sim", tasks: 2, threads: 4, use: { gpu: 1 }, queue: "batch", retries: 2 };
  const more = { retryOn: ["fail", "SIGBUS"], retryDelayMs: 1_800_000, beginAtMs: NOW_MS + 60_000 };
  for (const limitMs of [90_000, 600_000, 5_400_000, 7_200_000, 1500]) {
    const all = { ...job, ...more, limitMs };
    expect(readTexts(textsOf(all, NOW_MS), NOW_MS)).toEqual({ request: all, problems: {} });
  }
  expect([90, 600, 7200].map((s) => optionText("limitMs", 1000 * s))).toEqual(["90s", "10m", "2h"]);
  const { beginAtMs, threads } = textsOf({ name: "x", tasks: 1, queue: "q", beginAtMs: 5 }, NOW_MS);
  expect([beginAtMs, threads]).toEqual(["", ""]);
});

describe("readTexts()", () => {
  test("leaves empty fields out, and reads the others in the units of the API", () => {
    expect(read({})).toEqual({ request: {}, problems: {} });
    expect(
      read({
        name: "sweep",
        tasks: "4",
        threads: "2",
        use: "gpu:2, licence",
        limitMs: "1.5h",
        queue: "batch",
        beginAtMs: "+2h",
        retries: "3",
        retryOn: "fail, 75,sigbus",
        retryDelayMs: "1m",
      }),
    ).toEqual({
      request: {
        name: "sweep",
        tasks: 4,
        threads: 2,
        use: { gpu: 2, licence: 1 },
        limitMs: 5_400_000,
        queue: "batch",
        beginAtMs: NOW_MS + 7_200_000,
        retries: 3,
        retryOn: ["fail", "75", "SIGBUS"],
        retryDelayMs: 60_000,
      },
      problems: {},
    });
  });

  test("says at each field what cannot be read", () => {
    const { problems } = read({ use: "gpu 1", limitMs: "soon", beginAtMs: "25:00", retryDelayMs: "x" });
    expect(Object.keys(problems).sort()).toEqual(["beginAtMs", "limitMs", "retryDelayMs", "use"]);
    expect(problems.use).toBe('is "gpu 1", expected names with numbers, such as gpu:1 or gpu:2,licence:1');
    expect(problems.beginAtMs).toMatch(/^is "25:00", expected \+2h, 23:00, /);
  });

  test("a begin in the past is a mistake, as on the command line", () => {
    expect(read({ beginAtMs: "2026-06-01T08:00" }).problems).toEqual({
      beginAtMs: "was 08:00:00, expected a time in the future",
    });
    expect(read({ beginAtMs: "now" }).problems).toEqual({});
  });
});

describe("problemsOf()", () => {
  test("finds the fields that a refusal names", () => {
    const message =
      'Cannot use the body: jobs[0].retries: is 2000, expected a whole number from 0 to 1000; jobs[0].retryOn[1]: is not "fail", an exit code from 1 to 255 or a signal such as SIGBUS';
    expect(problemsOf(message, ["retries", "retryOn"])).toEqual({
      retries: "is 2000, expected a whole number from 0 to 1000",
      retryOn: 'is not "fail", an exit code from 1 to 255 or a signal such as SIGBUS',
    });
    expect(problemsOf("Cannot use the body: update.tasks: is 0, expected 1", ["tasks"])).toEqual({
      tasks: "is 0, expected 1",
    });
  });

  test("shows the whole message if one of its fields is not in the dialog", () => {
    for (const message of [
      "Cannot submit the job: there is no queue nightly",
      "Cannot use the body: jobs[0].env: is missing; jobs[0].retries: is 2000",
    ])
      expect(problemsOf(message, ["retries"])).toEqual({ "": message });
  });
});
