/** Checks rules for files: every file and every export is used. */
import { describe, expect, test } from "vitest";
import { codeOf, importsOf, type Source, source, sourcesIn, targetOf } from "./sources.ts";

/** Programs, which are started and not imported. */
const PROGRAMS = [
  "packages/lab/index.ts",
  "packages/cli/client.ts",
  "packages/cli/main.ts",
  "packages/slurm-names/main.ts",
  "packages/live/conductor/connect.ts",
  "packages/live/conductor/facts.ts",
  "packages/live/conductor/hooks/runner.ts",
  "packages/live/conductor/hooks/webhook.ts",
  "packages/live/conductor/main.ts",
  "packages/kernel/kit.ts",
  "packages/lab/experiments/apart-program.ts",
  "packages/papers/worker.ts",
  "packages/torture/node/packages.d.ts",
  "packages/torture/node/backup-program.ts",
  "packages/torture/node/serve-program.ts",
  "packages/torture/page/worker.ts",
  "packages/web/lab/own/erase-worker.ts",
  "packages/web/lab/turns/turns-worker.ts",
  "packages/web/lab/start.ts",
  "packages/web/life/main.tsx",
  "packages/web/live/feed-worker.ts",
  "packages/web/live/main.tsx",
  "packages/web/papers/page.ts",
  "packages/web/papers/worker.ts",
  "packages/web/site/break.tsx",
  "packages/web/site/first.tsx",
  "packages/web/site/search.ts",
  "packages/web/styles.d.ts",
];
/** For callers outside the sources: a verb's `configure`, what bin/ awaits, what packages add to. */
const DOORS = ["configure", "ended", "Runs"];
/** Files with arrays whose elements may be null or undefined, so that `]!` is meaningful. */
const WITH_EMPTY_ELEMENTS = ["packages/kernel/core/escape.ts"];

// Written as a group, because this line would otherwise match itself.
const EMPTY_ASSERTION = /\](?:!)(?!=)/;

const production = sourcesIn("packages").filter(({ isTest }) => !isTest);
const others = ["scripts", "bench", "attack", "examples"].flatMap(sourcesIn);
const tests = [...sourcesIn("packages").filter(({ isTest }) => isTest), ...sourcesIn("test")];

function neverImported(files: readonly Source[], users: readonly Source[]): string[] {
  const imported = new Set(users.flatMap(importsOf));
  return files.map(({ path }) => path).filter((path) => !imported.has(path) && !PROGRAMS.includes(path));
}

/** The names that a file imports, as `path name`; `path *` for all names. */
function namesTaken({ path, text }: Source): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  const taken: string[] = [];
  const take = (target: string, names: readonly string[]) => {
    for (const name of names) taken.push(`${targetOf(path, target)} ${name}`);
  };
  for (const [, names, target] of code.matchAll(
    /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*"((?:\.|@tutti\/)[^"]+)"/g,
  ))
    take(
      target,
      names.split(",").map(
        (name) =>
          name
            .trim()
            .replace(/^type\s+/, "")
            .split(" ")[0],
      ),
    );
  for (const [, target] of code.matchAll(/\bexport\s+\*\s+from\s*"((?:\.|@tutti\/)[^"]+)"/g))
    take(target, ["*"]);
  for (const [, alias, target] of code.matchAll(
    /\bimport\s+(?:type\s+)?\*\s+as\s+(\w+)\s+from\s*"((?:\.|@tutti\/)[^"]+)"/g,
  ))
    take(
      target,
      [...code.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, "g"))].map(([, name]) => name),
    );
  for (const { 1: target, index } of code.matchAll(/\bimport\(\s*"((?:\.|@tutti\/)[^"]+)"\s*\)/g))
    take(target, code.slice(Math.max(0, index - 200), index + 200).match(/\w+/g) ?? []);
  return taken;
}

function unusedExports(files: readonly Source[], users: readonly Source[]): string[] {
  const taken = new Set(users.flatMap(namesTaken));
  return files.flatMap(({ path, text }) =>
    [
      ...text.matchAll(/^export (?:async |abstract )*(?:function\*?|class|const|let|interface|type) (\w+)/gm),
      ...[...text.matchAll(/^export (?:type )?\{([^}]+)\} from "node:/gm)].flatMap(([, names]) => [
        ...names.matchAll(/(\w+)/g),
      ]),
    ]
      .map(([, name]) => name)
      .filter((name) => !taken.has(`${path} ${name}`) && !taken.has(`${path} *`) && !DOORS.includes(name))
      .map((name) => `${path} exports ${name}`),
  );
}

const emptyAssertions = (files: readonly Source[]) =>
  files
    .filter(({ path, text }) => EMPTY_ASSERTION.test(codeOf(text)) && !WITH_EMPTY_ELEMENTS.includes(path))
    .map(({ path }) => path);

describe("files and exports", () => {
  const a = source(
    "packages/kernel/core/a.ts",
    "export const one = 1;\nexport function two() {}\nexport type Three = 3;\n",
  );
  const uses = (text: string) => [a, source("packages/lab/b.ts", text)];

  test("a file that only tests import is found", () => {
    expect(neverImported([a], uses('import { one } from "@tutti/kernel/core/a.ts";'))).toEqual([]);
    expect(neverImported([a], [a])).toEqual(["packages/kernel/core/a.ts"]);
  });

  test("an export that nobody uses is found, however it may be used", () => {
    const unused = (text: string) => unusedExports([a], uses(text)).map((line) => line.split(" ").at(-1));
    expect(unused('import { one, type Three } from "@tutti/kernel/core/a.ts";')).toEqual(["two"]);
    expect(unused('import * as a from "@tutti/kernel/core/a.ts"; a.two();')).toEqual(["one", "Three"]);
    expect(unused('const { two } = await import("@tutti/kernel/core/a.ts");')).toEqual(["one", "Three"]);
    expect(unused('export * from "@tutti/kernel/core/a.ts";')).toEqual([]);
    const port = source(
      "packages/host/ports/fs.ts",
      'export {\n  openSync,\n  readSync,\n} from "node:fs";\n',
    );
    const user = source("packages/lab/b.ts", 'import { readSync } from "@tutti/host/ports/fs.ts";');
    expect(unusedExports([port], [port, user])).toEqual(["packages/host/ports/fs.ts exports openSync"]);
  });

  test("no file is imported by tests only", () => {
    expect(neverImported(production, [...production, ...others])).toEqual([]);
  });

  test("nothing is exported that no other file uses", () => {
    expect(unusedExports(production, [...production, ...others, ...tests])).toEqual([]);
  });
});

describe("assertions", () => {
  test("`]!` is found, and `] !== ` and prose are none", () => {
    expect(emptyAssertions([source("packages/kernel/core/x.ts", "const a = list[0]!.b;")])).toHaveLength(1);
    expect(
      emptyAssertions([
        source("packages/kernel/core/x.ts", 'if (list[0] !== 1) say("list[0]!"); // list[0]!'),
      ]),
    ).toEqual([]);
  });

  test("`]!` is used only where an element can be missing by its type", () => {
    expect(
      emptyAssertions([
        ...production,
        ...others,
        ...tests.filter(({ path }) => !path.startsWith("packages/lab/report/")),
      ]),
    ).toEqual([]);
  });
});
