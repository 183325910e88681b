/** Defines the news of a job: the hooks that its user or the administrator wants to run at its events. */
import { z } from "zod";
import { optional, unixMs } from "../atoms.ts";
import { whole } from "../issue-text.ts";
import { MAX_HOOK_LENGTH, MAX_LIMIT_MS, MAX_URL_LENGTH } from "../limits.ts";

/** start: an attempt begins. end: the job has ended, however it did. fail: it has ended as failed. */
export const NEWS_EVENTS = ["start", "end", "fail"] as const;
export type NewsEvent = (typeof NEWS_EVENTS)[number];

/** Fields of a job that name what to run. */
export const JOB_HOOKS = ["onStart", "onEnd", "onFail", "webhook"] as const;
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
  notify: optional(
    z.array(z.enum(NEWS_EVENTS)).min(1).max(NEWS_EVENTS.length),
    "Events that the webhook receives; default: end",
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

function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s\0]+$/i.test(text) && URL.canParse(text);
}
