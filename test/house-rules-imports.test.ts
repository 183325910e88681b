/**
 * Checks the architecture: which room (folder) may import from which, and that neither files nor the folders
 * of rooms import each other in a circle.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { importsOf, PURE, roomOf, root, type Source, source, sourcesIn } from "./sources.ts";

interface Room {
  readonly imports: readonly string[];
  /** Libraries, which are bundled. The parts that a pure room uses touch neither files nor clock. */
  readonly uses?: readonly string[];
}

/**
 * The rooms from the ground up. Each room may import only from rooms below it, and of those only from the
 * ones named here. Tests and their helpers may import from any room below. Tests that need a room above are
 * in test/.
 */
const ROOMS: Readonly<Record<string, Room>> = {
  core: { imports: [] },
  host: { imports: [] },
  protocol: { imports: ["host"], uses: ["zod"] },
  structures: { imports: ["core"] },
  machines: { imports: ["core", "structures"] },
  simulator: { imports: ["core", "structures", "machines"] },
  workload: { imports: ["core"] },
  metrics: { imports: ["core"] },
  policies: { imports: ["core", "structures"] },
  "own-policies": { imports: ["core", "host", "policies"] },
  wings: { imports: ["core", "structures", "machines", "workload", "metrics", "policies"] },
  results: { imports: ["core", "metrics"] },
  report: { imports: ["core", "metrics", "results"] },
  // Runs in programs and in browsers.
  words: { imports: ["core", "protocol", "report"] },
  lab: {
    imports: [
      "core",
      "host",
      "structures",
      "machines",
      "simulator",
      "workload",
      "metrics",
      "policies",
      "own-policies",
      "wings",
      "results",
      "report",
    ],
  },
  // Its programs run in a browser: no room that it uses imports Node where it is used.
  web: {
    imports: [
      "core",
      "protocol",
      "structures",
      "simulator",
      "workload",
      "metrics",
      "policies",
      "own-policies",
      "results",
      "report",
      "words",
      "lab",
    ],
    uses: ["preact", "@preact", "uplot", "sucrase"],
  },
  conductor: { imports: ["host", "protocol", "structures"] },
  // The forecast simulates the live state; history is exported as a workload.
  daemon: {
    imports: [
      "core",
      "host",
      "protocol",
      "structures",
      "machines",
      "simulator",
      "workload",
      "metrics",
      "policies",
      "own-policies",
      "conductor",
    ],
    uses: ["smol-toml", "zod"],
  },
  api: {
    imports: ["core", "host", "protocol", "structures", "report", "words", "daemon"],
    uses: ["hono", "@hono", "zod"],
  },
  // Only verbs that start the daemon or read its files import it; all others use the API.
  cli: {
    imports: [
      "core",
      "host",
      "protocol",
      "simulator",
      "workload",
      "metrics",
      "policies",
      "own-policies",
      "wings",
      "results",
      "report",
      "words",
      "lab",
      "conductor",
      "daemon",
      "api",
    ],
    uses: ["commander"],
  },
};
/**
 * Files that only some may import: rooms above the executor do not know how attempts run, or on how many
 * nodes.
 */
const ONLY_FOR: readonly (readonly [files: RegExp, importers: RegExp])[] = [
  // The doctor examines this machine without a scheduler.
  [
    /^src\/conductor\//,
    /^src\/(conductor\/|daemon\/executor\/(local|cluster|queue|slurm)\/|cli\/verbs\/doctor\.ts)/,
  ],
  [
    /^src\/protocol\/(conductor|wire)\.ts/,
    /^src\/(conductor\/|protocol\/|daemon\/executor\/(local|cluster|slurm)\/)/,
  ],
  // The door of the providers is their list, which loads them.
  [
    /^src\/daemon\/executor\/(local|cluster|queue|slurm)\//,
    /^src\/(daemon\/executor\/|cli\/(text\/site-diagnosis-text|verbs\/(doctor|import))\.ts)/,
  ],
  // The door of the wings is their list.
  [/^src\/wings\/(sites|tasks)\//, /^src\/(wings\/|lab\/(papers|studies)\/)/],
];
/**
 * Imports that close a circle of folders. This list may only become shorter: a test fails when one of them no
 * longer closes a circle.
 */
const CLOSE_CIRCLES: Readonly<Record<string, readonly string[]>> = {
  // The one list of kinds of cells, whose types all experiments use.
  "src/lab/experiments/kinds.ts": [
    "src/lab/findings/run.ts",
    "src/lab/golden/run.ts",
    "src/lab/papers/kawanami2008/run.ts",
    "src/lab/papers/dimitriadou2009/run.ts",
    "src/lab/papers/silva1999/run.ts",
  ],
};
/** They are next to the pages of papers, studies and findings, where a researcher looks for them. */
const PAGE_DATA = /^docs\/(?:(?:papers|studies)\/[\w.-]+|findings\.texts)\.json$/;
const sources = sourcesIn("src");

/** Forbidden imports of a file. */
function forbidden(file: Source): string[] {
  const { path, room, isTest } = file;
  if (room === "") return [];
  const below = Object.keys(ROOMS).slice(0, Object.keys(ROOMS).indexOf(room));
  const { imports, uses = [] } = ROOMS[room];
  return importsOf(file).flatMap((target) => {
    if (target.startsWith("node:"))
      return PURE.includes(room) && !isTest ? [`${path} imports ${target}, but ${room} is pure`] : [];
    if (PAGE_DATA.test(target) && room === "lab") return [];
    if (/^(?:\.\.\/|[a-z]+\/.*\.(?:tsx?|css)$)/.test(target)) {
      const to = roomOf(target);
      if (!target.startsWith("src/")) return [`${path} imports ${target}, outside src`];
      const may = isTest ? below : imports;
      const isFor = ONLY_FOR.every(([files, importers]) => !files.test(target) || importers.test(path));
      if (!isTest && !isFor) return [`${path} imports ${target}, which is not for it`];
      // The page gives own policies the same module as the command line does.
      const isKit = room === "web" && target === "src/kit.ts";
      return to === room || may.includes(to) || isKit
        ? []
        : [`${path} imports ${target}, but ${room} may not import ${to}`];
    }
    return isTest || uses.includes(target.split("/")[0])
      ? []
      : [`${path} imports ${target}, but ${room} may not use that library`];
  });
}

const importsByFile = (files: readonly Source[]) =>
  new Map(files.map((file) => [file.path, importsOf(file)] as const));

/** A folder of a room, or a file outside the folders of its room. */
function folderOf(path: string): string {
  return path.split("/").slice(0, 3).join("/");
}

/** @param isLeftOut imports that do not count */
function importsByFolder(
  files: readonly Source[],
  isLeftOut: (path: string, target: string) => boolean,
): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const file of files.filter(({ isTest }) => !isTest)) {
    const folder = folderOf(file.path);
    const targets = importsOf(file).filter((target) => !isLeftOut(file.path, target));
    all.set(folder, [...(all.get(folder) ?? []), ...targets.map(folderOf).filter((to) => to !== folder)]);
  }
  return all;
}

/** Who import each other in a circle; each circle once, as a path that returns to its beginning. */
function circles(all: ReadonlyMap<string, readonly string[]>): string[] {
  const state = new Map<string, "open" | "done">();
  const way: string[] = [];
  const found: string[] = [];
  const visit = (path: string) => {
    const known = state.get(path);
    if (known === "open") found.push([...way.slice(way.indexOf(path)), path].join(" → "));
    if (known !== undefined) return;
    state.set(path, "open");
    way.push(path);
    for (const target of all.get(path) ?? []) if (all.has(target)) visit(target);
    way.pop();
    state.set(path, "done");
  };
  for (const path of all.keys()) visit(path);
  return found;
}

describe("the plan", () => {
  test("names every room, each above those that it imports", () => {
    const rooms = Object.keys(ROOMS);
    expect([...new Set(sources.map(({ room }) => room))].filter((room) => room !== "").sort()).toEqual(
      [...rooms].sort(),
    );
    for (const [room, { imports }] of Object.entries(ROOMS))
      for (const target of imports)
        expect(rooms.indexOf(target), `${room} imports ${target}`).toBeLessThan(rooms.indexOf(room));
  });

  test("is what ARCHITECTURE.md says, in its order", () => {
    const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    const table = [...page.matchAll(/^\| `([\w-]+)\/` +\| .*? +\| (.*?) +\|$/gm)].map(([, room, may]) => [
      room,
      may,
    ]);
    expect(table).toEqual(
      Object.entries(ROOMS).map(([room, { imports }]) => [
        room,
        imports.length === 0 ? "nothing" : imports.join(", "),
      ]),
    );
  });

  test("every file and folder that the maps name is there", () => {
    const missing = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md"].flatMap((page) =>
      readFileSync(join(root, page), "utf8")
        .split("\n")
        .flatMap((line) => {
          // In the table, a room's subfolders are written without the room's name.
          const [, room = ""] = /^\| `(\w+)\/` /.exec(line) ?? [];
          return [...line.matchAll(/`((?:[\w.-]+\/)+(?:[\w.-]+\.(?:ts|tsv|md))?)`/g)]
            .map(([, path]) => path)
            .filter(
              (path) =>
                ![path, `src/${path}`, `src/${room}/${path}`].some((at) => existsSync(join(root, at))),
            )
            .map((path) => `${page}: ${path}`);
        }),
    );
    expect(missing).toEqual([]);
  });

  test("a forbidden import is found, in every form", () => {
    for (const text of [
      'import { a } from "../simulator/a.ts";',
      'import type { a } from "../lab/a.ts";',
      'export * from "../workload/a.ts";',
      'const a = await import("../cli/a.ts");',
      'import "node:fs";',
      'import fs from "node:fs";',
      'import { Command } from "commander";',
      'import { a } from "../../test/command.ts";',
    ])
      expect(forbidden(source("src/policies/x.ts", text)), text).toHaveLength(1);
    const upward =
      'import { a } from "../lab/a.ts"; import { b } from "../simulator/b.ts"; import "node:fs";';
    expect(forbidden(source("src/policies/x.test.ts", upward))).toHaveLength(1);
    expect(forbidden(source("src/policies/x-for-tests.ts", upward))).toHaveLength(1);
    expect(forbidden(source("src/lab/x.ts", 'import { Command } from "commander";'))).toHaveLength(1);
    expect(forbidden(source("src/lab/x.ts", 'import fs from "node:fs";'))).toEqual([]);
    expect(forbidden(source("src/policies/x.ts", 'import { a } from "../core/a.ts";'))).toEqual([]);
    for (const target of [
      "../../conductor/client.ts",
      "../../protocol/wire.ts",
      "../executor/local/local-executor.ts",
    ]) {
      const text = `import type { a } from "${target}";`;
      expect(forbidden(source("src/daemon/dispatch/x.ts", text)), target).toHaveLength(1);
      expect(forbidden(source("src/daemon/dispatch/x.test.ts", text))).toEqual([]);
    }
  });

  test("a part of a wing is reached only by its wing, its paper and their studies", () => {
    const text = 'import { a } from "../../wings/sites/a.ts";';
    for (const path of ["src/cli/verbs/x.ts", "src/lab/experiments/x.ts"])
      expect(forbidden(source(path, text)), path).toHaveLength(1);
    expect(forbidden(source("src/lab/studies/x.ts", text))).toEqual([]);
    expect(forbidden(source("src/cli/verbs/x.ts", 'import { a } from "../../wings/wings.ts";'))).toEqual([]);
    expect(forbidden(source("src/wings/sites/x.ts", 'import { a } from "../../lab/a.ts";'))).toHaveLength(1);
  });

  test("is kept by every file, tests and their helpers included", () => {
    expect(sources.filter((file) => importsOf(file).length > 0).length).toBeGreaterThan(300);
    expect(sources.flatMap(forbidden)).toEqual([]);
  });
});

describe("circles", () => {
  test("one of files in one room, of types only, is found", () => {
    const a = source("src/core/a.ts", 'import type { B } from "./b.ts";');
    const b = source("src/core/b.ts", 'import { c } from "./c.ts";');
    const c = source("src/core/c.ts", 'const { a } = await import("./a.ts");');
    expect(circles(importsByFile([a, b, c]))).toEqual([
      "src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts",
    ]);
    expect(circles(importsByFile([a, b]))).toEqual([]);
  });

  test("files are not in one", () => {
    expect(circles(importsByFile(sources))).toEqual([]);
  });

  test("one of folders is found, although no files import each other in a circle", () => {
    const files = [
      source("src/lab/a/one.ts", 'import "../b/deep/two.ts";'),
      source("src/lab/b/deep/two.ts", 'import "../../loose.ts";'),
      source("src/lab/b/three.ts", ""),
      source("src/lab/loose.ts", 'import "./a/four.ts";'),
      source("src/lab/a/four.ts", ""),
    ];
    const all = (left: string) => circles(importsByFolder(files, (path) => path === left));
    expect(all("")).toEqual(["src/lab/a → src/lab/b → src/lab/loose.ts → src/lab/a"]);
    expect(all("src/lab/loose.ts")).toEqual([]);
  });

  test("folders are not in one, apart from the listed imports", () => {
    const listed = Object.entries(CLOSE_CIRCLES).flatMap(([file, targets]) =>
      targets.map((target) => [file, target] as const),
    );
    const isListed = (path: string, target: string) =>
      listed.some(([file, other]) => file === path && other === target);
    expect(circles(importsByFolder(sources, isListed))).toEqual([]);
    const unneeded = listed.filter(
      ([file, other]) =>
        circles(
          importsByFolder(
            sources,
            (path, target) => isListed(path, target) && !(file === path && other === target),
          ),
        ).length === 0,
    );
    expect(unneeded).toEqual([]);
  });
});
