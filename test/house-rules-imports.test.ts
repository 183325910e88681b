/**
 * Checks the architecture: which package and which room (folder) may import from which, and that neither
 * files nor the folders of rooms import each other in a circle.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  folderOfRoom,
  importsOf,
  KIT,
  PURE,
  packageOf,
  roomOf,
  root,
  type Source,
  source,
  sourcesIn,
} from "./sources.ts";

/**
 * The rooms from the ground up, and which rooms below it each may import. Tests and their helpers may import
 * from any room below. Tests that need a room above are in test/.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  host: [],
  protocol: ["host"],
  structures: ["core"],
  machines: ["core", "structures"],
  simulator: ["core", "structures", "machines"],
  workload: ["core"],
  metrics: ["core"],
  policies: ["core", "structures"],
  "own-policies": ["core", "host", "policies"],
  results: ["core", "metrics"],
  report: ["core", "metrics", "results"],
  // Runs in programs and in browsers.
  words: ["core", "protocol"],
  lab: [
    ...["core", "host", "structures", "machines", "simulator", "workload", "metrics", "policies"],
    ...["own-policies", "results", "report"],
  ],
  wings: ["core", "structures", "machines", "workload", "metrics", "policies"],
  papers: [
    ...["core", "host", "structures", "machines", "simulator", "workload", "metrics", "policies"],
    ...["results", "report", "lab", "wings"],
  ],
  conductor: ["host", "protocol", "structures"],
  // The forecast simulates the live state; history is exported as a workload.
  daemon: [
    ...["core", "host", "protocol", "structures", "machines", "simulator", "workload", "metrics", "policies"],
    ...["own-policies", "conductor"],
  ],
  api: ["core", "host", "protocol", "structures", "words", "daemon"],
  slurm: ["core", "host", "protocol", "conductor", "daemon"],
  ssh: ["core", "host", "protocol", "conductor", "daemon"],
  // Its world runs in programs and in browsers.
  torture: [
    ...["core", "host", "protocol", "structures", "machines", "simulator", "workload", "metrics", "policies"],
    ...["conductor", "daemon", "slurm"],
  ],
  // Its programs run in a browser: no room that it uses imports Node where it is used.
  web: [
    ...["core", "protocol", "structures", "simulator", "workload", "metrics", "policies", "own-policies"],
    ...["results", "report", "words", "lab", "wings", "papers", "torture"],
  ],
  // Only verbs that start the daemon or read its files import it; all others use the API.
  cli: [
    ...[
      "core",
      "host",
      "protocol",
      "simulator",
      "workload",
      "metrics",
      "policies",
      "own-policies",
      "results",
    ],
    ...["report", "words", "lab", "wings", "papers", "conductor", "daemon", "api", "slurm", "ssh", "torture"],
  ],
  "slurm-names": ["core", "host", "protocol", "api", "slurm", "cli"],
};
/**
 * Files that only some may import: rooms above the executor do not know how attempts run, or on how many
 * nodes.
 */
const ONLY_FOR: readonly (readonly [files: RegExp, importers: RegExp])[] = [
  // The doctor examines this machine without a scheduler.
  [
    /^packages\/live\/conductor\//,
    /^packages\/(live\/conductor|live\/daemon\/executor\/(local|cluster|queue)|slurm|ssh|cli\/verbs\/doctor\.ts$)/,
  ],
  [
    /^packages\/protocol\/(conductor|wire)\.ts/,
    /^packages\/(live\/conductor|protocol|live\/daemon\/executor\/(local|cluster)|slurm|ssh)\//,
  ],
  // The door of the providers is their list, which loads them; a simulated world knows only pilots.
  [
    /^packages\/(live\/daemon\/executor\/(local|cluster|queue)|slurm|ssh)\//,
    /^packages\/(live\/daemon\/(executor\/|main\.ts)|slurm\/|ssh\/|slurm-names\/|torture\/node\/serve-program\.ts|cli\/(providers|text\/site-diagnosis-text|verbs\/(doctor|lab))\.ts)/,
  ],
  // The door of the wings is their list; one view shows a wing in motion.
  [/^packages\/papers\/wings\/(sites|tasks|phases|pilots)\//, /^packages\/(papers|web\/lab\/turns)\//],
];
/** Where Node is reached only by its ports, so that a simulated world can take its place. */
const BY_PORTS: readonly string[] = ["host", "conductor", "daemon", "slurm", "ssh"];
const PORT = /^packages\/host\/ports\/[\w-]+\.ts$/;
/**
 * Imports that close a circle of folders. This list may only become shorter: a test fails when one of them no
 * longer closes a circle.
 */
const CLOSE_CIRCLES: Readonly<Record<string, readonly string[]>> = {
  // The list of kinds of cells, whose types all experiments use.
  "packages/lab/experiments/kinds.ts": ["packages/lab/findings/run.ts", "packages/lab/golden/run.ts"],
};
/** They are next to the pages of papers, studies and findings, where a researcher looks for them. */
const PAGE_DATA = /^docs\/(?:(?:papers|studies)\/[\w.-]+|findings\.texts)\.json$/;
const sources = sourcesIn("packages");

/** What the manifest of a package says. */
function manifestOf(name: string): { readonly dependencies: Readonly<Record<string, string>> } {
  return {
    dependencies: {},
    ...JSON.parse(readFileSync(join(root, `packages/${name}/package.json`), "utf8")),
  };
}

const PACKAGES = readdirSync(join(root, "packages"));
const NEEDS = new Map(PACKAGES.map((name) => [name, Object.keys(manifestOf(name).dependencies)] as const));

/** Forbidden imports of a file. */
function forbidden(file: Source): string[] {
  const { path, room, isTest } = file;
  if (room === "") return [];
  const below = Object.keys(ROOMS).slice(0, Object.keys(ROOMS).indexOf(room));
  const own = packageOf(path);
  const needs = NEEDS.get(own) ?? [];
  return importsOf(file).flatMap((target) => {
    if (target.startsWith("node:")) {
      if (isTest) return [];
      if (BY_PORTS.includes(room) && !PORT.test(path))
        return [`${path} imports ${target}, expected a port of packages/host/ports`];
      return PURE.includes(room) ? [`${path} imports ${target}, but ${room} is pure`] : [];
    }
    if (PAGE_DATA.test(target) && (room === "lab" || room === "papers")) return [];
    if (/^(?:\.\.\/|[a-z]+\/.*\.(?:tsx?|css)$)/.test(target)) {
      const to = roomOf(target);
      const other = packageOf(target);
      if (other === "") return [`${path} imports ${target}, outside packages`];
      if (other !== own && !needs.includes(`@tutti/${other}`) && !isTest)
        return [`${path} imports ${target}, but the package ${own} does not declare ${other}`];
      const may = isTest ? below : ROOMS[room];
      const isFor = ONLY_FOR.every(([files, importers]) => !files.test(target) || importers.test(path));
      if (!isTest && !isFor) return [`${path} imports ${target}, which is not for it`];
      // The page gives own policies the same module as the command line does.
      const isKit = room === "web" && target === KIT;
      return to === room || may.includes(to) || isKit
        ? []
        : [`${path} imports ${target}, but ${room} may not import ${to}`];
    }
    const library = /^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? "";
    return isTest || needs.includes(library)
      ? []
      : [`${path} imports ${target}, but the package ${own} does not declare it`];
  });
}

/** Where a path of the maps may be: they name files by their rooms. */
function placesOf(path: string): string[] {
  const [room, ...below] = path.split("/");
  return [path, `packages/${path}`, join(folderOfRoom(room), ...below)];
}

const importsByFile = (files: readonly Source[]) =>
  new Map(files.map((file) => [file.path, importsOf(file)] as const));

/** A folder of a room, or a file outside the folders of its room. */
function folderOf(path: string): string {
  const depth = folderOfRoom(roomOf(path)).split("/").length;
  return path
    .split("/")
    .slice(0, depth + 1)
    .join("/");
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
    for (const [room, imports] of Object.entries(ROOMS))
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
      Object.entries(ROOMS).map(([room, imports]) => [
        room,
        imports.length === 0 ? "nothing" : imports.join(", "),
      ]),
    );
  });

  test("of packages is what ARCHITECTURE.md says", () => {
    const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
    const table = [...page.matchAll(/^\| `([\w-]+)` +\| (.*?) +\| (.*?) +\|$/gm)].map(([, ...row]) => row);
    expect(table.map(([name]) => name).sort()).toEqual(PACKAGES);
    for (const [name, rooms, needs] of table) {
      const own = Object.keys(ROOMS).filter((room) => packageOf(`${folderOfRoom(room)}/x.ts`) === name);
      expect(rooms.split(", ").sort(), name).toEqual(own.sort());
      const declared = (NEEDS.get(name) ?? []).map((need) => need.replace("@tutti/", "")).sort();
      expect(needs, name).toBe(declared.join(", ") || "nothing");
    }
  });

  test("every file and folder that the maps name is there", () => {
    const missing = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md"].flatMap((page) =>
      readFileSync(join(root, page), "utf8")
        .split("\n")
        .flatMap((line) => {
          // In the table, a room's subfolders are written without the room's name.
          const [, room = ""] = /^\| `([\w-]+)\/` /.exec(line) ?? [];
          return [...line.matchAll(/`((?:[\w.-]+\/)+(?:[\w.-]+\.(?:ts|tsv|md))?)`/g)]
            .map(([, path]) => path)
            .filter(
              (path) =>
                !(room === "" ? placesOf(path) : [...placesOf(path), `${folderOfRoom(room)}/${path}`]).some(
                  (at) => existsSync(join(root, at)),
                ),
            )
            .map((path) => `${page}: ${path}`);
        }),
    );
    expect(missing).toEqual([]);
  });

  test("a forbidden import is found, in every form", () => {
    for (const text of [
      'import { a } from "../simulator/a.ts";',
      'import type { a } from "@tutti/lab/a.ts";',
      'import type { a } from "../../lab/a.ts";',
      'export * from "../workload/a.ts";',
      'const a = await import("@tutti/cli/a.ts");',
      'import "node:fs";',
      'import fs from "node:fs";',
      'import { Command } from "commander";',
      'import { a } from "../../test/command.ts";',
    ])
      expect(forbidden(source("packages/kernel/policies/x.ts", text)), text).toHaveLength(1);
    const upward =
      'import { a } from "@tutti/lab/a.ts"; import { b } from "../simulator/b.ts"; import "node:fs";';
    expect(forbidden(source("packages/kernel/policies/x.test.ts", upward))).toHaveLength(1);
    expect(forbidden(source("packages/kernel/policies/x-for-tests.ts", upward))).toHaveLength(1);
    expect(forbidden(source("packages/lab/x.ts", 'import { Command } from "commander";'))).toHaveLength(1);
    expect(forbidden(source("packages/lab/x.ts", 'import fs from "node:fs";'))).toEqual([]);
    expect(forbidden(source("packages/kernel/policies/x.ts", 'import { a } from "../core/a.ts";'))).toEqual(
      [],
    );
    for (const target of [
      "../../conductor/client.ts",
      "@tutti/protocol/wire.ts",
      "../executor/local/local-executor.ts",
    ]) {
      const text = `import type { a } from "${target}";`;
      expect(forbidden(source("packages/live/daemon/dispatch/x.ts", text)), target).toHaveLength(1);
      expect(forbidden(source("packages/live/daemon/dispatch/x.test.ts", text))).toEqual([]);
    }
  });

  test("Node is imported by its ports where a simulated world can take its place", () => {
    const text = 'import { openSync } from "node:fs";';
    for (const path of ["host/x.ts", "live/conductor/x.ts", "live/daemon/store/x.ts", "slurm/x.ts"])
      expect(forbidden(source(`packages/${path}`, text)), path).toHaveLength(1);
    for (const path of ["host/ports/fs.ts", "live/daemon/store/x.test.ts", "live/api/server/x.ts"])
      expect(forbidden(source(`packages/${path}`, text)), path).toEqual([]);
  });

  test("a part of a wing is reached only by its wing, its paper and their studies", () => {
    const text = 'import { a } from "@tutti/papers/wings/sites/a.ts";';
    for (const path of ["packages/cli/verbs/x.ts", "packages/web/lab/x.ts"])
      expect(forbidden(source(path, text)), path).toHaveLength(1);
    expect(forbidden(source("packages/papers/studies/x.ts", text))).toEqual([]);
    expect(
      forbidden(source("packages/cli/verbs/x.ts", 'import { a } from "@tutti/papers/wings/wings.ts";')),
    ).toEqual([]);
    expect(
      forbidden(source("packages/papers/wings/sites/x.ts", 'import { a } from "@tutti/lab/a.ts";')),
    ).toHaveLength(1);
  });

  test("of packages: each declares exactly what its files need", () => {
    const unneeded = PACKAGES.flatMap((name) => {
      const files = sources.filter(({ path, isTest }) => packageOf(path) === name && !isTest);
      const used = new Set(
        files
          .flatMap(({ text }) => [...text.matchAll(/["']((?:@[\w.-]+\/)?[a-z][\w-]*)(?:\/[^"']*)?["']/g)])
          .map(([, library]) => library),
      );
      return (NEEDS.get(name) ?? []).filter((need) => !used.has(need)).map((need) => `${name}: ${need}`);
    });
    expect(unneeded).toEqual([]);
    const all = new Map(
      [...NEEDS].map(([name, needs]) => [name, needs.map((need) => need.replace(/^@tutti\//, ""))] as const),
    );
    expect(circles(all)).toEqual([]);
  });

  test("is kept by every file, tests and their helpers included", () => {
    expect(sources.filter((file) => importsOf(file).length > 0).length).toBeGreaterThan(300);
    expect(sources.flatMap(forbidden)).toEqual([]);
  });
});

describe("circles", () => {
  test("one of files in one room, of types only, is found", () => {
    const a = source("packages/kernel/core/a.ts", 'import type { B } from "./b.ts";');
    const b = source("packages/kernel/core/b.ts", 'import { c } from "./c.ts";');
    const c = source("packages/kernel/core/c.ts", 'const { a } = await import("./a.ts");');
    expect(circles(importsByFile([a, b, c]))).toEqual([
      "packages/kernel/core/a.ts → packages/kernel/core/b.ts → packages/kernel/core/c.ts → packages/kernel/core/a.ts",
    ]);
    expect(circles(importsByFile([a, b]))).toEqual([]);
  });

  test("files are not in one", () => {
    expect(circles(importsByFile(sources))).toEqual([]);
  });

  test("one of folders is found, although no files import each other in a circle", () => {
    const files = [
      source("packages/lab/a/one.ts", 'import "../b/deep/two.ts";'),
      source("packages/lab/b/deep/two.ts", 'import "../../loose.ts";'),
      source("packages/lab/b/three.ts", ""),
      source("packages/lab/loose.ts", 'import "./a/four.ts";'),
      source("packages/lab/a/four.ts", ""),
    ];
    const all = (left: string) => circles(importsByFolder(files, (path) => path === left));
    expect(all("")).toEqual(["packages/lab/a → packages/lab/b → packages/lab/loose.ts → packages/lab/a"]);
    expect(all("packages/lab/loose.ts")).toEqual([]);
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
