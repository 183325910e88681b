/** The house's rules, read from the sources: who may import whom, what pure rooms may not touch, how long a file may be. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The table of DESIGN and ARCHITECTURE: rooms that a room may import, beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  structures: ["core"],
  machines: ["core", "structures"],
  policies: ["core", "structures"],
  workload: ["core"],
  simulator: ["core", "structures", "machines"],
  metrics: ["core"],
  models: ["core", "structures", "policies", "workload", "metrics"],
  results: [],
  report: ["core", "metrics", "results"],
  host: [],
  protocol: ["host"],
  lab: [
    "core",
    "structures",
    "policies",
    "workload",
    "simulator",
    "metrics",
    "models",
    "results",
    "report",
    "host",
  ],
  conductor: ["structures", "protocol", "host"],
  // The forecast runs the live state forward in the simulator; history leaves as a workload.
  daemon: [
    "core",
    "structures",
    "machines",
    "policies",
    "metrics",
    "simulator",
    "workload",
    "protocol",
    "host",
    "conductor",
  ],
  api: ["core", "structures", "report", "host", "protocol", "daemon"],
  // The daemon itself only through the verb `serve`; the others talk to the API.
  cli: [
    "core",
    "workload",
    "policies",
    "simulator",
    "metrics",
    "models",
    "lab",
    "report",
    "host",
    "protocol",
    "conductor",
    "daemon",
    "api",
  ],
};
/** Libraries that a room may use. They are bundled; those of a pure room touch neither files nor clock in what is used of them. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  report: ["echarts"],
  cli: ["commander"],
  protocol: ["zod"],
  api: ["hono", "@hono", "zod"],
  daemon: ["smol-toml", "zod"],
};
const PURE = [
  "core",
  "protocol",
  "structures",
  "machines",
  "policies",
  "workload",
  "simulator",
  "metrics",
  "models",
  "results",
  "report",
];
/** Not the same to the last bit in every engine, not pure, or both. */
const IMPURE = [
  /\bDate\b/,
  /\bMath\.random\b/,
  /\bconsole\b/,
  /\bprocess\./,
  /\bsetTimeout\b/,
  /\bperformance\b/,
  /\bMath\.(?:log|log2|log10|log1p|exp|expm1|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|hypot)\b/,
];
const LONGEST_FILE = 450;
const IMPORT = /(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)["']([^"']+)["']/g;

interface Source {
  readonly path: string;
  readonly room: string;
  readonly isTest: boolean;
  readonly text: string;
}

const sources: Source[] = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({
    path: `src/${name}`,
    room: name.includes("/") ? name.slice(0, name.indexOf("/")) : "",
    isTest: /\.test\.ts$|for-tests\.ts$/.test(name),
    text: readFileSync(join(root, "src", name), "utf8"),
  }));

function readJson(name: string) {
  return JSON.parse(readFileSync(join(root, name), "utf8"));
}

/** Comments and the text of strings taken out, so that a word in prose is not an offence. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
    .replace(/\/\/.*/g, "");
}

/** What a file imports that its room may not. */
function forbiddenImports({ path, room, isTest, text }: Source): string[] {
  const found: string[] = [];
  for (const [, target = ""] of text.replace(/\/\*[\s\S]*?\*\//g, "").matchAll(IMPORT)) {
    if (target.startsWith(".")) {
      const [top, targetRoom = ""] = relative(root, join(root, dirname(path), target)).split("/");
      if (top !== "src") {
        if (!isTest) found.push(`${path} imports ${target}, outside src`);
      } else if (
        targetRoom !== room &&
        room !== "" &&
        !isTest &&
        !(MAY_IMPORT[room] ?? []).includes(targetRoom)
      ) {
        found.push(`${path} imports ${target}, but ${room} may not import ${targetRoom}`);
      }
    } else if (target.startsWith("node:")) {
      if (PURE.includes(room) && !isTest) found.push(`${path} imports ${target}, but ${room} is pure`);
    } else if (!isTest && !(MAY_USE[room] ?? []).includes(target.split("/")[0] ?? "")) {
      found.push(`${path} imports ${target}, but ${room} may not use that library`);
    }
  }
  return found;
}

describe("imports", () => {
  test("the rule finds a forbidden import, in every form", () => {
    const source = { path: "src/policies/x.ts", room: "policies", isTest: false };
    for (const text of [
      'import { a } from "../simulator/a.ts";',
      'import type { a } from "../lab/a.ts";',
      'export * from "../workload/a.ts";',
      'const a = await import("../cli/a.ts");',
      'import "node:fs";',
      'import fs from "node:fs";',
      'import { Command } from "commander";',
    ]) {
      expect(forbiddenImports({ ...source, text }), text).toHaveLength(1);
    }
    const lab = { path: "src/lab/x.ts", room: "lab", isTest: false };
    expect(forbiddenImports({ ...lab, text: 'import { Command } from "commander";' })).toHaveLength(1);
    expect(forbiddenImports({ ...lab, text: 'import fs from "node:fs";' })).toEqual([]);
    expect(forbiddenImports({ ...source, text: 'import { a } from "../core/a.ts";' })).toEqual([]);
  });

  test("every import of every file is allowed to its room", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter(({ text }) => text.match(IMPORT) !== null).length).toBeGreaterThan(15);
    expect(sources.flatMap(forbiddenImports)).toEqual([]);
  });

  test("every folder of src is a room of the table", () => {
    const rooms = new Set(sources.map(({ room }) => room).filter((room) => room !== ""));
    expect([...rooms].filter((room) => !(room in MAY_IMPORT))).toEqual([]);
  });
});

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

describe("files", () => {
  test("none is too long", () => {
    const long = sources
      .filter(({ text }) => text.split("\n").length > LONGEST_FILE)
      .map(({ path, text }) => `${path}: ${text.split("\n").length} lines`);
    expect(long).toEqual([]);
  });

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
      ...Object.keys(readJson("tools/node/package.json").optionalDependencies),
    ];
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
