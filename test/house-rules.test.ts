/** Checks rules for the sources, such as what pure rooms must not use. Imports have a file of their own. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codeOf, PURE, root, sourcesIn } from "./sources.ts";

/** Functions that differ between engines in the last bit, or that are not pure. */
const IMPURE = [
  /\bDate\b/,
  /\bMath\.random\b/,
  /\bconsole\b/,
  /\bprocess\./,
  /\bsetTimeout\b/,
  /\bperformance\b/,
  /\bMath\.(?:log|log2|log10|log1p|exp|expm1|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|hypot)\b/,
];
const sources = sourcesIn("packages");

function readJson(name: string) {
  return JSON.parse(readFileSync(join(root, name), "utf8"));
}

describe("pure rooms", () => {
  test("touch no clock, no global randomness, no console, no engine-dependent mathematics", () => {
    const pure = sources.filter(({ room, isTest }) => PURE.includes(room) && !isTest);
    expect(pure.length).toBeGreaterThan(7);
    const found = pure.flatMap(({ path, text }) =>
      codeOf(text)
        .split("\n")
        .filter((line) => IMPURE.some((pattern) => pattern.test(line)))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });
});

describe("the state folder", () => {
  const makesParents = (text: string) =>
    /\bmkdir(?:Sync)?\([^;]*\brecursive: true/.test(codeOf(text)) ||
    /^import \{[^}]*\bmake(?:Folders|Parents)\b[^}]*\} from ".*make-folders\.ts"/m.test(text);

  test("is made in one place, at the start: later, it may have been moved away, and its place must stay free", () => {
    expect(makesParents("mkdirSync(path, { recursive: true, mode: 0o700 })")).toBe(true);
    expect(makesParents("rmSync(path, { recursive: true, force: true })")).toBe(false);
    const live = sources.filter(
      ({ room, isTest }) => ["conductor", "daemon", "slurm", "ssh"].includes(room) && !isTest,
    );
    expect(live.length).toBeGreaterThan(150);
    const found = live.filter(({ text }) => makesParents(text)).map(({ path }) => path);
    expect(found).toEqual(["packages/live/daemon/state/state-folder.ts"]);
  });
});

describe("clocks", () => {
  const CLOCK = "packages/host/clock.ts";
  const live = sources.filter(
    ({ path, room, isTest }) =>
      ["host", "protocol", "conductor", "daemon", "api", "slurm", "ssh"].includes(room) &&
      !isTest &&
      path !== CLOCK,
  );
  /** Each with its reason. */
  const MAY_ASK: Readonly<Record<string, string>> = {
    "packages/slurm/site-doctor.ts": "a program for another node, which has no files of Tutti",
  };
  const asksForTime = (text: string) =>
    /\bDate\.now\b|\bnew Date(?:\(\)|\s*[;,)])|(?<!\bnew )\bDate(?:\(|\[)|\bTemporal\b|\bperformance\b|\bhrtime\b|\buptime\(/.test(
      codeOf(text),
    );
  /** A timer that is armed for an instant of Unix time oversleeps a step. */
  const armsByUnixTime = (text: string) =>
    /\bset(?:Timeout|Interval)\(|\.at\(\s*(?:\w+\.)*(?:nowMs|monotonicMs)\(\)/.test(codeOf(text)) &&
    /-\s*(?:\w+\.)*unixMs\(\)/.test(codeOf(text));

  test("an offence is found, but not in a comment or a string", () => {
    const asked = ["Date.now()", "new Date()", "performance.now()", "process.hrtime()", "1e3 * uptime()"];
    asked.push("+new Date;", "f(new Date, 1)", "Date()", 'Date["now"]()', "Temporal.Now.instant()");
    expect(asked.filter((code) => !asksForTime(code))).toEqual([]);
    expect(asksForTime('// Date.now()\nconst a = "Date.now()"; new Date(unixMs()); unixMs()')).toBe(false);
    expect(armsByUnixTime("clock.at(clock.nowMs() + begin - clock.unixMs(), call)")).toBe(true);
    expect(armsByUnixTime("const ms = begin - unixMs(); setTimeout(call, ms)")).toBe(true);
    expect(armsByUnixTime("clock.at(clock.nowMs() + 50, call); seen = clock.unixMs() - ranMs")).toBe(false);
  });

  test(`only ${CLOCK} asks the machine for the time`, () => {
    expect(live.length).toBeGreaterThan(150);
    const found = live.filter(({ text }) => asksForTime(text)).map(({ path }) => path);
    expect(found).toEqual(Object.keys(MAY_ASK));
  });

  test("a wait for Unix time is one of wakeAt", () => {
    const found = live.filter(({ text }) => armsByUnixTime(text)).map(({ path }) => path);
    expect(found).toEqual([]);
  });
});

describe("files", () => {
  test("no trace is kept in the project", () => {
    const tracked = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
    expect(tracked.length).toBeGreaterThan(20);
    expect(tracked.filter((name) => /\.(swf|gz|zip|tgz)$/.test(name))).toEqual([]);
  });
});

describe("dependencies", () => {
  const manifest = readJson("package.json");
  const lock = readJson("package-lock.json");

  test("none at run time: the command line is bundled", () => {
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.optionalDependencies).toBeUndefined();
  });

  test("each has its line of reason in docs/dependencies.md", () => {
    const reasons = readFileSync(join(root, "docs/dependencies.md"), "utf8");
    const names = [
      ...Object.keys(manifest.devDependencies),
      ...readdirSync(join(root, "packages")).flatMap((name) =>
        Object.keys(readJson(`packages/${name}/package.json`).dependencies ?? {}),
      ),
      ...Object.keys(readJson("tools/node/package.json").optionalDependencies),
    ].filter((name) => !name.startsWith("@tutti/"));
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !reasons.includes(`\`${name}\``))).toEqual([]);
  });

  test("the lock file names no registry address", () => {
    const addresses = Object.entries<{ resolved?: string }>(lock.packages)
      .filter(([, entry]) => /^[a-z+]+:/.test(entry.resolved ?? ""))
      .map(([name]) => name);
    expect(Object.keys(lock.packages).length).toBeGreaterThan(20);
    expect(addresses).toEqual([]);
  });

  test("the lock file holds the optional packages of every platform, so that npm ci works on all", () => {
    const missing = Object.values<{ optionalDependencies?: Record<string, string> }>(lock.packages).flatMap(
      (entry) =>
        Object.keys(entry.optionalDependencies ?? {}).filter(
          (name) => !(`node_modules/${name}` in lock.packages),
        ),
    );
    expect(missing).toEqual([]);
  });
});
