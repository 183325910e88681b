/** Defines the news of a job: the hooks that its user or the administrator wants to run at its events. */
import { z } from "zod";
import { optional, unixMs } from "../atoms.ts";
import { whole } from "../issue-text.ts";
import { MAX_HOOK_LENGTH, MAX_LIMIT_MS, MAX_MAIL_LENGTH, MAX_URL_LENGTH } from "../limits.ts";

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

const hookCommand = z
  .string()
  .min(1)
  .max(MAX_HOOK_LENGTH)
  .regex(/^[^\0]*$/, "contains a NUL character");
const AS_USER = "a command for /bin/sh that runs as the job's user, at most 30 s";

export const MAIL_ADDRESSES = "mail addresses such as ada@example.org or ada, separated by commas";

export const newsFields = {
  onStart: optional(hookCommand, `When an attempt begins: ${AS_USER}`),
  onEnd: optional(hookCommand, `When the job has ended, also if it failed or was cancelled: ${AS_USER}`),
  onFail: optional(hookCommand, `When the job has failed: ${AS_USER}`),
  webhook: optional(
    z
      .string()
      .max(MAX_URL_LENGTH)
      .refine(isWebAddress, "is not an address that begins with http:// or https://"),
    "Address that gets a POST with JSON at the events of notify, sent by a process of the job's user",
  ),
  mail: optional(
    z.string().max(MAX_MAIL_LENGTH).refine(areMailAddresses, `is not a list of ${MAIL_ADDRESSES}`),
    "Addresses, separated by commas, that get a mail at the events of notify; sendmail runs as the job's user. An array sends one mail when its first job begins, and one when its last job has ended",
  ),
  notify: optional(
    z.array(z.enum(NEWS_EVENTS)).min(1).max(NEWS_EVENTS.length),
    "Events that the webhook and the mail report; default: end",
  ),
  limitSignal: optional(
    z.strictObject({
      name: z.enum(WARNING_SIGNALS),
      beforeMs: whole(0, MAX_LIMIT_MS, "ten years").describe("How long before the end of limitMs it is sent"),
      batchOnly: optional(
        z.literal(true),
        "Only the first process gets it. Default: all processes of a command; of a script, all but the script itself",
      ),
    }),
    "A signal before the time limit, after limitMs - beforeMs of running time",
  ),
};

/** The last outcome of each hook. */
export const newsOutcome = z.object({
  hook: z.enum([...JOB_HOOKS]),
  event: z.enum(NEWS_EVENTS),
  id: z.string().describe("Id of the event; the same for every try"),
  state: z.enum(["waiting", "done", "failed"]).describe("waiting: it has not run, or it will be tried again"),
  atMs: optional(unixMs, "When it ended; default: it has not run"),
  text: optional(z.string(), "How it ended"),
  output: optional(z.string(), "File with the first 64 kB of its output"),
});
export type NewsOutcome = z.infer<typeof newsOutcome>;

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
