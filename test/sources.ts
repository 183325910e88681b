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

/** The rooms of packages that have several; any other package is one room. */
const ROOMS_OF: Readonly<Record<string, readonly string[]>> = {
  kernel: ["core", "structures", "machines", "simulator", "workload", "metrics", "policies"],
  lab: ["results", "report"],
  papers: ["wings"],
  live: ["conductor", "daemon", "api"],
};

/** The package of a file; empty for files outside packages. */
export function packageOf(path: string): string {
  const [top, name, below] = path.split("/");
  return top === "packages" && below !== undefined ? name : "";
}

/** A room's folder. */
export function folderOfRoom(room: string): string {
  const [name] = Object.entries(ROOMS_OF).find(([, rooms]) => rooms.includes(room)) ?? [];
  return name === undefined ? `packages/${room}` : `packages/${name}/${room}`;
}

/** Empty for files outside packages, and for the two files that programs and policies of users import. */
export function roomOf(path: string): string {
  if (path === KIT || path === "packages/lab/index.ts") return "";
  const name = packageOf(path);
  const folder = path.split("/")[2];
  return ROOMS_OF[name]?.includes(folder) ? folder : name;
}

/** What policies of users import. */
export const KIT = "packages/kernel/kit.ts";

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
    .filter((name) => /\.tsx?$/.test(name) && !name.includes("node_modules/"))
    .sort()
    .map((name) => source(`${folder}/${name}`, readFileSync(join(root, folder, name), "utf8")));
}

/** What a file imports; files of the project as paths from its root. */
export function importsOf({ path, text }: Source): string[] {
  return [...text.replace(/\/\*[\s\S]*?\*\//g, "").matchAll(IMPORT)].map(([, target]) =>
    targetOf(path, target),
  );
}

export function targetOf(path: string, target: string): string {
  return target.startsWith(".")
    ? posix.join(posix.dirname(path), target)
    : target.replace(/^@tutti\//, "packages/");
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
