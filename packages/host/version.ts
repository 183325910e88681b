/** Tells which Tutti this is: its version, and the revision of its source. */
import { execFileSync } from "./ports/child-process.ts";
import { readFileSync } from "./ports/fs.ts";

/** What a result says about the program that made it. */
export interface Provenance {
  readonly version: string;
  /** The first digits of the commit, with `-dirty` for changed files; `unknown` outside a repository. */
  readonly revision: string;
}

interface Build extends Provenance {
  /** Of the revision, such as 2026-11-29; not of the build, which can be made again. Empty if unknown. */
  readonly date: string;
}

/** Set by scripts/build.ts in the bundle. */
declare const TUTTI_BUILD: Build | undefined;

const root = new URL("../../", import.meta.url);
let known: Build | undefined;

/** Runs no program, so the user who starts a scheduler need not trust the git in the PATH. */
export function ownVersion(): string {
  if (typeof TUTTI_BUILD !== "undefined") return TUTTI_BUILD.version;
  const { version }: { version: string } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  return version;
}

/** From the bundle, or from the source that runs, which asks git. */
export function ownBuild(): Build {
  known ??= typeof TUTTI_BUILD === "undefined" ? { version: ownVersion(), ...gitState() } : TUTTI_BUILD;
  return known;
}

export function provenance(): Provenance {
  const { version, revision } = ownBuild();
  return { version, revision };
}

/** For people: `tutti 1.2.3 (869f2d26ab12, 2026-11-29)`; for scripts, the version is the second word. */
export function versionText(): string {
  const { version, revision, date } = ownBuild();
  return revision === "unknown" ? `tutti ${version}` : `tutti ${version} (${revision}, ${date})`;
}

/** Tags are not used, so that a clone without them builds the same bytes. */
function gitState(): Pick<Build, "revision" | "date"> {
  try {
    return {
      revision: git("describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"),
      date: git("log", "-1", "--format=%cs"),
    };
  } catch {
    return { revision: "unknown", date: "" };
  }
}

function git(...words: readonly string[]): string {
  return execFileSync("git", words, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}
