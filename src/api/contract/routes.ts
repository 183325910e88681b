/** The one list of the API's routes: the server, the OpenAPI document and the page at `/` are made from it. */
import { z } from "zod";
import * as c from "../../protocol/schema.ts";

export interface Route {
  /** Name of the handler in handlers.ts, and OpenAPI's operationId. */
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With `{job}` and `{stream}` where a value stands. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Values arrive as text, so all of these are schemas of strings. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly body?: z.ZodType;
  readonly answer: RouteAnswer;
  /** Given to whoever asks, without a token: it holds nothing of this machine. */
  readonly isPublic?: boolean;
}

type RouteAnswer =
  | { readonly kind: "json"; readonly schema: z.ZodType; readonly status: 200 | 201 | 202 }
  | { readonly kind: "text"; readonly type: string; readonly description: string };

const json = (schema: z.ZodType, status: 200 | 201 | 202 = 200): RouteAnswer => ({
  kind: "json",
  schema,
  status,
});
const text = (type: string, description: string): RouteAnswer => ({ kind: "text", type, description });

const optional = (schema: z.ZodType, description: string) => schema.optional().describe(description);
const digits = (description: string) =>
  optional(z.string().regex(/^\d{1,15}$/, "is not a whole number of at most 15 digits"), description);
const words = (description: string) => optional(z.string().min(1).max(256), description);
const flag = z.string().regex(/^(?:0|1|true|false)$/, "is not 1 or 0");
const state = `(?:${c.jobState.options.join("|")})`;
const states = z
  .string()
  .regex(
    new RegExp(`^${state}(?:,${state})*$`),
    `is not a list of states with commas between: ${c.jobState.options.join(", ")}`,
  );

const get = (
  id: string,
  path: string,
  summary: string,
  answer: RouteAnswer,
  more: Partial<Route> = {},
): Route => ({ id, method: "get", path, summary, answer, ...more });
const action = (id: string, summary: string): Route => ({
  ...get(id, `/v1/jobs/{job}/${id}`, summary, json(c.jobAnswer)),
  method: "post",
});

export const ROUTES: readonly Route[] = [
  get("page", "/", "This page", text("text/html", "A page for people"), { isPublic: true }),
  get(
    "openapi",
    "/openapi.json",
    "This API as an OpenAPI 3.1 document",
    text("application/json", "OpenAPI 3.1"),
    { isPublic: true },
  ),
  get("status", "/v1/status", "The scheduler at a glance, and as whom it knows you", json(c.statusAnswer)),
  {
    id: "submit",
    method: "post",
    path: "/v1/jobs",
    summary: "Submit jobs",
    description:
      "All jobs of the request are accepted or none. Once answered, they are on disk and survive a crash. An array stands alone in its request.",
    body: c.submitBody,
    answer: json(c.jobsAnswer, 201),
  },
  get("jobs", "/v1/jobs", "Your jobs, oldest first; all jobs for an administrator", json(c.jobsAnswer), {
    description:
      "With after, a page: at most 1,000 jobs, and next when there are more. A job that is there all the while is in exactly one page. Without after the answer is whole, however long. Where nothing but states is asked for, these are the jobs that have not ended and the last 1,000 that have; numbers, name, queue and user are looked for in all that is kept.",
    query: {
      states: optional(states, "States with commas between, such as queued,running; default all"),
      last: digits("Only so many, the newest ones; with after, the first page begins with them"),
      after: digits("A page: jobs of greater numbers than this; 0 for the first page, then what next says"),
      limit: digits("At most so many jobs in the page; default and most 1000"),
      numbers: optional(c.jobNumbers, "Only these numbers, such as 3-9,12; missing says which are not kept"),
      name: words("Only jobs of this name, with * for anything, such as sim*"),
      queue: words("Only jobs of this queue"),
      user: words("Only jobs of this user"),
      wait: digits(
        "If there is no such job, answer when there is one, at the latest after so many seconds (at most 60)",
      ),
    },
  }),
  {
    id: "batch",
    method: "post",
    path: "/v1/batch",
    summary: "Change many jobs, each by itself",
    description:
      "What cannot be changed is told with its reason and keeps no other job from it. At most 10,000 jobs. Jobs are changed 250 at a time, with other requests in between; cancelled from the last on. When the connection ends before the answer, the rest may be left as it is: send the request again.",
    body: c.batchBody,
    answer: json(c.batchAnswer),
  },
  get("job", "/v1/jobs/{job}", "One job", json(c.jobAnswer), {
    query: {
      wait: digits("Answer when the job has ended, at the latest after so many seconds (at most 60)"),
    },
  }),
  action("cancel", "Cancel a job: TERM, then KILL of all its processes"),
  action("hold", "Keep a waiting job from starting"),
  action("release", "Let a held job start"),
  action("requeue", "End a running job's attempt and queue it anew"),
  {
    id: "setPriority",
    method: "patch",
    path: "/v1/jobs/{job}",
    summary: "Change the priority of a job",
    body: c.priorityBody,
    answer: json(c.jobAnswer),
  },
  get("why", "/v1/jobs/{job}/why", "Why a job waits, and when it is expected to start", json(c.whyAnswer)),
  {
    id: "logs",
    method: "get",
    path: "/v1/jobs/{job}/logs/{stream}",
    summary: "What a job has written; stream is stdout or stderr",
    description:
      "Bytes as the job wrote them: escape them before you show them. A Range header is understood. Only files in the job's own folder are given out; output that was sent elsewhere is to be read where it is.",
    query: {
      offset: digits("First byte"),
      limit: digits("At most so many bytes"),
      tail: digits("The last so many bytes"),
      follow: optional(flag, "1: go on with what is written until the job has ended"),
    },
    answer: text("text/plain", "Output of the job"),
  },
  get("matrix", "/v1/matrix", "The matrix of rows and processors as it turns", json(c.matrixAnswer)),
  get("queues", "/v1/queues", "Queues and their limits", json(c.queuesAnswer)),
  get("policy", "/v1/policy", "The policy in force and its rules", json(c.policyAnswer)),
  {
    id: "setPolicy",
    method: "put",
    path: "/v1/policy",
    summary: "Change the policy while jobs run; administrators only",
    body: c.policyBody,
    answer: json(c.policyAnswer),
  },
  {
    id: "whatIf",
    method: "post",
    path: "/v1/whatif",
    summary: "Run the present state forward under other policies; changes nothing",
    body: c.whatIfBody,
    answer: json(c.whatIfAnswer),
  },
  get(
    "exportSwf",
    "/v1/export.swf",
    "Jobs that ended or run, in Standard Workload Format",
    text("text/plain", "SWF"),
  ),
  {
    id: "events",
    method: "get",
    path: "/v1/events",
    summary: "Decisions and changes as they happen",
    description:
      "Server-sent events; those after `since`, or after the header Last-Event-ID, which browsers send when they connect again. With Accept: application/json the events so far, as an answer that ends.",
    query: { since: digits("Sequence number of the last event already seen; default 0") },
    answer: text("text/event-stream", "Each event's data is an Event, its id the sequence number"),
  },
  get(
    "metrics",
    "/metrics",
    "Numbers for Prometheus",
    text("text/plain; version=0.0.4", "Prometheus text format"),
  ),
  {
    id: "shutdown",
    method: "post",
    path: "/v1/shutdown",
    summary: "End the scheduler; administrators only",
    body: c.shutdownBody,
    answer: json(c.shutdownAnswer, 202),
  },
];

/** Schemas that have a name in the OpenAPI document. */
export const NAMED_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Job: c.job,
  Stray: c.stray,
  JobState: c.jobState,
  SubmitJob: c.submitJob,
  SubmitBody: c.submitBody,
  PriorityBody: c.priorityBody,
  PolicyBody: c.policyBody,
  WhatIfBody: c.whatIfBody,
  ShutdownBody: c.shutdownBody,
  JobAnswer: c.jobAnswer,
  JobsAnswer: c.jobsAnswer,
  BatchBody: c.batchBody,
  BatchAnswer: c.batchAnswer,
  WhyAnswer: c.whyAnswer,
  Forecast: c.forecast,
  MatrixAnswer: c.matrixAnswer,
  QueuesAnswer: c.queuesAnswer,
  PolicyAnswer: c.policyAnswer,
  StatusAnswer: c.statusAnswer,
  WhatIfAnswer: c.whatIfAnswer,
  ShutdownAnswer: c.shutdownAnswer,
  Event: c.event,
  EventsAnswer: c.eventsAnswer,
  Refusal: c.refusalAnswer,
};
