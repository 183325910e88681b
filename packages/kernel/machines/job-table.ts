/**
 * Holds the jobs as a policy sees them (core/jobs.ts). The driver of the policy fills a job's cells when the
 * job arrives. Every policy gets its own copy, so a policy that writes here misleads only itself.
 *
 * Most policies use only sizes and times. Each of the other columns is created when it is first read, and
 * then filled for the jobs that have arrived.
 */
import { type JobIndex, type JobsView, type ShareView, UNKNOWN } from "../core/jobs.ts";
import { grown } from "../structures/grow.ts";

const FIRST_CAPACITY = 64;
/** A large factor, because unwritten rows cost almost nothing, but copies do. */
const GROWTH = 4;

type Integers = Int32Array<ArrayBuffer>;
type Doubles = Float64Array<ArrayBuffer>;
type Group<Names extends string> = Record<Names, Integers> | undefined;

/** Which columns there are besides size and times. */
interface KnownColumns {
  readonly shape: boolean;
  readonly memory: boolean;
  readonly origin: boolean;
  /** Number of kinds of resources. */
  readonly kinds?: number | undefined;
  readonly molding?: boolean;
}

/** The columns that are created when one of them is first read. */
export interface JobDetails {
  memoryKB: Doubles | undefined;
  readonly shape: Group<"processes" | "threads" | "queue">;
  readonly origin: Group<"user" | "group" | "queue" | "application">;
  /** One column per kind of resource. */
  readonly demand: Integers[];
  readonly molding: (Record<"minSize" | "maxSize", Integers> & { serialShare: Doubles }) | undefined;
}

export class JobTable implements JobsView {
  capacity = FIRST_CAPACITY;
  size: Integers = new Int32Array(FIRST_CAPACITY);
  submitS = new Float64Array(FIRST_CAPACITY);
  estimateS = new Float64Array(FIRST_CAPACITY);
  /** Set by the driver of the policy. */
  shares: ShareView | undefined;
  readonly #known: KnownColumns;
  readonly #fill: (details: JobDetails) => void;
  #details: JobDetails | undefined;

  /**
   * @param fill called once, when the other columns are first read: fills them for the jobs that have arrived
   */
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

  /** Makes room for the row of an arriving job. Returns the other columns if they exist. */
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
