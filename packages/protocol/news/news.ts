/**
 * Defines the news of a job: the hooks that its user or the administrator wants to run at its events. Every
 * start of `tutti submit` loads this, so it has no schema; that of outcomes is in outcome.ts.
 */
import { MAX_MAIL_LENGTH } from "../limits.ts";

/** start: an attempt begins. end: the job has ended, however it did. fail: it has ended as failed. */
export const NEWS_EVENTS = ["start", "end", "fail"] as const;
export type NewsEvent = (typeof NEWS_EVENTS)[number];

/** Fields of a job that name what to run. */
export const JOB_HOOKS = ["onStart", "onEnd", "onFail", "webhook", "mail"] as const;
export type JobHook = (typeof JOB_HOOKS)[number];

/** Signals that warn a job before its limit. None of them stops a process. */
export const WARNING_SIGNALS = [
  "SIGHUP",
  "SIGINT",
  "SIGQUIT",
  "SIGALRM",
  "SIGTERM",
  "SIGURG",
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
  "SIGXCPU",
] as const;

export const MAIL_ADDRESSES = "mail addresses such as ada@example.org or ada, separated by commas";

export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s\0]+$/i.test(text) && URL.canParse(text);
}

/** An account of this machine or a full address. Nothing in it can end a line or mean a program or a file. */
const MAIL_ADDRESS =
  /^(?!-)[\w+=~'-]+(?:\.[\w+=~'-]+)*(?:@[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*)?$/i;
const MAX_LOCAL_LENGTH = 64;
const MAX_ADDRESS_LENGTH = 254;

export function areMailAddresses(text: string): boolean {
  // The length comes first: an expression may take long for a long text.
  if (text.length > MAX_MAIL_LENGTH) return false;
  return text
    .split(",")
    .every(
      (address) =>
        address.length <= MAX_ADDRESS_LENGTH &&
        address.split("@")[0].length <= MAX_LOCAL_LENGTH &&
        MAIL_ADDRESS.test(address),
    );
}
