/** Defines how the hooks of a job ended, as answers say it. */
import { z } from "zod";
import { optional, unixMs } from "../atoms.ts";
import { JOB_HOOKS, NEWS_EVENTS } from "./news.ts";

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
