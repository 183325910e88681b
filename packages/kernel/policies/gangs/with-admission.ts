/**
 * Adds an admission queue (admission.ts) to a gang policy: as parameters, and for machines that have limits
 * themselves.
 */

import { InputError } from "../../core/errors.ts";
import { choice, integer } from "../../core/parameters.ts";
import {
  type Condition,
  type GangPolicyDefinition,
  type Guarantees,
  type MemoryRule,
  NONE,
  type ParameterSpec,
  type ParameterValues,
  type Rule,
  setNumber,
  when,
} from "../../core/policy.ts";
import { ORDER_PARAMETER } from "../queue-order.ts";
import { Admission, queryable } from "./admission.ts";

const KB_PER_MB = 1024;

const QUEUES = ["fcfs", "first-fit", "easy"] as const;

const ROWS = integer(
  "rows",
  { min: 1, max: 1_000_000, default: NONE, noneFrom: 0 },
  "maximum number of rows in the matrix; 1 is space sharing",
);
const QUEUE = choice(
  "queue",
  QUEUES,
  "which jobs are admitted from the queue in front of the matrix; without a limit no job waits",
);
const MEMORY: readonly ParameterSpec[] = [
  integer(
    "memory",
    { min: 1, max: 1_000_000_000, default: NONE, noneFrom: 0, unit: "MB" },
    "memory of each processor, in MB of 1024 KB",
  ),
  integer(
    "jobMemory",
    { min: 0, max: 1_000_000_000, default: 0, unit: "MB" },
    "memory per processor of a job whose memory the workload does not state",
  ),
];

const limited: Condition = (parameters) =>
  rowLimit(parameters) !== undefined || memoryRule(parameters) !== undefined;
const limitedBy =
  (queue: string): Condition =>
  (parameters) =>
    limited(parameters) && parameters.queue === queue;

const NOBODY_WAITS: Rule = {
  when: (parameters) => !limited(parameters),
  text: "no job waits: every arrival is placed at once",
  isInherited: true,
};

/** Rules that hold with a limit. @param asks as in `MatrixUse` */
function admissionRules(asks: boolean): readonly Rule[] {
  return [
    ...when(limited, [
      "with a limit on rows or memory, jobs wait in a queue in front of the matrix, in queueOrder",
      "the policy places each admitted job by itself, as if it had just arrived",
      "the head of the queue is admitted as soon as the policy can place it within the limits",
    ]),
    ...when(limitedBy("fcfs"), ["queue=fcfs: no job passes the head"]),
    ...when(limitedBy("first-fit"), [
      "queue=first-fit: the rest of the queue is searched once, in order, and every job that can be placed is admitted",
    ]),
    ...when(limitedBy("easy"), [
      "queue=easy: a head that cannot be placed holds a reservation at the shadow time",
      "queue=easy: other jobs are admitted, in order, if they do not delay that reservation",
      "queue=easy: the expected end of a job in the matrix assumes one slot in every `rows` slots until it has had all slots of its estimate",
      "queue=easy: for expected ends, a slot takes slotS + switchS (slotS with rows=1), and without a limit on rows, `rows` is one more than the present number of rows",
      "queue=easy: the shadow time is the first time at which, by the expected ends, a block of the head's size is free",
      asks
        ? "queue=easy: a job does not delay the reservation if its expected end is no later than the shadow time, or if each of its processors in the reserved block has a slot (and memory) to spare for it at that time"
        : "queue=easy: a job does not delay the reservation if its expected end is no later than the shadow time; jobs with later ends are not admitted, because the policy chooses their processors itself",
      "queue=easy: with more than one row, the shadow time is a forecast and not a promise, because re-packing, and rows that are added or deleted within a round, can cost a job a slot",
    ]),
    ...when(
      (parameters) => memoryRule(parameters) !== undefined,
      [
        "memory: all jobs in the matrix keep their memory on their processors, even while another row runs",
        "memory: on each processor, the sum stays within the limit",
        "memory: a job's memory per processor is what it requested, else what it used, else jobMemory",
        "memory: a job that needs more than the limit counts as needing exactly the limit",
      ],
    ),
  ].map((rule) => ({ ...rule, isInherited: true }));
}

interface AdmissionUse {
  /** Whether limits are parameters of the policy. It respects the limits of the machine in any case. */
  readonly parameters: boolean;
  /**
   * Whether it asks where a job may begin (`MatrixUse.asks`). Memory per processor can be limited only then.
   */
  readonly asks: boolean;
  /** If nothing can be limited with these parameters: the setting and the reason. */
  readonly refuses?: (parameters: ParameterValues) => readonly [string, string] | undefined;
}

/** Puts an admission queue in front of the gang policy. Without limits, the policy runs without the queue. */
export function withAdmission(inner: GangPolicyDefinition, use: AdmissionUse): GangPolicyDefinition {
  const { asks, refuses } = use;
  const order = { ...ORDER_PARAMETER, name: "queueOrder" };
  const own = use.parameters ? [ROWS, QUEUE, order, ...(asks ? MEMORY : [])] : [];
  return {
    ...inner,
    isAdmitted: true,
    capabilities: { ...inner.capabilities, withdraw: true },
    // Resources limit which jobs are in the matrix, as rows do. Outages limit where a job may begin, as
    // memory does.
    copesWith: (parameters) => {
      const own = limited(parameters) ? [] : (inner.copesWith?.(parameters) ?? []);
      const canBe = (limit: ParameterValues) => refuses?.({ ...parameters, ...limit }) === undefined;
      if (!canBe({ rows: 1 })) return own;
      return [
        ...own,
        ...(asks && canBe({ memory: 1 }) ? (["outages", "resources"] as const) : (["resources"] as const)),
      ];
    },
    rules: [...inner.rules, NOBODY_WAITS, ...(use.parameters ? admissionRules(asks) : [])],
    parameters: [...inner.parameters, ...own],
    guarantees: (parameters) => admissionGuarantees(inner.guarantees(parameters), parameters),
    make: (machine, jobs, parameters) => {
      const { limits } = machine;
      const [setting, reason] = (limited(parameters) ? refuses?.(parameters) : undefined) ?? [];
      if (setting !== undefined) {
        throw new InputError(
          `Cannot limit rows or memory with "${setting}": ${reason}; leave out the limit or choose another setting`,
        );
      }
      const gangs = inner.make(machine, jobs, parameters);
      if (!limited(parameters) && limits === undefined) return gangs;
      return new Admission(machine, jobs, queryable(gangs, machine, jobs), {
        maxRows: rowLimit(parameters) ?? limits?.maxRows ?? Number.POSITIVE_INFINITY,
        memory: memoryRule(parameters),
        queue: parameters.queue,
        order: parameters.queueOrder,
      });
    },
  };
}

function rowLimit(parameters: ParameterValues): number | undefined {
  return setNumber(parameters.rows);
}

function memoryRule(parameters: ParameterValues): MemoryRule | undefined {
  const limitMB = setNumber(parameters.memory);
  if (limitMB === undefined) return undefined;
  return { limitKB: KB_PER_MB * limitMB, unknownKB: KB_PER_MB * Number(parameters.jobMemory ?? 0) };
}

function admissionGuarantees(inner: Guarantees, parameters: ParameterValues): Guarantees {
  const maxRows = rowLimit(parameters);
  const memory = memoryRule(parameters);
  if (maxRows === undefined && memory === undefined) return inner;
  return {
    headNeverFits: true,
    workConserving: parameters.queue === "first-fit",
    // With one row, nothing can cost a job its turn. In order of arrival, no other job can become the head.
    keepsPromises: maxRows === 1 && (parameters.queueOrder ?? "arrival") === "arrival",
    maxRows,
    memory,
  };
}
