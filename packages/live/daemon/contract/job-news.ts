/** Hooks and warnings that jobs ask for: which fields they are, and when they are refused. */
import { limitText } from "@tutti/kernel/core/format.ts";
import { JOB_HOOKS, type JobHook } from "@tutti/protocol/news/news.ts";
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";

type Hooks = { readonly [Hook in JobHook]?: string | undefined };

const EACH_BYTES = 24;

export function hookCount(of: Hooks): number {
  return JOB_HOOKS.filter((hook) => of[hook] !== undefined).length;
}

/** Approximate bytes that they take in memory. */
export function newsBytes(of: Hooks): number {
  let bytes = 0;
  for (const hook of JOB_HOOKS) bytes += of[hook] === undefined ? 0 : EACH_BYTES + 2 * of[hook].length;
  return bytes;
}

export interface NewsLimits {
  /** Whether jobs may have hooks of their own. */
  readonly jobHooks: boolean;
  /** Whether running jobs can be sent a signal before their limit. */
  readonly signalsBeforeLimit: true | string;
  /** The longest time limit of a job: later, its nodes are taken away. Infinite: they stay. */
  readonly limitMs: number;
}

export function checkNews(request: SubmitJob, limits: NewsLimits): Refusal | undefined {
  const { limitSignal, limitMs, notify, webhook, mail } = request;
  // A job is not refused because nobody will write about it: status says whether mail is sent.
  if (hookCount({ ...request, mail: undefined }) > 0 && !limits.jobHooks) {
    return refuse(
      "invalid",
      "Cannot submit a job with hooks: the administrator has turned them off (setting hooks), expected a job without --on-start, --on-end, --on-fail and --webhook",
    );
  }
  if (notify !== undefined && webhook === undefined && mail === undefined) {
    return refuse(
      "invalid",
      "Cannot use notify (--notify) alone: expected webhook (--webhook) or mail (--mail) as well",
    );
  }
  if (limitSignal === undefined) return undefined;
  if (limits.signalsBeforeLimit !== true) {
    return refuse(
      "invalid",
      `Cannot send ${limitSignal.name} before the limit: ${limits.signalsBeforeLimit}, expected a job without limitSignal (--signal)`,
    );
  }
  const endMs = limitMs ?? limits.limitMs;
  if (Number.isFinite(endMs) && limitSignal.beforeMs < endMs) return undefined;
  const own = limitMs === undefined ? "the longest" : "its";
  const has = Number.isFinite(endMs) ? `${own} limit is ${limitText(endMs)}` : "it has none";
  return refuse(
    "invalid",
    `Cannot send ${limitSignal.name} ${limitText(limitSignal.beforeMs)} before the time limit of the job: ${has}, expected a longer limit (--time)`,
  );
}
