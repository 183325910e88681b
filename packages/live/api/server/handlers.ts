/** Handles the requests of each route: reads the call, asks the service and returns the answer. */
import { closeSync, fstatSync } from "node:fs";
import { join } from "node:path";
import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { brief } from "@tutti/protocol/job-answers.ts";
import { type Answer, isRefusal, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type * as c from "@tutti/protocol/schema.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { outcomeText } from "@tutti/words/jobs.ts";
import { whySentences } from "@tutti/words/why.ts";
import type { Change, Service } from "../../daemon/contract/service.ts";
import { descriptionResponse } from "./answers/description.ts";
import { eventList, eventStream } from "./answers/events.ts";
import {
  batchResponse,
  exportResponse,
  jobsResponse,
  jsonlResponse,
  rerunResponse,
  submittedResponse,
  updateOf,
} from "./answers/lists.ts";
import { followPieces, isInside, lastBytes, openInside, parseRange, piecesOf } from "./answers/logs.ts";
import { metricsText } from "./answers/metrics-text.ts";
import { openApiDocument } from "./answers/openapi.ts";
import { pulledStream } from "./answers/pieces.ts";
import { waitUntil } from "./answers/waiting.ts";
import type { Call, HandlerDeps, Outcome } from "./call.ts";
import type { FolderChecks } from "./requests/folder-checks.ts";
import { livePage, makeLink, makeSession, prove, webFile } from "./web/web-handlers.ts";

type Handler = (call: Call, deps: HandlerDeps) => Outcome | Promise<Outcome>;

/** How often a waiting request checks again without an event, in case it missed one. */
const LOOK_AGAIN_MS = 1000;
/** How far a timeline reaches into the past and into the future, if the request does not say. */
const TIMELINE_MS = 3_600_000;

/** Changes one job; `changeOf` reads the change from the body. */
const jobChange =
  (changeOf: (body: unknown) => Change): Handler =>
  async ({ caller, job, body }, { service }) => {
    const answer = await service.change(caller, changeOf(body), [job]);
    return isRefusal(answer) ? answer : asJob(answer[0]);
  };

export const HANDLERS: Readonly<Record<string, Handler>> = {
  page: livePage,
  webFile,
  description: (_, { version }) => descriptionResponse(version),
  openapi: (_, { version }) => Response.json(openApiDocument(version)),
  status: ({ caller }, { service, version, http, web }) => {
    const strays = service.strays(caller);
    return {
      version,
      user: caller.user,
      isAdministrator: caller.isAdministrator,
      http: http(),
      ...service.status(caller),
      ...(strays.length > 0 && { strays: strays.map(brief) }),
      web: { submit: web.maySubmit },
    };
  },
  submit: async (call, { service, credentials, folders }) => {
    const { jobs, key } = call.body as c.SubmitBody;
    // Other users would learn from it which folders exist that they may not see.
    const isOwnUser = call.caller.uid === credentials.owner.uid;
    const refusal = isOwnUser ? await refuseMissingFolder(jobs, folders) : undefined;
    if (refusal !== undefined) return refusal;
    const answer = await service.submit(call.caller, jobs, key);
    return isRefusal(answer) ? answer : submittedResponse(call, answer.jobs);
  },
  jobs: jobsResponse,
  batch: batchResponse,
  rerun: rerunResponse,
  dryRun: ({ caller, body, turns }, { service, forecasts }) => {
    const { jobs } = body as c.SubmitBody;
    return turns.run(() => forecasts.run(caller.uid, () => service.dryRun(caller, jobs)));
  },
  job: async (call, { service }) => {
    const { caller, job, query } = call;
    const hasEnded = () => {
      const info = service.job(caller, job);
      return isRefusal(info) || isEnded(info.state);
    };
    if (query.wait !== undefined) {
      await waitUntil(call, service, LOOK_AGAIN_MS, hasEnded, (changed) => changed === job && hasEnded());
    }
    return asJob(service.job(caller, job));
  },
  cancel: jobChange(() => ({ action: "cancel" })),
  hold: jobChange(() => ({ action: "hold" })),
  release: jobChange(() => ({ action: "release" })),
  requeue: jobChange(() => ({ action: "requeue" })),
  pause: jobChange(() => ({ action: "pause" })),
  resume: jobChange(() => ({ action: "resume" })),
  signal: jobChange((body) => ({ action: "signal", signal: body as c.SignalBody })),
  update: jobChange((body) => updateOf(body as c.UpdateBody)),
  why: whyResponse,
  logs: logsResponse,
  input: inputResponse,
  sendInput: ({ caller, job, body }, { service }) => service.sendInput(caller, job, body as c.InputBody),
  matrix: ({ caller }, { service }) => {
    const matrix = service.matrix();
    // Users may see which job number has which CPU, but not the names of other users' jobs.
    const seen = (job: number, name: string) => (isRefusal(service.job(caller, job)) ? "" : name);
    const rows = caller.isAdministrator
      ? matrix.rows
      : matrix.rows.map((row) => row.map((gang) => ({ ...gang, name: seen(gang.job, gang.name) })));
    return { ...matrix, rows, nowMs: Math.round(monotonicMs() * 1000) / 1000 };
  },
  queues: ({ caller }, { service }) => service.queues(caller),
  usage: ({ caller, query, turns }, { service }) => {
    const names = (query.by ?? "").split(",");
    const by = { user: names.includes("user"), queue: names.includes("queue") };
    const toMs = query.to === undefined ? undefined : Number(query.to);
    return turns.through(service.usage(caller, { by, fromMs: Number(query.from ?? 0), toMs }));
  },
  shares: ({ caller }, { service }) => service.shares(caller),
  policy: (_, { service }) => service.policy(),
  setPolicy: async ({ caller, body }, { service }) => {
    const answer = await service.setPolicy(caller, (body as { policy: string }).policy);
    return isRefusal(answer) ? answer : service.policy();
  },
  whatIf: async ({ caller, body, turns }, { service, forecasts }) => {
    const { policies = [undefined], ...rest } = body as c.WhatIfBody;
    const answers: object[] = [];
    for (const policy of policies) {
      const ask = () => service.whatIf(caller, { policy, ...rest });
      // Throws, instead of making a forecast, if the client has left in the meantime.
      const answer = await turns.run(() => forecasts.run(caller.uid, ask));
      if (isRefusal(answer)) return answer;
      answers.push(answer);
    }
    return { atMs: unixMs(), policies: answers };
  },
  timeline: async ({ caller, query, turns }, { service, forecasts }) => {
    const nowMs = unixMs();
    const span = {
      fromMs: Number(query.from ?? nowMs - TIMELINE_MS),
      toMs: Number(query.to ?? nowMs + TIMELINE_MS),
    };
    if (span.fromMs > span.toMs) {
      return refuse(
        "invalid",
        `Cannot show the time from ${span.fromMs} to ${span.toMs}: expected from to be no later than to`,
      );
    }
    const steps = await turns.run(() => forecasts.run(caller.uid, () => service.timeline(caller, span)));
    return isRefusal(steps) ? steps : turns.through(steps);
  },
  exportSwf: exportResponse,
  exportJsonl: jsonlResponse,
  events: ({ caller, query, request, turns }, { service, eventStreams }) => {
    const last = request.headers.get("last-event-id");
    const since = last !== null && /^\d{1,15}$/.test(last) ? Number(last) : Number(query.since ?? 0);
    if (/^application\/json\b/.test(request.headers.get("accept") ?? "")) {
      return eventList(service, caller, since, turns);
    }
    return new Response(eventStream(service, caller, since, turns, eventStreams), {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    });
  },
  metrics: ({ caller }, { service, requests }) =>
    new Response(
      metricsText(
        service.status(caller),
        service.queues().queues,
        caller.isAdministrator ? service.totals : undefined,
        requests(),
      ),
      {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      },
    ),
  drain: ({ caller, body }, { service }) => service.setDrain(caller, body as c.DrainBody),
  undrain: ({ caller }, { service }) => service.setDrain(caller, undefined),
  windows: (_, { service }) => ({ windows: service.windows() }),
  reserve: ({ caller, body }, { service }) => service.reserve(caller, body as c.WindowBody),
  unreserve: ({ caller, window }, { service }) => service.unreserve(caller, window),
  shutdown: ({ caller, body }, { service }) => {
    const { killJobs, keepPilot, keepAllocation = keepPilot } = body as c.ShutdownBody;
    return service.shutdown(caller, killJobs, keepAllocation);
  },
  allocations: (_, { service }) => service.allocations(),
  startAllocation: ({ caller }, { service }) => service.startAllocation(caller),
  sayOff: ({ caller, body }, { service }) => service.sayOff(caller, body as c.OffBody),
  pilot: (_, { service }) => asPilots(service.allocations()),
  startPilot: ({ caller }, { service }) => asPilots(service.startAllocation(caller)),
  makeLink,
  makeSession,
  prove,
};

/** A job that waits for others is not checked: they may make its folder. */
async function refuseMissingFolder(
  jobs: readonly c.SubmitJob[],
  folders: FolderChecks,
): Promise<Refusal | undefined> {
  for (const cwd of new Set(jobs.filter(({ after }) => after === undefined).map((job) => job.cwd))) {
    const why = await folders.whyNot(cwd);
    if (why !== undefined) {
      return refuse(
        "invalid",
        `Cannot submit a job in the folder "${cwd}": it ${why}, expected a folder in which the job can run`,
      );
    }
  }
  return undefined;
}

/** The answer also in words, so that clients in other languages need none of their own. */
async function whyResponse({ caller, job }: Call, { service }: HandlerDeps): Promise<Outcome> {
  const why = await service.why(caller, job);
  const info = service.job(caller, job);
  if (isRefusal(why) || isRefusal(info)) return isRefusal(why) ? why : info;
  const sentences = isEnded(info.state)
    ? [`${outcomeText(info)}.`]
    : whySentences({ schema: "tutti.why/1", ...why }, info);
  return { ...why, sentences };
}

function asJob(answer: Answer<Job>): Outcome {
  return isRefusal(answer) ? answer : { job: answer };
}

function inputResponse({ caller, job }: Call, { service, jobsFolder }: HandlerDeps): Outcome {
  const info = service.job(caller, job);
  if (isRefusal(info)) return info;
  const uid = service.ownerOf(caller, job);
  if (isRefusal(uid)) return uid;
  if (info.input === undefined) {
    return refuse(
      "not-found",
      `Cannot write to job ${job}: it reads nothing; tutti run --pty gives jobs a terminal`,
    );
  }
  const folder = join(jobsFolder, String(job), String(info.attempt));
  return { input: info.input, folder, uid, ...(service.sendsInput && { isSent: true }) };
}

function logsResponse({ caller, job, stream, query, request, turns }: Call, deps: HandlerDeps): Outcome {
  const { service, jobsFolder } = deps;
  const info = service.job(caller, job);
  if (isRefusal(info)) return info;
  const uid = service.ownerOf(caller, job);
  if (isRefusal(uid)) return uid;
  // This job's folder, not the folder of all jobs: users choose where output goes and could name a file of
  // another job.
  const root = join(jobsFolder, String(job));
  if (!isInside(root, info[stream])) {
    return refuse(
      "wrong-state",
      `Cannot show ${stream} of job ${job}: it was redirected to ${JSON.stringify(info[stream])}; read that file`,
    );
  }
  const type = { "content-type": "text/plain; charset=utf-8", "accept-ranges": "bytes" };
  const open = (path: string) => openInside(root, path, uid);
  if (query.follow === "1" || query.follow === "true") {
    const look = () =>
      turns.run(() => {
        const now = service.job(caller, job);
        return isRefusal(now) ? undefined : { path: now[stream], hasEnded: isEnded(now.state) };
      });
    const first = (size: number) => rangeOf(query, size).offset;
    return new Response(
      streamOf((signal) => followPieces(look, open, first, signal)),
      { headers: type },
    );
  }
  const file = open(info[stream]);
  if (file === undefined) {
    if (info.attempt === 0 || !isEnded(info.state)) return new Response("", { headers: type });
    return refuse("not-found", `Cannot show ${stream} of job ${job}: its folder has no such file`);
  }
  const { size } = fstatSync(file);
  const header = request.headers.get("range");
  const range = header === null ? rangeOf(query, size) : parseRange(header, size);
  if (range === undefined) {
    closeSync(file);
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${size}` } });
  }
  const { offset, limit } = range;
  const length = Math.max(0, Math.min(limit, size - offset));
  return new Response(
    streamOf(
      () => piecesOf(file, { offset, limit: length }),
      () => closeSync(file),
    ),
    {
      status: header === null ? 200 : 206,
      headers: {
        ...type,
        ...(header === null ? {} : { "content-range": `bytes ${offset}-${offset + length - 1}/${size}` }),
      },
    },
  );
}

function rangeOf(query: Call["query"], size: number) {
  if (query.tail !== undefined) return lastBytes(size, Number(query.tail));
  return {
    offset: Number(query.offset ?? 0),
    limit: query.limit === undefined ? Number.MAX_SAFE_INTEGER : Number(query.limit),
  };
}

/**
 * Pieces as a stream that is read only as fast as the client takes it, and ends when the client leaves.
 * @param atEnd called once, even if the client never asked for the first piece
 */
function streamOf(
  make: (signal: AbortSignal) => AsyncGenerator<Uint8Array>,
  atEnd = () => {},
): ReadableStream<Uint8Array> {
  const controller = new AbortController();
  const pieces = make(controller.signal);
  return pulledStream(
    async () => (await pieces.next()).value,
    atEnd,
    async () => {
      controller.abort();
      await pieces.return(undefined);
      atEnd();
    },
  );
}

/** The answer by the older names of version 1. */
function asPilots(answer: ReturnType<Service["allocations"]>) {
  if (isRefusal(answer)) return answer;
  const { allocations, ...why } = answer;
  return { pilots: allocations.map(({ name: jobId, ...rest }) => ({ jobId, ...rest })), ...why };
}
