/**
 * Lists all routes of the API. The server, the OpenAPI document and its description at `/api` are built from
 * this list.
 */

import { FILTERS, JOB_FIELDS } from "@tutti/protocol/job-fields.ts";
import * as c from "@tutti/protocol/schema.ts";
import { z } from "zod";

export interface Route {
  /** Name of the handler in handlers.ts, and OpenAPI's operationId. */
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** `{job}`, `{stream}`, `{file}` and `{window}` stand for values. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  /** Schemas of the query parameters; all are schemas of strings, because values arrive as text. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  readonly body?: z.ZodType;
  readonly answer: RouteAnswer;
  /** Answers without content, by status, and what they mean. */
  readonly otherAnswers?: Readonly<Record<number, string>>;
  /** Needs no token, because the answer contains nothing about this machine, or the body proves the user. */
  readonly isPublic?: boolean;
  /**
   * What sessions of the page may not do, and which command does it instead; `unless` names the setting that
   * allows it. Left out: a session may do what its user may do.
   */
  readonly fromPage?: {
    readonly action: string;
    readonly command: string;
    readonly unless?: "web.submit";
  };
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
    `is not a comma-separated list of states, expected some of ${c.jobState.options.join(", ")}`,
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
  get("page", "/", "The page that shows the scheduler to people", text("text/html", "The page"), {
    isPublic: true,
    otherAnswers: {
      304: "The page has not changed",
      307: "The page is at another address of this machine, which Location names",
    },
  }),
  get("webFile", "/web/{file}", "A file of the page", text("text/plain", "Script, style or icon"), {
    isPublic: true,
    otherAnswers: { 304: "The file has not changed" },
  }),
  get("description", "/api", "This description", text("text/html", "A description for people"), {
    isPublic: true,
  }),
  get(
    "openapi",
    "/openapi.json",
    "This API as an OpenAPI 3.1 document",
    text("application/json", "OpenAPI 3.1"),
    { isPublic: true },
  ),
  get("status", "/v1/status", "State of the scheduler, and your user name there", json(c.statusAnswer)),
  {
    id: "submit",
    method: "post",
    path: "/v1/jobs",
    summary: "Submit jobs",
    description:
      "Accepts either all jobs of the request or none. When the answer arrives, they are on disk and survive a crash. Jobs may wait for earlier ones of the request (entry in after). At most 10,000 jobs; each job of an array counts.",
    body: c.submitBody,
    answer: json(c.jobsAnswer, 201),
    fromPage: { action: "submit jobs", command: "tutti submit", unless: "web.submit" },
  },
  get("jobs", "/v1/jobs", "Your jobs, oldest first; for an administrator, all jobs", json(c.jobsAnswer), {
    description:
      "With after, the answer is a page: at most 1,000 jobs, and next if there are more. A job that exists throughout is in exactly one page. Without after, the answer is complete, however long it is. A request without filters, or with only the filter states, lists the jobs that have not ended and the 1,000 that ended last. The filters numbers, name, queue and user search all jobs that are kept.",
    query: {
      states: optional(states, "States, separated by commas, such as queued,running; default all"),
      last: digits(
        "Lists only this many of the newest jobs; with after, the first page begins at the oldest of them",
      ),
      after: digits(
        "Asks for a page: the jobs with numbers above this. Begin with 0, then pass next from the previous answer",
      ),
      limit: digits("Maximum number of jobs in the page; default and maximum 1000"),
      numbers: optional(
        c.jobNumbers,
        "Only jobs with these numbers, such as 3-9,12; in the answer, missing lists the numbers that are not kept",
      ),
      ...Object.fromEntries(FILTERS.map((name) => [name, words(JOB_FIELDS[name].filter[1])])),
      wait: digits("If no job matches, wait for one, but no longer than this number of seconds (at most 60)"),
    },
  }),
  {
    id: "batch",
    method: "post",
    path: "/v1/batch",
    summary: "Change many jobs, each independently of the others",
    description:
      "A job that cannot be changed is listed with the reason; the others are still changed. At most 10,000 jobs. The scheduler changes 250 jobs at a time and serves other requests in between. It cancels in reverse order, the last job first. If the connection ends before the answer, some jobs may be unchanged: send the request again.",
    body: c.batchBody,
    answer: json(c.batchAnswer),
  },
  {
    id: "dryRun",
    method: "post",
    path: "/v1/dry-run",
    summary: "What a submit would answer, with the expected start; submits nothing",
    description: "The body is that of a submit. It is refused if the submit would be refused.",
    body: c.submitBody,
    answer: json(c.dryRunAnswer),
  },
  {
    id: "rerun",
    method: "post",
    path: "/v1/rerun",
    summary: "Run ended jobs again, as new jobs",
    description:
      "The new jobs have the same spec, environment and script, and belong to the same users. Selected jobs of an array become an array with the same indices. Jobs that the first ones waited for, and begin times, are left out. Either all jobs are accepted or none. The last 8 MiB of environments and scripts of each user's ended jobs are kept for this.",
    body: c.rerunBody,
    answer: json(c.jobsAnswer, 201),
    fromPage: { action: "run jobs again", command: "tutti rerun", unless: "web.submit" },
  },
  get("job", "/v1/jobs/{job}", "One job", json(c.jobAnswer), {
    query: {
      wait: digits("Wait until the job has ended, but no longer than this number of seconds (at most 60)"),
    },
  }),
  action("cancel", "Cancel a job: SIGTERM, then SIGKILL to all its processes"),
  action("hold", "Keep a waiting job from starting"),
  action("release", "Let a held job start"),
  action("requeue", "End a running job and queue it again"),
  action(
    "pause",
    "Stop a running job until it is resumed; it keeps its memory, and under space sharing its CPUs",
  ),
  action("resume", "Continue a paused job"),
  {
    ...action("signal", "Send a signal to processes of a running job"),
    description:
      "It is sent once and nothing is recorded. A job that does not have its turn gets it when it runs again.",
    body: c.signalBody,
  },
  {
    id: "update",
    method: "patch",
    path: "/v1/jobs/{job}",
    summary: "Change what a job asks for: its name, queue, size, limit, begin, priority and so on",
    description:
      "A waiting job keeps its place in the queue: the policy sees it leave and arrive again. It is refused if a submit with these values would be refused.",
    body: c.updateBody,
    answer: json(c.jobAnswer),
  },
  get("why", "/v1/jobs/{job}/why", "Why a job waits, and when it is expected to start", json(c.whyAnswer)),
  {
    id: "logs",
    method: "get",
    path: "/v1/jobs/{job}/logs/{stream}",
    summary: "Output of a job; stream is stdout or stderr",
    description:
      "The bytes as the job wrote them: escape them before you show them. Supports Range headers. Serves only files in the job's own folder; read redirected output from its file.",
    query: {
      offset: digits("First byte"),
      limit: digits("Maximum number of bytes"),
      tail: digits("Only this many bytes from the end"),
      follow: optional(flag, "1: keep sending new output until the job has ended"),
    },
    answer: text("text/plain", "Output of the job"),
  },
  get("input", "/v1/jobs/{job}/input", "Where a job takes its standard input", json(c.inputAnswer), {
    description:
      "For clients on the scheduler's machine: the named pipe `input` in this folder. tutti run writes into it what the job reads; into that of a terminal, tutti attach writes what is typed. If isSent is true, they send it instead.",
  }),
  {
    id: "sendInput",
    method: "post",
    path: "/v1/jobs/{job}/input",
    summary: "Send a piece of what a job on another node reads",
    description:
      "Send one piece at a time; the answer comes when the job can read it, at the latest after some seconds, and says how much was taken. What was not taken is sent again, also to a scheduler that was started again.",
    body: c.inputBody,
    answer: json(c.inputTakenAnswer),
    fromPage: { action: "write to a job", command: "tutti attach" },
  },
  get("matrix", "/v1/matrix", "The current matrix of rows and processors", json(c.matrixAnswer)),
  get("queues", "/v1/queues", "Queues and their limits", json(c.queuesAnswer)),
  get(
    "usage",
    "/v1/usage",
    "What your ended jobs had and used; for an administrator, all jobs",
    json(c.usageAnswer),
    {
      description:
        "Sums over jobs that ended in a stretch of time, with all their attempts. Jobs that are forgotten are not counted: keptSinceMs says of which times. CPU time is counted where control groups can be used.",
      query: {
        by: optional(
          z.string().regex(/^(?:user|queue|user,queue|queue,user)$/, "is not user, queue or user,queue"),
          "What has a row of its own; default: one row for all",
        ),
        from: digits("Unix time in ms of the first end that counts; default: 0"),
        to: digits("Ends from this Unix time in ms on do not count; default: now"),
      },
    },
  ),
  get(
    "shares",
    "/v1/shares",
    "Your share of the machine and what you used of it; for an administrator, everybody's",
    json(c.sharesAnswer),
    {
      description:
        "Usage is the CPUs of jobs times their running time, and it counts half after a half-life. Factors are those of Slurm's classic fair share. Of others, users see only how many go first.",
    },
  ),
  get("policy", "/v1/policy", "The current policy and its rules", json(c.policyAnswer)),
  {
    id: "setPolicy",
    method: "put",
    path: "/v1/policy",
    summary: "Change the policy while jobs run; administrators only",
    body: c.policyBody,
    answer: json(c.policyAnswer),
    fromPage: { action: "change the policy", command: "tutti policy" },
  },
  {
    id: "whatIf",
    method: "post",
    path: "/v1/whatif",
    summary: "Simulate the future: other policies, fewer CPUs, jobs that are not submitted; changes nothing",
    description:
      "Every job gets the same running times with and without the changes, so all differences are due to the changes. Jobs of other users appear only in sums.",
    body: c.whatIfBody,
    answer: json(c.whatIfAnswer),
  },
  get(
    "timeline",
    "/v1/timeline",
    "What ran, runs and is expected in a stretch of time",
    json(c.timelineAnswer),
    {
      description:
        "At most 5,000 jobs. Jobs of other users are CPUs with a number, as in the matrix. The forecasts are at most 5 s old. A job that was restarted appears with its last run.",
      query: {
        from: digits("Unix time in ms; default: an hour ago"),
        to: digits("Unix time in ms; default: in an hour"),
      },
    },
  ),
  get(
    "exportSwf",
    "/v1/export.swf",
    "Ended and running jobs, in Standard Workload Format",
    text("text/plain", "SWF"),
  ),
  get(
    "exportJsonl",
    "/v1/export.jsonl",
    "Jobs and events as a workload file",
    text("application/jsonl", "Workload file"),
    { description: "JSON Lines with the schema tutti.workload-file/1; see docs/workloads.md." },
  ),
  {
    id: "events",
    method: "get",
    path: "/v1/events",
    summary: "Decisions and changes as they happen",
    description:
      "Server-sent events: those after `since`, or after the header Last-Event-ID, which browsers send when they reconnect. The stream begins with the id after which it continues: if `since` is larger than all numbers so far, that is the last one. A comment comes every 15 s without events. With Accept: application/json, the answer is a list of the events so far.",
    query: { since: digits("Sequence number of the last event that you have seen; default 0") },
    answer: text("text/event-stream", "The data of each event is an Event, its id the sequence number"),
  },
  get(
    "metrics",
    "/metrics",
    "Metrics for Prometheus",
    text("text/plain; version=0.0.4", "Prometheus text format"),
  ),
  {
    id: "drain",
    method: "put",
    path: "/v1/drain",
    summary: "Start no more jobs; running ones continue; administrators only",
    description: "Stays in force when the scheduler is restarted, until it is undone.",
    body: c.drainBody,
    answer: json(c.drainAnswer),
  },
  {
    id: "undrain",
    method: "delete",
    path: "/v1/drain",
    summary: "Let jobs start again; administrators only",
    answer: json(c.drainAnswer),
  },
  get("windows", "/v1/windows", "Windows that are not over, by their begin", json(c.windowsAnswer)),
  {
    id: "reserve",
    method: "post",
    path: "/v1/windows",
    summary: "Keep the machine for some jobs, or for none, for a time; administrators only",
    description:
      "Jobs that the window does not name start only if they end by their limits before it begins, and otherwise at its end. Jobs that run when it begins continue. It stays in force when the scheduler is restarted.",
    body: c.windowBody,
    answer: json(c.windowAnswer, 201),
  },
  {
    id: "unreserve",
    method: "delete",
    path: "/v1/windows/{window}",
    summary: "Remove a window, also one that has begun; administrators only",
    answer: json(c.windowAnswer),
  },
  {
    id: "shutdown",
    method: "post",
    path: "/v1/shutdown",
    summary: "End the scheduler; administrators only",
    body: c.shutdownBody,
    answer: json(c.shutdownAnswer, 202),
    fromPage: { action: "end the scheduler", command: "tutti down" },
  },
  get(
    "allocations",
    "/v1/allocations",
    "Nodes that the scheduler has for a while; on Slurm, those of its pilots",
    json(c.allocationsAnswer),
  ),
  {
    id: "startAllocation",
    method: "post",
    path: "/v1/allocations",
    summary: "Ask for nodes again, after an allocation was cancelled; administrators only",
    answer: json(c.allocationsAnswer),
    fromPage: { action: "ask for nodes", command: "tutti allocations start" },
  },
  {
    id: "sayOff",
    method: "post",
    path: "/v1/allocations/off",
    summary: "Say that nothing runs on lost nodes, so that their attempts are lost; administrators only",
    description:
      "Refused where the cluster itself says it, as Slurm does, and for nodes that answer. What still runs on such a node is killed when it answers again.",
    body: c.offBody,
    answer: json(c.offAnswer),
    fromPage: { action: "say that a node is off", command: "tutti allocations off" },
  },
  get("pilot", "/v1/pilot", "An older name of /v1/allocations", json(c.pilotAnswer)),
  {
    id: "startPilot",
    method: "post",
    path: "/v1/pilot",
    summary: "An older name of /v1/allocations",
    answer: json(c.pilotAnswer),
    fromPage: { action: "ask for nodes", command: "tutti allocations start" },
  },
  {
    id: "makeLink",
    method: "post",
    path: "/v1/web/links",
    summary: "Make a link to the page, with a code that begins a session for you",
    description:
      "The code works once, within a minute. It is in the link's fragment, which browsers do not send.",
    answer: json(c.webLinkAnswer, 201),
    fromPage: { action: "make links", command: "tutti web" },
  },
  {
    id: "makeSession",
    method: "post",
    path: "/v1/web/sessions",
    summary: "Begin a session of the page, with the code of a link",
    description:
      "Only at 127.0.0.1. A session has the rights of its user, but cannot make links, change the policy, end the scheduler or, unless web.submit is set, submit jobs. It ends after 12 hours.",
    body: c.webSessionBody,
    answer: json(c.webSessionAnswer, 201),
    isPublic: true,
  },
  get(
    "prove",
    "/v1/web/proof",
    "Prove that this scheduler gave a session or a link",
    json(c.webProofAnswer),
    {
      isPublic: true,
      description:
        "The answer is the HMAC-SHA-256, with the proof key of the session or the link, of “tutti on port PORT of 127.0.0.1: NONCE”. Before it sends its token again after a lost connection, a page compares it with its own, because another process may have taken the port. Refused on a Unix socket.",
      query: {
        id: optional(
          z.string().regex(/^[\w-]{22}$/, "is not the id of a session or a link"),
          "Id of the session or the link",
        ),
        nonce: optional(
          z.string().regex(/^[\w-]{22,64}$/, "is not 22 to 64 letters, digits, - and _"),
          "A random text that is used once",
        ),
      },
    },
  ),
];

/** The schemas that the OpenAPI document lists by name. */
export const NAMED_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  Job: c.job,
  Stray: c.stray,
  JobState: c.jobState,
  SubmitJob: c.submitJob,
  SubmitBody: c.submitBody,
  SignalBody: c.signalBody,
  UpdateBody: c.updateBody,
  PolicyBody: c.policyBody,
  HypotheticalJob: c.hypotheticalJob,
  WhatIfBody: c.whatIfBody,
  ShutdownBody: c.shutdownBody,
  DrainBody: c.drainBody,
  WindowBody: c.windowBody,
  WindowAnswer: c.windowAnswer,
  WindowsAnswer: c.windowsAnswer,
  WebSessionBody: c.webSessionBody,
  WebLinkAnswer: c.webLinkAnswer,
  WebSessionAnswer: c.webSessionAnswer,
  WebProofAnswer: c.webProofAnswer,
  JobAnswer: c.jobAnswer,
  JobsAnswer: c.jobsAnswer,
  BatchBody: c.batchBody,
  RerunBody: c.rerunBody,
  DryRunAnswer: c.dryRunAnswer,
  BatchAnswer: c.batchAnswer,
  WhyAnswer: c.whyAnswer,
  InputAnswer: c.inputAnswer,
  InputBody: c.inputBody,
  InputTakenAnswer: c.inputTakenAnswer,
  Forecast: c.forecast,
  MatrixAnswer: c.matrixAnswer,
  QueuesAnswer: c.queuesAnswer,
  UsageAnswer: c.usageAnswer,
  SharesAnswer: c.sharesAnswer,
  PolicyAnswer: c.policyAnswer,
  StatusAnswer: c.statusAnswer,
  WhatIfAnswer: c.whatIfAnswer,
  TimelineAnswer: c.timelineAnswer,
  DrainAnswer: c.drainAnswer,
  ShutdownAnswer: c.shutdownAnswer,
  AllocationsAnswer: c.allocationsAnswer,
  OffBody: c.offBody,
  OffAnswer: c.offAnswer,
  Pilot: c.pilotAnswer,
  Event: c.event,
  EventsAnswer: c.eventsAnswer,
  Refusal: c.refusalAnswer,
};
