/** What docs/compatibility.md promises, with recordings of version 0.1, and that its tests exist. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { tutti } from "./command.ts";
import { tuttiHere } from "./command-here.ts";
import { surface } from "./recordings/surface.ts";
import { root } from "./sources.ts";

const recordings = join(import.meta.dirname, "recordings");
const linesOf = (version: string) =>
  readFileSync(join(recordings, `surface-${version}.txt`), "utf8")
    .trimEnd()
    .split("\n");

/** Schemas of what clients send, with all that they contain: the others are answers. */
function sent(lines: readonly string[]): ReadonlySet<string> {
  const names = new Set(lines.flatMap((line) => / takes (\w+)$/.exec(line)?.[1] ?? []));
  for (const name of names)
    for (const line of lines) {
      const [, part = name] = line.startsWith(`api ${name}`) ? (/: ([A-Z]\w+)$/.exec(line) ?? []) : [];
      names.add(part);
    }
  return names;
}

/** Lines of an earlier version that today's clients or programs would miss. */
function missing(earlier: readonly string[], now: readonly string[]): string[] {
  const inputs = sent(earlier);
  const schemaOf = (line: string) => /^api (\w+)/.exec(line)?.[1] ?? "";
  const isInput = (line: string) => line.startsWith("config") || inputs.has(schemaOf(line));
  const required = (line: string) => line.endsWith(" required") && isInput(line);
  const kept = new Set(now);
  const known = new Set(earlier);
  const objects = new Set(earlier.map((line) => line.replace(/(?:: \S+| = .+| required)$/, "")));
  // What becomes required in something that was known would refuse what was accepted.
  const demanded = now.filter(
    (line) => required(line) && !known.has(line) && objects.has(line.replace(/\.[^.]+$/, "")),
  );
  return [...earlier.filter((line) => !required(line) && !kept.has(line)), ...demanded];
}

describe("what other programs see of 0.1 is still there", () => {
  const earlier = linesOf("0.1");
  let now: readonly string[];
  beforeAll(async () => {
    now = await surface();
  });
  const of = (lines: readonly string[], prefix: RegExp) => lines.filter((line) => prefix.test(line));

  test.each([
    ["routes, parameters and fields of the API, in requests and answers", /^api /, 1600],
    ["settings of the configuration file", /^config/, 80],
    ["commands and their options", /^tutti/, 300],
    ["exit codes", /^exit code /, 11],
    ["names of the library and for own policies", /^library /, 40],
    ["functions, classes and options of the Python module", /^python /, 60],
    ["fields of results in JSON", /^result/, 70],
  ])("%s", (_, prefix, atLeast) => {
    expect(of(earlier, prefix).length).toBeGreaterThanOrEqual(atLeast);
    expect(missing(of(earlier, prefix), of(now, prefix))).toEqual([]);
  });

  test("a field that goes, gets another type, or becomes required is found", () => {
    const without = (line: string) => {
      expect(now).toContain(line);
      return now.filter((other) => other !== line);
    };
    for (const line of ["api Job.ranMs: number", "api Job.ranMs required", "exit code 5 notFound"])
      expect(missing(earlier, without(line))).toEqual([line]);
    expect(missing(earlier, [...now, "api SubmitJob.name required"])).toEqual([
      "api SubmitJob.name required",
    ]);
    expect(missing(earlier, [...now, "api Job.extra required", "api Job.extra: string"])).toEqual([]);
  });
});

describe("files of 0.1", () => {
  test.each(["jobs.swf.txt", "jobs.jsonl", "jobs.json"])("%s is read with the same hash", async (name) => {
    const { stdout } = await tuttiHere(recordings, ["workload", "info", name, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ hash: "043aa1965f10d4ea", jobs: 60 });
  });

  test("policies, one of a user's own among them, give the same schedules", () => {
    const policies = "fcfs,easy,brmms,./own-policy.ts:reserve=4";
    const words = ["compare", "jobs.jsonl", "--procs", "16", "--policy", policies, "--slot", "10", "--json"];
    const { stdout } = tutti(recordings, words);
    const hashes = JSON.parse(stdout).policies.map(
      ({ scheduleHash }: { scheduleHash: string }) => scheduleHash,
    );
    expect(hashes).toEqual(["f3ddcd2772a05a17", "2c6641dd2fb47061", "af96ac2ff35c404d", "81aa6da12381e3bc"]);
  });
});

describe("docs/compatibility.md", () => {
  const page = readFileSync(join(root, "docs/compatibility.md"), "utf8");

  test("names tests that exist, at least one for each promise", () => {
    const rows = page.split("\n").filter((line) => line.startsWith("| ") && !/^\| (?:-|what )/.test(line));
    expect(rows.length).toBeGreaterThan(9);
    for (const row of rows) {
      const named = [...row.matchAll(/`([\w./-]+\.test\.ts)`: ("[^|`]+")/g)];
      expect(named.length, row).toBeGreaterThan(0);
      for (const [, file, titles] of named) {
        expect(existsSync(join(root, file)), file).toBe(true);
        const text = readFileSync(join(root, file), "utf8");
        for (const [, title] of titles.matchAll(/"([^"]+)"/g))
          expect(text.includes(`"${title}"`), `${file}: ${title}`).toBe(true);
      }
    }
  });
});
