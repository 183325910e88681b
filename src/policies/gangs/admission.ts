/**
 * Admission in front of a gang policy: at most m rows (a multiprogramming level) and at most so much memory per processor, with a
 * queue of jobs that wait outside the matrix. One row is space sharing, unlimited rows are plain gang scheduling; this gives
 * everything between.
 *
 *   arrivals ──▶ queue ──▶ │ gang policy: rows 1 … m │      which waiting job is let in: first come, first served, first fit or
 *                          └─────────────────────────┘      EASY, in any queue order
 *
 * The gang policy is any of them, unchanged: it is told of a job's arrival when the job is let in. A row limit is the multiprogramming level
 * of Feitelson and Jette (JSSPP 1997); the memory limit is the future work of Zhou, Walsh and Brent 2000, section 5.
 */
import { type JobIndex, type JobsView, NO_JOB } from "../../core/jobs.ts";
import {
  type Condition,
  type GangMachine,
  type GangPolicyDefinition,
  type Guarantees,
  type MemoryRule,
  NONE,
  type ParameterSpec,
  type ParameterValues,
  type PlacementLimits,
  type Policy,
  type Rule,
  setNumber,
} from "../../core/policy.ts";
import { ORDER_PARAMETER, WaitingQueue } from "../queue-order.ts";
import { HeadForecast } from "./head-forecast.ts";
import { MatrixRoom, type MatrixUse } from "./matrix-room.ts";

class Admission implements Policy, PlacementLimits {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #inner: Policy;
  readonly #room: MatrixRoom;
  readonly #queue: WaitingQueue;
  readonly #passes: "nobody" | "fitting" | "harmless";
  readonly #forecast: HeadForecast;
  readonly #mayHold = (job: JobIndex, first: number) => this.mayHold(job, first);
  /** The reservation of a head stands, and jobs that would delay it are not let in. */
  #isReserved = false;
  /** Expected end of the job that is tried. */
  #triedEndS = 0;
  #hasDecided = true;
  readonly #noRoom = new Refusals();
  /** Refusals of jobs that are not gone by the shadow time. */
  readonly #noRoomForLong = new Refusals();

  constructor(
    machine: GangMachine,
    jobs: JobsView,
    parameters: ParameterValues,
    room: MatrixRoom,
    makeInner: (limits: PlacementLimits) => Policy,
  ) {
    this.#machine = machine;
    this.#jobs = jobs;
    this.#room = room;
    this.#queue = new WaitingQueue(jobs, { order: parameters.queueOrder ?? "arrival" });
    this.#passes =
      parameters.queue === "easy" ? "harmless" : parameters.queue === "first-fit" ? "fitting" : "nobody";
    this.#forecast = new HeadForecast(machine, jobs, room);
    this.#inner = makeInner(this);
  }

  depart(job: JobIndex): void {
    this.#room.remove(job);
    this.#inner.depart(job);
    this.#hasDecided = false;
  }

  decide(arrived: readonly JobIndex[]): void {
    for (const job of arrived) this.#queue.add(job);
    this.#queue.update(this.#machine.nowS);
    const list = this.#queue.list;
    this.#isReserved = false;
    let head = list.first();
    while (head !== NO_JOB && this.#room.hasRoom(head, this.#mayHold)) {
      list.removeFirst();
      this.#letIn(head);
      head = list.first();
    }
    if (head !== NO_JOB && list.length > 1 && this.#passes === "fitting") this.#letPass();
    if (head !== NO_JOB && this.#passes === "harmless") {
      this.#forecast.reserve(head);
      this.#machine.promise?.(head, this.#forecast.shadowS);
      this.#isReserved = true;
      if (list.length > 1) this.#letPass();
      this.#isReserved = false;
    }
    // After departures the gang policy has rows to save even when nobody is let in.
    if (!this.#hasDecided) this.#decideInner();
  }

  /** Asked by the gang policy, too: memory, and whether the head's reservation would be delayed. */
  mayHold(job: JobIndex, first: number): boolean {
    return (
      this.#room.hasMemory(job, first) &&
      (!this.#isReserved || this.#forecast.allows(job, this.#triedEndS, first))
    );
  }

  /** Lets in jobs behind the head. */
  #letPass(): void {
    const count = this.#queue.copyInOrder();
    const queue = this.#queue.inOrder;
    this.#noRoom.clear();
    this.#noRoomForLong.clear();
    for (let i = 1; i < count; i++) {
      const job = queue[i];
      const size = this.#jobs.size[job];
      const memoryKB = this.#room.memoryOf(job);
      if (this.#noRoom.covers(size, memoryKB)) continue;
      if (this.#isReserved) this.#triedEndS = this.#forecast.expectedEndS(job, false);
      // A policy that does not ask where it may place a job can take only those that are gone in time.
      const inTime = !this.#isReserved || this.#triedEndS <= this.#forecast.shadowS;
      if (!inTime && (!this.#room.use.asks || this.#noRoomForLong.covers(size, memoryKB))) continue;
      if (this.#room.hasRoom(job, this.#mayHold)) {
        this.#queue.remove(job);
        this.#letIn(job);
        if (this.#isReserved) this.#forecast.passed(job, this.#triedEndS);
      } else (inTime ? this.#noRoom : this.#noRoomForLong).note(size, memoryKB);
    }
  }

  #letIn(job: JobIndex): void {
    this.#inner.decide([job]);
    this.#hasDecided = true;
    this.#room.add(job);
    this.#room.noteExtraSlots();
  }

  #decideInner(): void {
    this.#inner.decide([]);
    this.#hasDecided = true;
    this.#room.noteExtraSlots();
  }
}

/**
 * Jobs that had no room in one pass over the queue. In that pass room only shrinks, and where a job has room a smaller one that needs
 * no more memory has room, too; so what is at least as large as a refused one in both is not tried.
 */
class Refusals {
  readonly #sizes: number[] = [];
  readonly #memoryKB: number[] = [];

  clear(): void {
    this.#sizes.length = 0;
    this.#memoryKB.length = 0;
  }

  covers(size: number, memoryKB: number): boolean {
    for (let i = 0; i < this.#sizes.length; i++)
      if (this.#sizes[i] <= size && this.#memoryKB[i] <= memoryKB) return true;
    return false;
  }

  /** Notes a refusal that is not covered; those that it covers are forgotten. */
  note(size: number, memoryKB: number): void {
    let kept = 0;
    for (let i = 0; i < this.#sizes.length; i++) {
      if (this.#sizes[i] >= size && this.#memoryKB[i] >= memoryKB) continue;
      this.#sizes[kept] = this.#sizes[i];
      this.#memoryKB[kept++] = this.#memoryKB[i];
    }
    this.#sizes.length = kept;
    this.#memoryKB.length = kept;
    this.#sizes.push(size);
    this.#memoryKB.push(memoryKB);
  }
}

const KB_PER_MB = 1024;

const QUEUES = ["fcfs", "first-fit", "easy"] as const;

const ROWS: ParameterSpec = {
  name: "rows",
  kind: "integer",
  min: 1,
  max: 1_000_000,
  default: NONE,
  noneFrom: 0,
  description: "most rows of the matrix; 1 is space sharing",
};
const QUEUE: ParameterSpec = {
  name: "queue",
  kind: "choice",
  choices: QUEUES,
  default: "fcfs",
  description: "who is let in from the queue in front of the matrix; nobody waits without a limit",
};
const MEMORY: readonly ParameterSpec[] = [
  {
    name: "memory",
    kind: "integer",
    min: 1,
    max: 1_000_000_000,
    default: NONE,
    noneFrom: 0,
    unit: "MB",
    description: "memory of each processor in MB of 1024 KB",
  },
  {
    name: "jobMemory",
    kind: "integer",
    min: 0,
    max: 1_000_000_000,
    default: 0,
    unit: "MB",
    description: "memory per processor of a job of which the workload tells none",
  },
];

/** The parameters of an admission queue; memory where the policy can be told of it. */
function admissionParameters(use: MatrixUse): readonly ParameterSpec[] {
  return [ROWS, QUEUE, { ...ORDER_PARAMETER, name: "queueOrder" }, ...(use.asks ? MEMORY : [])];
}

const limited: Condition = (parameters) =>
  rowLimit(parameters) !== undefined || memoryRule(parameters) !== undefined;
const limitedBy =
  (queue: string): Condition =>
  (parameters) =>
    limited(parameters) && parameters.queue === queue;

export const NOBODY_WAITS: Rule = {
  when: (parameters) => !limited(parameters),
  text: "nobody waits: every arrival is placed at once",
};

/** Sentences that hold with a limit. @param asks whether the policy can be told of the limits */
function admissionRules(asks: boolean): readonly Rule[] {
  const harmless = asks
    ? "a job delays nothing if by the same rule it has ended by the shadow time, or if at the shadow time each of its processors that belong to the reserved block has a slot (and memory) left over for it"
    : "a job delays nothing if by the same rule it has ended by the shadow time (the policy chooses the processors itself, so later ends are not let in)";
  const memory: Condition = (parameters) => memoryRule(parameters) !== undefined;
  const memoryRules: readonly (readonly [Condition, string])[] = [
    [
      memory,
      "memory: all jobs of the matrix keep their memory on their processors, whether it is their turn or not; per processor the sum stays within the limit",
    ],
    [
      memory,
      "a job needs the memory it asked for per processor, else what it used, else jobMemory; one that needs more than the limit counts as the limit",
    ],
  ];
  const rules: readonly (readonly [Condition, string])[] = [
    [
      limited,
      "with a limit on rows or memory jobs wait in a queue in front of the matrix, in queueOrder; a job that is let in arrives at the policy, which then decides for it alone",
    ],
    [limited, "the head of the queue is let in as soon as the policy can place it without a row too many"],
    [limitedBy("fcfs"), "queue=fcfs: nobody passes the head"],
    [
      limitedBy("first-fit"),
      "queue=first-fit: the rest of the queue is searched once in order, and all that can be placed are let in",
    ],
    [
      limitedBy("easy"),
      "queue=easy: the head that cannot be placed holds a reservation at the shadow time; others are let in, in order, if they do not delay it",
    ],
    [
      limitedBy("easy"),
      "the shadow time is forecast by estimates: a job in the matrix gets one slot in every `rows` slots (each slotS + switchS long, slotS with one row; without a limit, one more than there are) until it has had all slots of its estimate; the head starts when by these ends a block of its size is free",
    ],
    [limitedBy("easy"), harmless],
    [
      limitedBy("easy"),
      "with more than one row the shadow time is a forecast, not a promise: rows that come and go within a round, and re-packing, can cost a job its turn",
    ],
  ];
  return [...rules, ...(asks ? memoryRules : [])].map(([when, text]) => ({ when, text, isInherited: true }));
}

/**
 * The gang policy with an admission queue in front of it, as further parameters. With their defaults it is the policy itself.
 * @param use how the policy uses the matrix, by its parameters
 */
export function withAdmission(
  inner: GangPolicyDefinition,
  use: (parameters: ParameterValues) => MatrixUse,
): GangPolicyDefinition {
  const defaults = Object.fromEntries(inner.parameters.map((spec) => [spec.name, spec.default]));
  const { asks } = use(defaults);
  return {
    ...inner,
    rules: [...inner.rules, NOBODY_WAITS, ...admissionRules(asks)],
    parameters: [...inner.parameters, ...admissionParameters(use(defaults))],
    guarantees: (parameters) => admissionGuarantees(inner.guarantees(parameters), parameters),
    make: (machine, jobs, parameters, limits) => {
      const maxRows = rowLimit(parameters);
      const memory = memoryRule(parameters);
      if (maxRows === undefined && memory === undefined) return inner.make(machine, jobs, parameters, limits);
      const room = new MatrixRoom(
        machine,
        jobs,
        use(parameters),
        maxRows ?? Number.POSITIVE_INFINITY,
        memory,
      );
      return new Admission(machine, jobs, parameters, room, (own) =>
        inner.make(machine, jobs, parameters, own),
      );
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
    // With one row nothing can cost a job its turn, and in order of arrival nobody takes the head's place.
    keepsPromises: maxRows === 1 && (parameters.queueOrder ?? "arrival") === "arrival",
    maxRows,
    memory,
  };
}
