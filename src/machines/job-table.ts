/**
 * The jobs as a policy is shown them (core/jobs.ts). Who drives the policy fills a job's cells when the job arrives. It is a copy
 * made for one policy, so what a policy writes here misleads nobody but itself.
 *
 * Most policies look at sizes and times only. The other columns are made, and filled for the jobs that are there, when somebody
 * asks for one of them.
 */
import { type JobIndex, type JobsView, UNKNOWN } from "../core/jobs.ts";
import { grown } from "../structures/grow.ts";

const FIRST_CAPACITY = 64;
/** Rows that nobody has written yet cost next to nothing, copies do. */
const GROWTH = 4;

type Integers = Int32Array<ArrayBuffer>;
type Doubles = Float64Array<ArrayBuffer>;
type Group<Names extends string> = Record<Names, Integers> | undefined;

/** Which columns there are beside size and times. */
interface KnownColumns {
  readonly shape: boolean;
  readonly memory: boolean;
  readonly origin: boolean;
  /** Number of kinds of resources. */
  readonly kinds?: number | undefined;
  readonly molding?: boolean;
}

/** The columns that are made when they are asked for. */
export interface JobDetails {
  memoryKB: Doubles | undefined;
  readonly shape: Group<"processes" | "threads" | "queue">;
  readonly origin: Group<"user" | "group" | "queue" | "application">;
  /** By kind of resource. */
  readonly demand: Integers[];
  readonly molding: (Record<"minSize" | "maxSize", Integers> & { serialShare: Doubles }) | undefined;
}

export class JobTable implements JobsView {
  capacity = FIRST_CAPACITY;
  size: Integers = new Int32Array(FIRST_CAPACITY);
  submitS = new Float64Array(FIRST_CAPACITY);
  estimateS = new Float64Array(FIRST_CAPACITY);
  readonly #known: KnownColumns;
  readonly #fill: (details: JobDetails) => void;
  #details: JobDetails | undefined;

  /** @param fill called once, when the other columns are asked for: fills those of the jobs that have arrived */
  constructor(known: KnownColumns, fill: (details: JobDetails) => void = () => {}) {
    this.#known = known;
    this.#fill = fill;
  }

  get memoryKB(): JobDetails["memoryKB"] {
    return this.#ask().memoryKB;
  }

  get shape(): JobDetails["shape"] {
    return this.#ask().shape;
  }

  get origin(): JobDetails["origin"] {
    return this.#ask().origin;
  }

  get demand(): JobDetails["demand"] {
    return this.#ask().demand;
  }

  get molding(): JobDetails["molding"] {
    return this.#ask().molding;
  }

  /** Makes room for the row of a job that arrives. Returns the columns that it has, too, if anybody has asked for them. */
  reserve(job: JobIndex): JobDetails | undefined {
    while (job >= this.capacity) this.#grow();
    return this.#details;
  }

  #ask(): JobDetails {
    if (this.#details !== undefined) return this.#details;
    const { shape, memory, origin, kinds, molding } = this.#known;
    const column = () => new Int32Array(this.capacity).fill(UNKNOWN);
    this.#details = {
      memoryKB: memory ? new Float64Array(this.capacity).fill(UNKNOWN) : undefined,
      shape: shape ? { processes: column(), threads: column(), queue: column() } : undefined,
      origin: origin
        ? { user: column(), group: column(), queue: column(), application: column() }
        : undefined,
      demand: Array.from({ length: kinds ?? 0 }, column),
      molding: molding
        ? { minSize: column(), maxSize: column(), serialShare: new Float64Array(this.capacity) }
        : undefined,
    };
    this.#fill(this.#details);
    return this.#details;
  }

  #grow(): void {
    this.capacity *= GROWTH;
    const { capacity } = this;
    this.size = grown(this.size, capacity, 0);
    this.submitS = grown(this.submitS, capacity, 0);
    this.estimateS = grown(this.estimateS, capacity, 0);
    const details = this.#details;
    if (details === undefined) return;
    if (details.memoryKB !== undefined) details.memoryKB = grown(details.memoryKB, capacity, UNKNOWN);
    const { shape, origin, demand, molding } = details;
    for (const group of [shape, origin, demand, molding] as readonly Group<string>[]) {
      for (const name in group) group[name] = grown(group[name], capacity, UNKNOWN);
    }
  }
}
