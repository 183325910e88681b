/** Tells Tutti's own version. */
import { readFileSync } from "node:fs";

/** Set by scripts/build.ts in the bundle. */
declare const TUTTI_BUILD: { readonly version: string } | undefined;

/** Runs no program, so the user who starts a scheduler need not trust the git in the PATH. */
export function ownVersion(): string {
  if (typeof TUTTI_BUILD !== "undefined") return TUTTI_BUILD.version;
  const file = new URL("../../package.json", import.meta.url);
  const { version }: { version: string } = JSON.parse(readFileSync(file, "utf8"));
  return version;
}
