/**
 * Determines which process has claimed an attempt, and whether the conductor believes the claim. Two links in
 * the attempt's folder hold the claims:
 *
 *   claim    symbolic link to "boot:pid:ticks:identity" of the shim, or to "nobody:identity"; without
 *            ":identity" for attempts of the first release, which have no identities
 *   job      the same for the first process of the job
 *
 * The folder belongs to the job's user, who can write any name into a link, and can read the identity from
 * the script before writing it. The conductor believes a claim by the child that it started. A claim by
 * another process may come from a shim that an earlier conductor started. The conductor believes it if that
 * process has ended, or if it runs as the job's user, leads a session and executes what a shim executes. The
 * user can imitate that, too, so an attempt must also begin within a time limit (attempt.ts).
 */
import { lstatSync, readlinkSync, symlinkSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { isAlive, mayBelongTo, type ProcessIdentity, readSmall, readStat } from "@tutti/host/processes.ts";
import type { IdentifiedAttempt, LaunchSpec } from "@tutti/protocol/attempts.ts";

/** Stands in for the shim in the claim of an attempt that no shim may claim. */
const NOBODY = "nobody";

/** The folder of an attempt and its user; `uid` undefined: the conductor's user. */
export type AttemptFolder = Pick<LaunchSpec, "folder" | "identity" | "uid">;

export function ownerOf({ uid = process.getuid!() }: Pick<AttemptFolder, "uid">): number {
  return uid;
}

export type Claim =
  /** The conductor sees no claim of a shim. */
  | { readonly kind: "none" }
  | { readonly kind: "shim"; readonly shim: ProcessIdentity }
  /** The process is just switching to another program and cannot be recognised now; look again. */
  | { readonly kind: "unclear" }
  /** The claim names a living process that is not a shim. */
  | { readonly kind: "stranger"; readonly pid: number }
  /** The claim belongs to another attempt. */
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

/**
 * The process that a link of this attempt names; undefined if there is no such link, or if it does not belong
 * to the job's user.
 */
export function readIdentity(of: AttemptFolder, file: "claim" | "job"): ProcessIdentity | undefined {
  const link = readLink(of, file);
  const isIts = link?.isOwners && claimedIdentity(link.text) === of.identity;
  return isIts ? parseIdentity(link.text) : undefined;
}

/**
 * Prevents later shims from claiming the attempt. Returns false if it failed, or if the attempt was already
 * claimed.
 */
export function blockClaims(of: AttemptFolder): boolean {
  try {
    symlinkSync(nobodyOf(of), join(of.folder, "claim"));
  } catch {}
  return readLink(of, "claim")?.text === nobodyOf(of);
}

/** What the shim's script appends to its process identity. */
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

/**
 * Undefined while the process shows no arguments, which happens for a moment when it switches to another
 * program.
 */
function looksLikeShim(pid: number, uid: number | undefined): boolean | undefined {
  if (!mayBelongTo(pid, uid)) return false;
  if (readStat(pid)?.session !== pid) return false;
  const command = readSmall(`/proc/${pid}/cmdline`);
  if (command === undefined || command === "") return undefined;
  const isScript = /^\/bin\/sh\0[^\0]*\/launch\0$/.test(command);
  return isScript || (command.startsWith("awk\0BEGIN {") && command.includes("/bin/sh launch job"));
}

/** Picks the key of an attempt from everything known about it. */
export function keyOf({ job, attempt, identity }: IdentifiedAttempt): IdentifiedAttempt {
  return { job, attempt, identity };
}
