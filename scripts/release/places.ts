/** Every place that says Tutti's version. package.json is the first; the others have to say the same. */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Files, as patterns of paths, and what is the version in them. */
const PLACES: Readonly<Record<string, RegExp>> = {
  "package.json": /(?<=^ {2}"version": ")[^"]+/gm,
  "package-lock.json":
    /(?<=^ {2}"version": "|"name": "(?:tutti|@tutti\/(?!node")[\w-]+)",\n {6}"version": "|"@tutti\/[\w-]+": ")[^"]+/gm,
  "packages/*/package.json": /(?<=^ {2}"version": "|"@tutti\/[\w-]+": ")[^"]+/gm,
  "CITATION.cff": /(?<=^version: ).+/gm,
  "docs/reference-python.md": /(?<=\/tutti\/)\d+\.\d+\.\d+(?=-\*)/g,
  // As `npm run papers` writes them.
  "docs/papers/*.md": /(?<=with Tutti )\d+\.\d+\.\d+(?=[;.])/g,
};

/** What keeps the files in a folder from being those of a version: a line for people for each fault. */
export function versionFaults(folder: string, version: string): string[] {
  return [...files(folder)].flatMap(([name, pattern]) => {
    const text = readFileSync(join(folder, name), "utf8");
    const said = [...text.matchAll(pattern)];
    if (said.length === 0) return [`${name}: no version, expected ${version}`];
    const wrong = said.filter(([own]) => own !== version);
    const lineOf = (index: number) => text.slice(0, index).split("\n").length;
    return wrong.map(({ 0: own, index }) => `${name}:${lineOf(index)}: ${own}, expected ${version}`);
  });
}

/** Writes a version in all places. */
export function setVersion(folder: string, version: string): void {
  for (const [name, pattern] of files(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replace(pattern, version));
  }
}

export function* files(folder: string): Generator<[name: string, pattern: RegExp]> {
  for (const [names, pattern] of Object.entries(PLACES))
    for (const name of globSync(names, { cwd: folder }).sort()) yield [name, pattern];
}
