/** Reads the sources for the house rules. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

export interface Source {
  /** Path from the root of the project. */
  readonly path: string;
  /** The file's room; see `roomOf`. */
  readonly room: string;
  /** Whether it is a test or a helper of tests. */
  readonly isTest: boolean;
  readonly text: string;
}

const IMPORT = /(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)["']([^"']+)["']/g;

/** The folder in src; empty for src itself and for files outside src. */
export function roomOf(path: string): string {
  const [top, room, below] = path.split("/");
  return top === "src" && below !== undefined ? room : "";
}

export function source(path: string, text: string): Source {
  return {
    path,
    room: roomOf(path),
    isTest: path.startsWith("test/") || /\.test\.ts$|for-tests\.ts$/.test(path),
    text,
  };
}

/** Every TypeScript file below a folder of the project. */
export function sourcesIn(folder: string): Source[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .sort()
    .map((name) => source(`${folder}/${name}`, readFileSync(join(root, folder, name), "utf8")));
}

/** The imports of a file as written; relative ones as paths from the root of the project. */
export function importsOf({ path, text }: Source): string[] {
  return [...text.replace(/\/\*[\s\S]*?\*\//g, "").matchAll(IMPORT)].map(([, target]) =>
    target.startsWith(".") ? posix.join(posix.dirname(path), target) : target,
  );
}

/** The code without comments and texts of strings, so that a word in prose is not an offence. */
export function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
    .replace(/\/\/.*/g, "");
}

/** Rooms without Node built-ins, clock, console and anything that differs between engines. */
export const PURE = [
  "core",
  "protocol",
  "structures",
  "machines",
  "simulator",
  "workload",
  "metrics",
  "policies",
  "wings",
  "results",
  "report",
];
