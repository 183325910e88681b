/** Tests `--from-json`: arrays and lines, what a job gets that it leaves out, and hostile files. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readJobs, repeatedName } from "./read-jobs.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-json-"));
afterAll(() => rmSync(folder, { recursive: true }));

const COMMON = { cwd: "/", env: { PATH: "/bin", A: "1" }, umask: "027" };
function file(content: string | Buffer): string {
  const path = join(folder, "jobs.json");
  writeFileSync(path, content);
  return path;
}
const jobsOf = (content: string | Buffer, given = {}) => readJobs(file(content), COMMON, given);

describe("readJobs()", () => {
  test("an array, lines and one job are read; what they leave out is as for a command", async () => {
    const jobs = [
      { command: ["a", "b c"], tasks: 2 },
      { command: ["d"], env: { A: "2", B: "3" }, cwd: folder },
    ];
    const expected = [
      { ...COMMON, command: ["a", "b c"], tasks: 2 },
      { ...COMMON, command: ["d"], env: { PATH: "/bin", A: "2", B: "3" }, cwd: folder },
    ];
    expect(await jobsOf(JSON.stringify(jobs, undefined, 2))).toEqual(expected);
    const lines = jobs.map((job) => JSON.stringify(job));
    expect(await jobsOf(lines.join("\n"))).toEqual(expected);
    expect(await jobsOf(`\uFEFF${lines.join("\r\n\r\n")}\r\n`)).toEqual(expected);
    expect(await jobsOf(JSON.stringify(jobs[0], undefined, 2))).toEqual([expected[0]]);
  });

  test("options of the command line win over the file", async () => {
    const content = '[{"command": ["a"], "queue": "day", "tasks": 2}]';
    expect(await jobsOf(content, { queue: "night" })).toMatchObject([{ queue: "night", tasks: 2 }]);
  });

  test.each([
    ["", /Cannot read ".*jobs\.json": it is not JSON/],
    ["[]", /there are none, expected jobs with the fields of the API, such as \{"command"/],
    ['[{"command": ["a"]}, {"command"', /Cannot read ".*": it is not JSON/],
    ['{"command": ["a"]}\n{"command": ["a"', /Cannot read line 2 of ".*": it is not JSON/],
    ['{"command": ["a"]}\n3', /it is not JSON/],
    ["[3]", /Cannot use job 1 of ".*": it is 3, expected jobs/],
    [
      '[{"command": ["a"], "taks": 2}]',
      /job 1 of .*: it has the unknown field "taks" \(did you mean "tasks"\?\)/,
    ],
    [
      '{"command": ["a"]}\n{"command": ["a"], "tasks": 0}',
      /line 2 of ".*": tasks: is 0, expected a whole number from 1/,
    ],
    ['[{"command": []}]', /job 1 of .*: command: has 0 entries/],
    ['[{"command": ["a\\u0000"]}]', /command\[0\]: contains a NUL/],
    ['[{"command": ["a\0"]}]', /it is not JSON/],
    ['[{"command": ["a"], "env": {"a": 1}}]', /env\.a: is 1, expected a text/],
    ['[{"command": ["a"], "cwd": "/nowhere"}]', /job 1 of .*: its folder "\/nowhere" .*expected a folder/],
    [
      '[{"command": ["a"], "tasks": 1, "tasks": 2}]',
      /an object has the name "tasks" twice, expected it once/,
    ],
    [`[${Array(10_001).fill('{"command":["a"]}').join(",")}]`, /there are 10,001, expected at most 10,000/],
    [Buffer.from([0x5b, 0xe9, 0x5d]), /it is not UTF-8/],
  ])("%.50s is refused with the place", async (content, message) => {
    await expect(jobsOf(content)).rejects.toThrow(message);
  });

  test("an environment that makes the request too large is refused with what helps", async () => {
    const content = `[${Array(9000).fill('{"command":["a"]}').join(",")}]`;
    const common = { ...COMMON, env: { LONG: "x".repeat(2000) } };
    await expect(readJobs(file(content), common, {})).rejects.toThrow(
      /with your environment in each of them, they have 18,\d{3},\d{3} bytes, .*--env PATH,HOME/,
    );
  });

  test("100 MB are refused before they are in memory", async () => {
    const path = file("");
    truncateSync(path, 100_000_000);
    await expect(readJobs(path, COMMON, {})).rejects.toThrow(/it has more than 16,777,216 bytes/);
    await expect(readJobs(join(folder, "none"), COMMON, {})).rejects.toThrow(/there is no such file/);
  });
});

describe("repeatedName()", () => {
  test("finds a name that its object has twice, also if it is written with escapes", () => {
    expect(repeatedName('{"a": {"b": 1}, "c": [{"b": 1}, {"b": "b"}]}')).toBeUndefined();
    expect(repeatedName('[{"x": {"b": 1, "\\u0062": 2}}]')).toBe("b");
    expect(repeatedName('{"a": "a", "b": ":", "c": "\\",\\"a\\":"}')).toBeUndefined();
  });

  test("finds nothing in what JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(repeatedName(text)).toBeUndefined();
      }),
    );
  });
});
