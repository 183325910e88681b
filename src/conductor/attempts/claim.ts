/**
 * Who has claimed an attempt, and whom of those the conductor believes.
 *
 *   claim    symbolic link to "boot:pid:ticks:identity" of the shim, or to "nobody:identity"; without ":identity" for an attempt of
 *            the first release, which has none
 *   job      the same for the first process of the job
 *
 * The folder is the job's own, so its user can write any name into the link, and read the identity from the script first. Believed is
 * the child that this conductor started. Another process can be the shim of an earlier conductor: it is believed when it has ended, or
 * when it runs as the job's user, leads a session and executes what a shim executes. Its user can imitate that too, which is why an
 * attempt must also begin within a time limit (attempt.ts).
 */
import { lstatSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { isAlive, isOfUser, type ProcessIdentity, readSmall, readStat } from "../../host/processes.ts";
import type { IdentifiedAttempt, LaunchSpec } from "../../protocol/attempts.ts";

/** Who claimed an attempt that nobody is to have. */
const NOBODY = "nobody";

/** The folder of an attempt and whose it is; `uid` undefined: ours. */
export type AttemptFolder = Pick<LaunchSpec, "folder" | "identity" | "uid">;

export function ownerOf({ uid = process.getuid!() }: Pick<AttemptFolder, "uid">): number {
  return uid;
}

export type Claim =
  /** No shim has claimed it, as far as can be seen. */
  | { readonly kind: "none" }
  | { readonly kind: "shim"; readonly shim: ProcessIdentity }
  /** The process is about to execute another program, so that it cannot be recognised; the next look can tell. */
  | { readonly kind: "unclear" }
  /** It names a living process that is not a shim. */
  | { readonly kind: "stranger"; readonly pid: number }
  /** It is the claim of another attempt. */
  | { readonly kind: "another" };

/** @param child the shim that this conductor started, if it did */
export function readClaim(of: AttemptFolder, child?: ProcessIdentity): Claim {
  const claim = readLink(of, "claim");
  if (claim === undefined || claim.text === nobodyOf(of)) return { kind: "none" };
  if (!claim.isOwners || claimedIdentity(claim.text) !== of.identity) return { kind: "another" };
  const shim = parseIdentity(claim.text);
  if (shim === undefined) return { kind: "none" };
  if (shim.pid === child?.pid) return { kind: "shim", shim: child };
  if (!isAlive(shim)) return { kind: "shim", shim };
  const isShim = looksLikeShim(shim.pid, of.uid);
  if (isShim === undefined) return { kind: "unclear" };
  return isShim ? { kind: "shim", shim } : { kind: "stranger", pid: shim.pid };
}

/** The process that a link of this attempt names; undefined when there is no such link, or it is not plainly that of the job's user. */
export function readIdentity(of: AttemptFolder, file: "claim" | "job"): ProcessIdentity | undefined {
  const link = readLink(of, file);
  const isIts = link?.isOwners && claimedIdentity(link.text) === of.identity;
  return isIts ? parseIdentity(link.text) : undefined;
}

/** Keeps shims that may still come from claiming the attempt; false when it could not, or somebody had claimed it. */
export function claimForNobody(of: AttemptFolder): boolean {
  try {
    symlinkSync(nobodyOf(of), join(of.folder, "claim"));
  } catch {}
  return readLink(of, "claim")?.text === nobodyOf(of);
}

/** What the shim's script writes behind its own identity. */
export function identitySuffix({ identity }: Pick<AttemptFolder, "identity">): string {
  return identity === undefined ? "" : `:${identity}`;
}

function nobodyOf(of: AttemptFolder): string {
  return `${NOBODY}${identitySuffix(of)}`;
}

function readLink(of: AttemptFolder, file: "claim" | "job") {
  const path = join(of.folder, file);
  try {
    return { text: readlinkSync(path), isOwners: lstatSync(path).uid === ownerOf(of) };
  } catch {
    return undefined;
  }
}

function claimedIdentity(text: string): string | undefined {
  const words = text.split(":");
  return words[0] === NOBODY ? words[1] : words[3];
}

function parseIdentity(text: string): ProcessIdentity | undefined {
  const [bootId = "", pid, startTicks] = text.split(":");
  const identity = { bootId, pid: Number(pid), startTicks: Number(startTicks) };
  return Number.isSafeInteger(identity.pid) && Number.isSafeInteger(identity.startTicks)
    ? identity
    : undefined;
}

/** Undefined while the process has no arguments, which the kernel shows for a moment when it executes another program. */
function looksLikeShim(pid: number, uid: number | undefined): boolean | undefined {
  if (!isOfUser(pid, uid)) return false;
  if (readStat(pid)?.session !== pid) return false;
  const command = readSmall(`/proc/${pid}/cmdline`);
  if (command === undefined || command === "") return undefined;
  const isScript = /^\/bin\/sh\0[^\0]*\/launch\0$/.test(command);
  return isScript || (command.startsWith("awk\0BEGIN {") && command.includes("/bin/sh launch job"));
}

/** Of all that is known of an attempt, which one it is. */
export function keyOf({ job, attempt, identity }: IdentifiedAttempt): IdentifiedAttempt {
  return { job, attempt, ...(identity !== undefined && { identity }) };
}
