/** Defines the answers of the API as schemas. */
import { z } from "zod";
import {
  answer,
  count,
  durationMs,
  jobNumber,
  jobState,
  nodes,
  optional,
  unixMs,
  type Value,
} from "./atoms.ts";
import { forecast } from "./forecasts.ts";
import { job, ownLimits, queueLimits, quotaObstacle, stray } from "./job-answers.ts";
import { MAX_EVENTS_PER_ANSWER, MAX_JOBS_IN_WINDOW, MAX_WINDOWS_IN_STATUS } from "./limits.ts";
import { REFUSAL_CODES } from "./refusal.ts";

/** What people see of a window. */
const windowFields = {
  name: z.string(),
  fromMs: unixMs,
  untilMs: unixMs,
  users: z.array(z.string()).exactOptional(),
  queues: z.array(z.string()).exactOptional(),
  reason: z.string().exactOptional(),
};

const ofParts = {
  parts: optional(count, "Allocations, if there are several: what is present is that of the largest one"),
};
const lack = { resource: z.string(), needed: count, present: count, configured: count.exactOptional() };
const obstacle = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("held"), reason: z.string().exactOptional() }),
    z.object({ kind: z.literal("dependency"), jobs: z.array(jobNumber) }),
    z
      .object({
        kind: z.literal("begin"),
        atMs: unixMs,
        attempt: optional(count, "The attempt that begins then; left out: the first"),
        mostAttempts: count.exactOptional(),
        reason: optional(z.string(), "How the attempt before ended"),
      })
      .describe("It must not start before this time"),
    z.object({ kind: z.literal("array"), array: jobNumber, atOnce: count }),
    z
      .object({
        kind: z.literal("limit"),
        of: z.enum(["user", "group", "queue"]),
        name: z.string().describe("Of the user, the group or the queue"),
        counts: z.enum(["cpus", "jobs"]),
        most: count,
        needed: count,
        running: count.describe("What your running jobs use of it; for administrators, what all do"),
        next: count.describe("The same of jobs that may start, and wait for CPUs"),
        others: optional(z.literal(true), "Jobs of other users use some of it, too"),
        isKept: optional(z.literal(true), "There would be room, but it is kept for an earlier job"),
        keptFor: optional(jobNumber, "The earlier job, if you may see it"),
      })
      .describe("The running jobs of the user, the group or the queue would use more than they may"),
    quotaObstacle,
    z.object({
      kind: z.literal("cpus"),
      needed: count,
      free: count,
      rows: count,
      mostRows: count,
      nodes: z.literal(true).optional().describe("The numbers are those of whole nodes"),
    }),
    z.object({ kind: z.literal("memory"), neededBytes: z.number(), freeBytes: z.number() }),
    z
      .object({
        kind: z.literal("units"),
        resource: z.string(),
        needed: count,
        free: count,
        holders: z.array(z.object({ job: jobNumber, units: count })).describe("Those that you may see"),
        others: count.describe("Units that jobs of other users hold"),
      })
      .describe("Too few units of a countable resource are free"),
    z.object({ kind: z.literal("order"), behind: z.array(jobNumber) }),
    z
      .object({ kind: z.literal("shares"), jobs: count })
      .describe("Jobs of users who have used less of their share go first"),
    z.object({ kind: z.literal("reservation"), holder: jobNumber, startAtMs: unixMs }),
    z.object({ kind: z.literal("conductor"), message: z.string() }),
    z
      .object({ kind: z.literal("launch"), message: z.string() })
      .describe("It is launched, but something other than its turn keeps it from beginning"),
    z
      .object({ kind: z.literal("stopped") })
      .describe("It has started, and the matrix has no room for it now"),
    z
      .object({ kind: z.literal("nodes"), message: z.string(), sinceMs: unixMs })
      .describe("It is launched, but does not run: nodes of it have not answered since then"),
    z
      .object({ kind: z.literal("executor"), message: z.string() })
      .describe("What the executor says about a running job, such as where it runs"),
    z
      .object({
        kind: z.literal("capacity"),
        needed: count,
        present: count,
        most: count,
        ...ofParts,
        next: optional(z.string(), "What follows these CPUs, and when"),
      })
      .describe("It needs more CPUs than there are now; `most`: as many as there can be"),
    z
      .object({
        kind: z.literal("capacity-threads"),
        ...{ tasks: count, threads: count, present: count },
        ...ofParts,
      })
      .describe("The nodes have room for only `present` tasks now: the threads of a task are on one node"),
    z
      .object({
        kind: z.literal("capacity-memory"),
        ...{ neededBytes: z.number(), presentBytes: z.number() },
        ...ofParts,
      })
      .describe("It needs more memory than the nodes have for it now"),
    z
      .object({ kind: z.literal("capacity-units"), ...lack })
      .describe("It needs more units than there are now; it cannot start if it needs more than configured"),
    z
      .object({ kind: z.literal("policy-units"), policy: z.string() })
      .describe("It needs countable resources, and the policy does not know them"),
    z
      .object({ kind: z.literal("capacity-time"), limitMs: durationMs, mostMs: durationMs })
      .describe("It cannot start: its time limit is longer than any CPUs are there"),
    z
      .object({ kind: z.literal("never"), message: z.string() })
      .describe("It cannot start: no CPUs that may come would hold it, as the message says"),
    z
      .object({
        kind: z.literal("drain"),
        stopAtMs: unixMs,
        limitMs: durationMs.exactOptional(),
        next: optional(z.string(), "What follows, and when"),
        restarts: optional(count, "If the job runs: how often it may start again after it was stopped then"),
      })
      .describe("All CPUs are taken away at `stopAtMs`, and it might not have ended by then"),
    z
      .object({ kind: z.literal("handover"), policy: z.string(), jobs: z.array(jobNumber) })
      .describe("Nothing starts until these jobs have ended: the policy cannot take over their places"),
    z
      .object({
        kind: z.literal("drained"),
        sinceMs: unixMs,
        by: z.string(),
        reason: z.string().exactOptional(),
      })
      .describe("An administrator has drained the scheduler: nothing starts"),
    z
      .object({
        kind: z.literal("window"),
        ...windowFields,
        limitMs: optional(durationMs, "The job's limit; left out: it has none"),
        leftMs: optional(durationMs, "How long the window has not begun; left out: it has"),
      })
      .describe("The machine is kept for other jobs, or for none, and this one might run then"),
  ])
  .describe("Something that keeps a job waiting");

export const jobAnswer = answer("tutti.job/1", { job });
export const jobsAnswer = answer("tutti.jobs/1", {
  jobs: z.array(job),
  next: optional(
    jobNumber,
    "There are more jobs: pass this number as `after` to get them. Present only if the request had `after`",
  ),
  missing: optional(
    z.array(z.object({ first: jobNumber, last: jobNumber, because: z.enum(["forgotten", "not given"]) })),
    "If the request had `numbers`: the numbers up to `next` for which no job of any user is kept",
  ),
});
const refusalCode = z.enum(REFUSAL_CODES);
export const batchAnswer = answer("tutti.batch/1", {
  results: z
    .array(
      z.union([
        z.object({ number: jobNumber, job: job.describe("The job as it is now") }),
        z.object({ number: jobNumber, refused: refusalCode, message: z.string() }),
      ]),
    )
    .describe("The result for each job, in the order in which they were changed"),
});
export const whyAnswer = answer("tutti.why/1", {
  job: jobNumber,
  state: jobState,
  waitedMs: durationMs,
  tasks: count,
  freeCpus: count,
  queuedBefore: count,
  obstacles: z.array(obstacle),
  queueReason: z.string().exactOptional(),
  forecast: forecast.exactOptional(),
  sentences: optional(
    z.array(z.string()),
    "The same in words, for people, or how the job ended; times are in the time zone of the scheduler",
  ),
  share: optional(
    z.object({
      slots: count.describe("Slots that it has in each round now; 0: it has ended, or is stopped"),
      ofSlots: count.describe("Slots of a round, one for each row; 1 under space sharing"),
      ranMs: durationMs.describe("Its running time so far: the slots that it got"),
      elapsedMs: durationMs.describe("Time since its start, or from its start to its end"),
    }),
    "What a job that has started gets of its CPUs",
  ),
});
export const matrixAnswer = answer("tutti.matrix/1", {
  sequence: count,
  policy: z.string(),
  sharing: z.enum(["space", "time"]),
  slotMs: z.number(),
  mode: z.enum(["gang", "concurrent"]),
  cpus: z.array(count),
  nodes: optional(nodes, "All CPUs by node, in the same order"),
  epochMs: z.number().describe("Monotonic time at which slot 0 began, ms"),
  nowMs: z
    .number()
    .describe("Monotonic time of this answer, ms: the current slot is k = ⌊(nowMs − epochMs) / slotMs⌋"),
  fromSlot: optional(z.int(), "Slot k belongs to row (k − fromSlot) mod rows; default: 0"),
  rows: z.array(
    z.array(
      z.object({ job: jobNumber, name: z.string(), cpus: z.array(count), nodes: nodes.exactOptional() }),
    ),
  ),
});
export const queuesAnswer = answer("tutti.queues/1", {
  queues: z.array(
    z.object({
      name: z.string(),
      aliases: optional(z.array(z.string()), "Other names under which jobs can ask for it"),
      queued: count,
      running: count,
      mostCpus: count,
      limitMs: durationMs.exactOptional(),
      limits: optional(queueLimits, "Limits on all its jobs together"),
    }),
  ),
  yours: optional(z.array(ownLimits), "Limits on your jobs, with what your own jobs use of them"),
});
export const policyAnswer = answer("tutti.policy/1", {
  policy: z.string(),
  rules: z.array(z.string()),
  ownRules: count.describe("The first rules, up to this number, are the policy's own"),
  mostRows: count,
});
const drain = z
  .object({ sinceMs: unixMs, by: z.string().describe("User name"), reason: z.string().exactOptional() })
  .describe("Nothing starts until an administrator undoes it; running jobs continue");

const window = z
  .object({
    ...windowFields,
    by: z.string().describe("User name"),
    atMs: unixMs.describe("When it was announced"),
    running: optional(
      count,
      "Once it has begun: jobs that have started and that it does not name; left out if there are none",
    ),
    jobs: optional(z.array(jobNumber).max(MAX_JOBS_IN_WINDOW), "The first of these jobs"),
  })
  .describe(
    "A time in which only jobs of these users and in these queues start, or none; other jobs start before it only if they end in time by their limits",
  );

const nodeHealth = z
  .object({
    node: z.string(),
    state: z
      .enum(["up", "silent", "lost"])
      .describe(
        "silent: it has not answered for 3 s, and its gangs are stopped on the others. lost: it is given up",
      ),
    cpus: count.describe("CPUs that jobs may use now"),
    isAwaited: optional(
      z.literal(true),
      "It takes no part yet: it has never answered, or did so while jobs ran",
    ),
    offsetMs: optional(z.number(), "Its monotonic clock minus that of the scheduler's machine, ms"),
    uncertaintyMs: optional(z.number(), "The offset is right within this, ms"),
    isUncertain: optional(
      z.literal(true),
      "The uncertainty is more than a tenth of a slot, so gangs may change on this node at another time",
    ),
    skewP50Ms: optional(
      z.number(),
      "How much later than the first node it began the slots of the last minute, ms: median",
    ),
    skewP99Ms: optional(z.number(), "The same, 99th percentile"),
  })
  .describe("A node of a cluster");

const bill = z.object({
  askedNodeMs: count.describe("Nodes of all requests times their time limits"),
  usedNodeMs: count.describe("Node time that allocations have lasted"),
  idleNodeMs: count.describe("The part of it in which no job ran on the node"),
});
export const statusAnswer = answer("tutti.status/1", {
  version: z.string(),
  user: z.string().describe("Your user name, as the scheduler knows it"),
  isAdministrator: z.boolean(),
  http: optional(z.string(), "Address of the API on this machine"),
  startedAtMs: unixMs,
  cpus: count,
  busyCpus: z.number(),
  machine: optional(
    z.object({
      sockets: count,
      cores: count,
      unusedCpus: z.array(count).describe("Further threads of these cores, which jobs do not get"),
    }),
    "Where the CPUs are, unless they are on other nodes",
  ),
  counts: z
    .record(jobState, count)
    .describe("Jobs by state. Ended jobs are your own, or those of all users for an administrator"),
  conductor: z.object({
    connected: z.boolean(),
    silentMs: optional(
      durationMs,
      "How long the conductor has been silent, in ms; present only if a report is overdue",
    ),
    rests: optional(z.string(), "Why there are no CPUs, although nothing is wrong: no job waits for any"),
    pid: count.exactOptional(),
    freezer: z.string().exactOptional(),
    limitsMemory: optional(z.boolean(), "Whether the kernel keeps jobs within their memory"),
    lateP99Ms: z.number().exactOptional(),
  }),
  resources: optional(
    z.array(
      z.object({
        name: z.string(),
        units: z.array(z.string()).describe("Names of all units"),
        held: count.describe("Units that jobs hold now"),
        shared: optional(z.literal(true), "Any number of jobs may hold a unit at the same time"),
        perNode: optional(
          z.literal(true),
          "Each node has these units, and a job as many on each of its nodes",
        ),
      }),
    ),
    "Countable resources; left out if there are none",
  ),
  features: optional(z.array(z.string()), "Words that every node has, for --constraint; left out: none"),
  gpus: optional(
    z.array(
      z.object({
        node: optional(z.string(), "Left out: on the machine that runs the scheduler"),
        gpu: z.string().describe("Its number, as nvidia-smi or rocm-smi has it"),
        share: optional(z.number(), "How busy it was in the last moment, 0 to 1; left out: unknown"),
        memoryBytes: z.number().describe("Its memory in use"),
      }),
    ),
    "GPUs as they were some seconds ago; left out if no job has a GPU, or if nothing measures them",
  ),
  nodes: optional(z.array(nodeHealth), "The nodes of a cluster; left out on one machine"),
  bill: optional(bill, "Node time of all allocations so far, in ms; left out: nodes cost nothing"),
  tasksRunEach: optional(z.literal(true), "Jobs may set tasksRun to each"),
  takesInput: optional(z.literal(true), "Jobs may have an input: a pipe or a terminal"),
  sendsMail: optional(z.literal(true), "Jobs may have mail, and the machine has a program sendmail"),
  trouble: optional(z.string(), "What keeps the scheduler from working, such as a full disk"),
  drain: drain.exactOptional(),
  windows: optional(
    z.array(window).max(MAX_WINDOWS_IN_STATUS),
    "The first of the windows that are not over; left out if there are none",
  ),
  strays: optional(z.array(stray), "Yours, or all for an administrator; left out if there are no strays"),
  forecasts: optional(
    z.object({
      jobs: count,
      errorP50Ms: durationMs,
      errorP90Ms: durationMs,
      withinShare: z
        .number()
        .describe("Share of the jobs that started between p10 and p90 of their forecast"),
    }),
    "Errors of the forecasts for the jobs that started last",
  ),
  keptSinceMs: optional(
    z.number(),
    "Unix time in ms. Some of your jobs that ended before it may no longer be kept",
  ),
  residentBytes: z.number(),
  web: optional(
    z.object({
      submit: z.boolean().describe("Whether jobs may be submitted from the page: the setting web.submit"),
    }),
    "What sessions of the page may do",
  ),
});
export const webLinkAnswer = answer("tutti.web-link/1", {
  url: z.string().describe("The address of the page, with a code that works once"),
  expiresAtMs: unixMs,
  id: z.string().describe("Names the key with which the process on the port can prove to be this scheduler"),
  proofKey: z.string().describe("Key of these proofs: 32 bytes in base64url. Never send it"),
});
export const webSessionAnswer = answer("tutti.web-session/1", {
  token: z.string().describe("Token of the session, for the header Authorization: Bearer TOKEN"),
  user: z.string().describe("Your user name, as the scheduler knows it"),
  isAdministrator: z.boolean(),
  expiresAtMs: unixMs,
  id: z.string().describe("Names the session when the scheduler has to prove that it began it"),
  proofKey: z.string().describe("Key of these proofs: 32 bytes in base64url. Never send it"),
});
export const webProofAnswer = answer("tutti.web-proof/1", {
  proof: z.string().describe("32 bytes in base64url"),
});
export const shutdownAnswer = answer("tutti.shutdown/1", {
  stopping: z.literal(true),
  warning: optional(
    z.string(),
    "What could not be cleaned up, such as jobs that may still run, or an allocation that was not given back",
  ),
  givenBack: optional(
    z.array(z.string()),
    "Allocations that were given back; nobody pays for them any longer",
  ),
});
export const drainAnswer = answer("tutti.drain/1", { drain: drain.exactOptional() });
export const windowAnswer = answer("tutti.window/1", { window });
export const windowsAnswer = answer("tutti.windows/1", {
  windows: z.array(window).describe("Those that are not over, by their begin"),
});
const allocation = z.object({
  name: optional(z.string(), "On Slurm, the number of the job that holds the nodes; left out: not known yet"),
  state: z.string().describe("In words of the provider; on Slurm such as RUNNING"),
  nodes: z.array(z.string()),
  leftMs: optional(count, "Time until its end when that was last asked for; left out: it waits, or has none"),
  kind: optional(z.string(), "On Slurm, the name of the kind of pilots"),
  askedNodes: optional(count, "How many nodes were asked for"),
});
const nodeSource = {
  trouble: optional(z.string(), "Why there are no nodes now"),
  rests: optional(z.string(), "Why there are none, although nothing is wrong: no job waits for any"),
};
export const allocationsAnswer = answer("tutti.allocations/1", {
  allocations: z.array(allocation).describe("In the order in which they were asked for"),
  ...nodeSource,
  bill: optional(bill, "Node time of all allocations so far, in ms"),
});
export const offAnswer = answer("tutti.off/1", {
  nodes: z.array(z.string()),
  jobs: z.array(jobNumber).describe("The jobs that ran there: their attempts are lost"),
});
/** By older names, which stay in version 1. */
export const pilotAnswer = answer("tutti.pilot/1", {
  pilots: z.array(
    allocation.omit({ name: true }).extend({ jobId: optional(z.string(), "The name of the allocation") }),
  ),
  ...nodeSource,
});

export const event = z
  .object({
    sequence: count.describe(
      "Grows without gaps over all users. You see events of your jobs and of the scheduler; old events are forgotten",
    ),
    atMs: unixMs,
    kind: z.string(),
    job: jobNumber.exactOptional(),
    user: z.string().exactOptional(),
    data: z
      .record(
        z.string(),
        z.union([z.string(), z.number(), z.boolean(), z.null(), z.record(z.string(), z.unknown())]),
      )
      .exactOptional(),
  })
  .describe("A decision or a change; the data of a server-sent event whose id is the sequence number");
export const eventsAnswer = answer("tutti.events/1", {
  events: z.array(event).max(MAX_EVENTS_PER_ANSWER).describe("Oldest first"),
  next: optional(count, "There are more events: pass this number as since to get them"),
});

export const refusalAnswer = z
  .object({
    schema: z.literal("tutti.refusal/1"),
    refused: refusalCode,
    message: z.string().describe("What was refused, why, and what to do next"),
  })
  .describe("The request was refused");

export type Job = Value<typeof job>;
export type JobAnswer = Value<typeof jobAnswer>;
export type JobsAnswer = Value<typeof jobsAnswer>;
export type BatchAnswer = Value<typeof batchAnswer>;
export type WhyAnswer = Value<typeof whyAnswer>;
export type MatrixAnswer = Value<typeof matrixAnswer>;
export type QueuesAnswer = Value<typeof queuesAnswer>;
export type PolicyAnswer = Value<typeof policyAnswer>;
export type Drain = Value<typeof drain>;
export type DrainAnswer = Value<typeof drainAnswer>;
export type Window = Value<typeof window>;
export type WindowAnswer = Value<typeof windowAnswer>;
export type WindowsAnswer = Value<typeof windowsAnswer>;
export type ShutdownAnswer = Value<typeof shutdownAnswer>;
export type AllocationsAnswer = Value<typeof allocationsAnswer>;
export type OffAnswer = Value<typeof offAnswer>;
export type PilotAnswer = Value<typeof pilotAnswer>;
export type WebLinkAnswer = Value<typeof webLinkAnswer>;
export type WebProofAnswer = Value<typeof webProofAnswer>;
export type NodeAnswer = Value<typeof nodeHealth>;
export type StatusAnswer = Value<typeof statusAnswer>;
export type Stray = Value<typeof stray>;
/** Numbers for which no job of any user is kept. */
export type MissingJobs = NonNullable<JobsAnswer["missing"]>[number];
export type EventsAnswer = Value<typeof eventsAnswer>;
export type Event = Value<typeof event>;
export type RefusalAnswer = Value<typeof refusalAnswer>;
