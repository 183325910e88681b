/**
 * Tests that python/check_swf.py, which shares no code with Tutti, accepts the archive of golden schedules,
 * and that it rejects changes of starts, processors and places that keep the capacity legal.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tracesFolder } from "@tutti/host/traces-folder.ts";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { goldenKeys } from "@tutti/lab/golden/cells.ts";
import { writeArchive } from "@tutti/lab/golden/write-archive.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const program = fileURLToPath(new URL("../python/check_swf.py", import.meta.url));
const isNewEnough = "import sys; sys.exit(sys.version_info < (3, 9))";
const hasPython = spawnSync("python3", ["-c", isNewEnough]).status === 0;
const SOURCE = "lublin:jobs=300:processors=32:estimates=tsafrir";
const OTHER = "downey:jobs=200:processors=16";
const PLACES = SOURCE.replaceAll(":", ",");
/** All settings in a soak; in `npm test`, each policy as it is by default, and one with few rows. */
const keys = goldenKeys([SOURCE, OTHER]).filter(
  ({ policy }) => SOAK || !policy.includes(":") || policy === "gang:rows=4",
);
/** Guards against a hang: the soak takes half an hour. */
const MAX_MS = 7_200_000;

type Row = Record<string, string>;

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-archive-"));
  await writeArchive(join(folder, "a"), keys);
});
afterAll(() => rmSync(folder, { recursive: true }));

function check(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync("python3", [program, ...words], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1e9,
  });
  return { status, words: stdout + stderr };
}

function readTable(file: string): Row[] {
  const [heading, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  const names = heading.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((value, i) => [names[i], value])));
}

function writeTable(file: string, rows: readonly Row[]): void {
  const lines = rows.map((row) => Object.values(row).join(","));
  writeFileSync(file, [Object.keys(rows[0]).join(","), ...lines, ""].join("\n"));
}

const start = (row: Row) => Number(row.starting_time);
const finish = (row: Row) => Number(row.finish_time);
const sizeOf = (row: Row) => Number(row.requested_number_of_resources);
/** Two jobs of one size, of which the second starts while the first one runs. */
function together(rows: readonly Row[]): [Row, Row] {
  for (const first of rows)
    for (const second of rows)
      if (
        start(first) < start(second) &&
        start(second) < finish(first) &&
        sizeOf(first) === sizeOf(second) &&
        finish(second) > start(second)
      )
        return [first, second];
  throw new Error("no two jobs of one size run together");
}

/** Moves the job in time. */
function shift(row: Row, byS: number): void {
  row.starting_time = String(start(row) + byS);
  row.finish_time = String(finish(row) + byS);
}

function shiftAll(rows: readonly Row[], byS: number): void {
  for (const row of rows) shift(row, byS);
}

const lastOf = (rows: readonly Row[]) =>
  rows.reduce((last, row) => (finish(row) > finish(last) ? row : last));

describe.skipIf(!hasPython)("golden archive (skipped without python3 of version 3.9 or newer)", () => {
  test(
    "python/check_swf.py accepts every schedule, and says what it checked",
    () => {
      const { status, words } = check("--archive", "a");
      const lines = words.trimEnd().split("\n");
      expect(lines.filter((line) => !line.startsWith("accepted: "))).toHaveLength(1);
      expect(status).toBe(0);
      expect(lines.at(-1)).toMatch(/^\d+ schedules accepted, 0 rejected; \d+ policies refuse their machine$/);
      const counts = lines.at(-1)!.match(/\d+/g)!.map(Number);
      expect(counts[0] + counts[2]).toBe(keys.length);
      const found = (policy: string) =>
        lines.find((line) => line.startsWith(`accepted: ${SOURCE} ${policy}, `));
      for (const policy of ["fcfs", "first-fit", "easy"])
        expect(found(policy)).toBe(
          `accepted: ${SOURCE} ${policy}, 300 jobs on 32 processors: arrivals, capacity, processors, jobs of the workload, starts of ${policy}, waits of the table`,
        );
      expect(found("conservative")).toContain(
        ": arrivals, capacity, processors, jobs of the workload, waits",
      );
      expect(found("gang:rows=4")).toContain(": arrivals, places in the matrix, jobs of the workload, waits");
      expect(found("brms")).toContain(": arrivals, jobs of the workload, waits");
    },
    MAX_MS,
  );

  test("the same cells give the same bytes, and SHA256SUMS has the hash of each file", async () => {
    const few = goldenKeys([SOURCE]).filter(({ policy }) => /^(?:easy|brmms)$/.test(policy));
    for (const name of ["one", "two"]) await writeArchive(join(folder, name), few);
    const [one, two] = ["one", "two"].map((name) => readFileSync(join(folder, name, "SHA256SUMS"), "utf8"));
    expect(one).toBe(two);
    const files = one.trimEnd().split("\n");
    expect(files.map((line) => line.slice(66))).toEqual([
      "README.md",
      "golden.tsv",
      `${PLACES}.swf`,
      ...["brmms.csv", "brmms.places.csv", "easy.csv"].map((name) => `${PLACES}/${name}`),
    ]);
    for (const line of files) {
      const text = readFileSync(join(folder, "one", line.slice(66)));
      expect(line.slice(0, 64)).toBe(createHash("sha256").update(text).digest("hex"));
    }
    expect(readdirSync(join(folder, "one")).sort()).toEqual(
      [PLACES, `${PLACES}.swf`, "README.md", "SHA256SUMS", "golden.tsv"].sort(),
    );
  });

  const easy = ["--processors", "32", "--policy", "easy", "--workload", `a/${PLACES}.swf`];

  /** Each keeps the number of processors in use legal. */
  test.each<[string, (rows: Row[]) => void, RegExp]>([
    [
      "two jobs have the same processors",
      (rows) => {
        const [first, second] = together(rows);
        second.allocated_resources = first.allocated_resources;
      },
      /^line \d+: processors [\d -]+ have another job when job \d+ starts at/m,
    ],
    [
      "a job has a processor that is not there",
      (rows) => {
        const one = rows.find((row) => sizeOf(row) === 1)!;
        one.allocated_resources = "32";
      },
      /job \d+ is on processor 32 of 0 to 31$/m,
    ],
    [
      "a job has a processor too few",
      (rows) => {
        const wide = rows.find((row) => row.allocated_resources === "0-31")!;
        wide.allocated_resources = "1-31";
      },
      /job \d+ is on 31 processors, but needs 32$/m,
    ],
    [
      "a job's processors are named twice",
      (rows) => {
        const pair = rows.find((row) => /^\d+-\d+$/.test(row.allocated_resources) && sizeOf(row) === 2)!;
        const [first] = pair.allocated_resources.split("-");
        pair.allocated_resources = `${first} ${first}`;
      },
      /job \d+ is on 1 processors, but needs 2$/m,
    ],
    [
      "the last job starts a second late",
      (rows) => shift(lastOf(rows), 1),
      /starts at .*, expected .* under easy/,
    ],
    ["all jobs are a day late", (rows) => shiftAll(rows, 86_400), /starts at .*, expected/],
    [
      "all jobs run before they arrive",
      (rows) => shiftAll(rows, -86_400),
      /job 1 starts at \S+, but arrives at/,
    ],
    [
      "the last job ends a second late",
      (rows) => {
        const last = lastOf(rows);
        last.finish_time = String(finish(last) + 1);
      },
      /job \d+ starts at \S+ and runs \S+ s, but ends at/,
    ],
    ["a job is missing", (rows) => rows.splice(100, 1), /^job \d+ of the workload \(line \d+\) is missing$/m],
    [
      "a job was rejected",
      (rows) => Object.assign(rows[100], { starting_time: "", finish_time: "" }),
      /^line 102: job \d+ has no start$/m,
    ],
  ])("easy: rejected if %s", (_, change, words) => {
    const rows = readTable(join(folder, "a", PLACES, "easy.csv"));
    change(rows);
    writeTable(join(folder, "changed.csv"), rows);
    const answer = check("changed.csv", ...easy);
    expect(answer.words).toMatch(words);
    expect(answer.words).not.toContain("processors are used");
    expect(answer.status).toBe(1);
  });

  test.each<[string, (stays: Row[]) => void, RegExp]>([
    [
      "two jobs have one processor of a row",
      (stays) => {
        const first = stays[50];
        const isThen = (stay: Row) =>
          stay !== first &&
          Number(stay.from) < Number(first.until) &&
          Number(stay.until) > Number(first.from);
        stays.find((stay) => isThen(stay) && overlaps(stay, first))!.row = first.row;
      },
      /^places, line \d+: processors [\d -]+ of row \d+ have another job when job \d+ comes at/m,
    ],
    [
      "there are more rows than the matrix has",
      (stays) => {
        for (const [i, stay] of stays.entries()) stay.row = String(i);
      },
      /^places, line \d+: 5 of 4 rows have jobs at/m,
    ],
    ["a place is missing", (stays) => stays.splice(50, 1), /job \d+ starts at \S+, but is in no row$/m],
    [
      "a job leaves its row early",
      (stays) => Object.assign(stays[50], { until: String(Number(stays[50].until) - 1) }),
      /job \d+ ends at \S+, but has left its rows$/m,
    ],
    [
      "a job comes before it arrives",
      (stays) => Object.assign(stays[50], { from: "-60" }),
      /job \d+ is in a row before it arrives or after it ends$/m,
    ],
    [
      "a job has other processors than it needs",
      (stays) =>
        Object.assign(stays.find((stay) => stay.allocated_resources.includes("-"))!, {
          allocated_resources: "31",
        }),
      /^places, line \d+: job \d+ is on 1 processors, but needs/m,
    ],
    [
      "a job is unknown",
      (stays) => Object.assign(stays[50], { job_id: "9999" }),
      /job 9999 is not in the schedule$/m,
    ],
  ])("gang:rows=4: rejected if %s", (_, change, words) => {
    const name = `a/${PLACES}/gang,rows=4`;
    const stays = readTable(join(folder, `${name}.places.csv`));
    const task = [`${name}.csv`, "--processors", "32", "--rows", "4", "--places"];
    change(stays);
    writeTable(join(folder, "changed.csv"), stays);
    const answer = check(...task, "changed.csv");
    expect(answer.words).toMatch(words);
    expect(answer.status).toBe(1);
  });

  test("gang: rejected if a job is there for less than it runs", () => {
    const rows = readTable(join(folder, "a", PLACES, "gang.csv"));
    const last = lastOf(rows);
    last.finish_time = String(start(last) + 1);
    last.execution_time = "1";
    writeTable(join(folder, "changed.csv"), rows);
    const places = `a/${PLACES}/gang.places.csv`;
    const answer = check(
      "changed.csv",
      "--processors",
      "32",
      "--places",
      places,
      "--workload",
      `a/${PLACES}.swf`,
    );
    expect(answer).toMatchObject({
      status: 1,
      words: expect.stringMatching(/is there for 1 s, but runs for/),
    });
  });

  /** Columns and their order as in Batsim 4 (docs/output-jobs.rst of its source). */
  test.each([
    ["a row with too few values", "1,0,2,10,0,10,10,0-1\n2,0,2,10,0,10,10", 66],
    ["an arrival that is not a number", "1,nan,4,10,0,10,10,0-3", 66],
    ["a run time below 0", "1,20,4,10,20,-15,5,0-3", 66],
    ["a job without processors", "1,0,0,10,0,10,10,", 66],
    ["a processor that no machine has", "1,0,1,10,0,10,10,99999999999", 66],
    ["a job that is there twice", "1,0,4,10,0,10,10,0-3\n1,0,4,10,10,10,20,0-3", 1],
  ])("%s is refused", (_, rows, status) => {
    const names =
      "job_id,submission_time,requested_number_of_resources,requested_time,starting_time,execution_time,finish_time,allocated_resources";
    writeFileSync(join(folder, "odd.csv"), `${names}\n${rows}\n`);
    const said = check("odd.csv", "--processors", "4");
    expect(said.status, said.words).toBe(status);
    expect(said.words).not.toContain("Traceback");
  });

  test("a jobs.csv of Batsim is judged, with jobs that it rejected", () => {
    const columns =
      "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata";
    const lines = [
      columns,
      '1,w0,delay10,0.000000,3,20.000000,1,COMPLETED_SUCCESSFULLY,0.000000,10.000000,10.000000,0.000000,10.000000,1.000000,0-2,-1.000000,""',
      '2,w0,delay10,1.000000,2,20.000000,1,COMPLETED_SUCCESSFULLY,10.000000,10.000000,20.000000,9.000000,19.000000,1.900000,0 2,-1.000000,""',
      '3,w0,delay5,2.000000,1,5.000000,1,COMPLETED_SUCCESSFULLY,2.000000,5.000000,7.000000,0.000000,5.000000,1.000000,3,-1.000000,""',
      "",
    ];
    writeFileSync(join(folder, "jobs.csv"), lines.join("\n"));
    expect(check("jobs.csv", "--processors", "4", "--policy", "easy")).toEqual({
      status: 0,
      words: "accepted: 3 jobs on 4 processors: arrivals, capacity, processors, starts of easy\n",
    });
    expect(check("jobs.csv", "--processors", "4", "--policy", "fcfs")).toMatchObject({ status: 1 });
    const rejected = '4,w0,delay5,2.000000,9,5.000000,0,REJECTED,,,,,,,,-1.000000,""';
    writeFileSync(join(folder, "jobs.csv"), [...lines.slice(0, -1), rejected, ""].join("\n"));
    expect(check("jobs.csv", "--processors", "4").words).toBe("line 5: job 4 has no start\n");
  });

  test("says what it cannot read", () => {
    writeFileSync(join(folder, "few.csv"), "job_id,starting_time\n1,2\n");
    expect(check("few.csv", "--processors", "4")).toEqual({
      status: 66,
      words: "Cannot use few.csv: it has no column requested_number_of_resources\n",
    });
    expect(check(`a/${PLACES}/easy.csv`)).toMatchObject({
      status: 66,
      words: expect.stringContaining("expected --processors N"),
    });
    expect(check("--archive", "missing")).toMatchObject({ status: 66 });
    expect(check()).toMatchObject({ status: 2 });
  });

  test.runIf(SOAK && tracesFolder() !== undefined)(
    "it accepts all schedules of policies without settings on all sources",
    async () => {
      const cells = goldenKeys().filter(({ policy }) => !policy.includes(":"));
      await writeArchive(join(folder, "all"), cells);
      const { status, words } = check("--archive", "all", "--traces", tracesFolder()!);
      expect(words.split("\n").filter((line) => /^rejected|^line|^job|^places|^the /.test(line))).toEqual([]);
      expect(status).toBe(0);
    },
    MAX_MS,
  );
});

function overlaps(a: Row, b: Row): boolean {
  const has = ({ allocated_resources }: Row) =>
    allocated_resources.split(" ").flatMap((range) => {
      const [first, last = first] = range.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
  return has(a).some((one) => has(b).includes(one));
}
