/** Finds out which Tutti made a result: its version and the revision of its source. */
import { execFileSync } from "node:child_process";
import { ownVersion } from "@tutti/host/version.ts";

export interface Provenance {
  readonly version: string;
  /** As `git describe` gives it, with `-dirty` for changed files; `unknown` outside a repository. */
  readonly revision: string;
}

/** Set by scripts/build.ts in the bundle. */
declare const TUTTI_BUILD: Provenance | undefined;

const root = new URL("../../../", import.meta.url);
let known: Provenance | undefined;

export function provenance(): Provenance {
  known ??=
    typeof TUTTI_BUILD === "undefined" ? { version: ownVersion(), revision: gitRevision(root) } : TUTTI_BUILD;
  return known;
}

/** The state of the source in a folder, according to git. */
export function gitRevision(folder: URL): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty", "--abbrev=12"], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "unknown";
  }
}
