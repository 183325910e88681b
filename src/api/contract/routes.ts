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

const digits = (description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, "is not a whole number of at most 15 digits")
    .optional()
    .describe(description);
const flag = (description: string) =>
  z
    .string()
    .regex(/^(?:0|1|true|false)$/, "is not 1 or 0")
    .optional()
    .describe(description);

const words = (description: string) => z.string().min(1).max(256).optional().describe(description);

const states = z
  .string()
  .regex(
    new RegExp(`^(?:${c.jobState.options.join("|")})(?:,(?:${c.jobState.options.join("|")}))*$`),
    `is not a list of states with commas between: ${c.jobState.options.join(", ")}`,
  )
  .optional()
  .describe("States with commas between, such as queued,running; default all");

const action = (id: string, summary: string): Route => ({
  id,
  method: "post",
  path: `/v1/jobs/{job}/${id}`,
  summary,
  answer: json(c.jobAnswer),
});

export const ROUTES: readonly Route[] = [
  {
    id: "page",
    method: "get",
    path: "/",
    summary: "This page",
    answer: text("text/html", "A page for people"),
    isPublic: true,
  },
  {
    id: "openapi",
    method: "get",
    path: "/openapi.json",
    summary: "This API as an OpenAPI 3.1 document",
    answer: text("application/json", "OpenAPI 3.1"),
    isPublic: true,
  },
  {
    id: "status",
    method: "get",
    path: "/v1/status",
    summary: "The scheduler at a glance, and as whom it knows you",
    answer: json(c.statusAnswer),
  },
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
  {
    id: "jobs",
    method: "get",
    path: "/v1/jobs",
    summary: "Your jobs, oldest first; all jobs for an administrator",
    description:
      "With after, a page: at most 1,000 jobs, and next when there are more. A job that is there all the while is in exactly one page. Without after the answer is whole, however long. Where nothing but states is asked for, these are the jobs that have not ended and the last 1,000 that have; numbers, name, queue and user are looked for in all that is kept.",
    query: {
      states,
      last: digits("Only so many, the newest ones; with after, the first page begins with them"),
      after: digits("A page: jobs of greater numbers than this; 0 for the first page, then what next says"),
      limit: digits("At most so many jobs in the page; default and most 1000"),
      numbers: c.jobNumbers
        .optional()
        .describe("Only these numbers, such as 3-9,12; missing says which are not kept"),
      name: words("Only jobs of this name, with * for anything, such as sim*"),
      queue: words("Only jobs of this queue"),
      user: words("Only jobs of this user"),
      wait: digits(
        "If there is no such job, answer when there is one, at the latest after so many seconds (at most 60)",
      ),
    },
    answer: json(c.jobsAnswer),
  },
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
  {
    id: "job",
    method: "get",
    path: "/v1/jobs/{job}",
    summary: "One job",
    query: {
      wait: digits("Answer when the job has ended, at the latest after so many seconds (at most 60)"),
    },
    answer: json(c.jobAnswer),
  },
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
  {
    id: "why",
    method: "get",
    path: "/v1/jobs/{job}/why",
    summary: "Why a job waits, and when it is expected to start",
    answer: json(c.whyAnswer),
  },
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
      follow: flag("1: go on with what is written until the job has ended"),
    },
    answer: text("text/plain", "Output of the job"),
  },
  {
    id: "matrix",
    method: "get",
    path: "/v1/matrix",
    summary: "The matrix of rows and processors as it turns",
    answer: json(c.matrixAnswer),
  },
  {
    id: "queues",
    method: "get",
    path: "/v1/queues",
    summary: "Queues and their limits",
    answer: json(c.queuesAnswer),
  },
  {
    id: "policy",
    method: "get",
    path: "/v1/policy",
    summary: "The policy in force and its rules",
    answer: json(c.policyAnswer),
  },
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
  {
    id: "exportSwf",
    method: "get",
    path: "/v1/export.swf",
    summary: "Jobs that ended or run, in Standard Workload Format",
    answer: text("text/plain", "SWF"),
  },
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
  {
    id: "metrics",
    method: "get",
    path: "/metrics",
    summary: "Numbers for Prometheus",
    answer: text("text/plain; version=0.0.4", "Prometheus text format"),
  },
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
