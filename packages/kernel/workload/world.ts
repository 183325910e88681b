/**
 * The world of a scheduler: a machine with its jobs, and what happens to both besides submits and ends, in
 * the form of core/workload-events.ts. Events are applied in order of time, and a workload comes out:
 *
 *   jobs and events of a file (traces/jsonl.ts)  ──┐
 *                                                  ├─▶ World ── apply(event) … end() ──▶ prepare
 *   jobs and windows of a live scheduler, now    ──┘
 */
import { InputError } from "../core/errors.ts";
import type { Drain, Outage, Stop, Withdrawal } from "../core/interruptions.ts";
import { type JobNotes, MAX_INT32, type Workload } from "../core/jobs.ts";
import type { WorkloadEvent } from "../core/workload-events.ts";
import { JobsInWindows, type WindowedJob } from "./windows.ts";

/** Windows and changes of capacity are compared with each other, so there is a limit. */
const MOST_OUTAGES = 10_000;
const NEVER = Number.POSITIVE_INFINITY;

/** What is wrong or inexact about an event; see JSONL_RULES. */
type WorldCode =
  | "no-such-job"
  | "event-twice"
  | "event-without-begin"
  | "bad-needed-field"
  | "never-ends"
  | "capacity-above"
  | "policy-change"
  | "reserved-window"
  | "window-too-large";

type Note = (code: WorldCode, event: WorkloadEvent, field: string, value: unknown) => undefined;

interface WorldOptions {
  /** The row of a job, of the attempt that an event at a time is about; undefined: there is none. */
  readonly rowOf?: (job: number, atS: number) => number | undefined;
  readonly note?: Note;
  /** Number of jobs that run at the instant 0, in the first rows. Windows do not concern them. */
  readonly running?: number;
}

/** What has begun and not ended. */
interface Open<Event extends WorkloadEvent = WorkloadEvent> {
  readonly event: Event;
  readonly fromS: number;
}

type OfJob = Extract<WorkloadEvent, { job: number }>;
type Of<Kind extends WorkloadEvent["event"]> = Extract<WorkloadEvent, { event: Kind }>;

/** A window with its place in time. */
interface Placed {
  readonly window: Of<"window">;
  /** When it ends, or is removed. */
  endS: number;
}

export class World {
  readonly #workload: Workload;
  readonly #rowOf: NonNullable<WorldOptions["rowOf"]>;
  readonly #note: Note;
  readonly #applied: WorkloadEvent[] = [];
  readonly #interruptions = {
    outages: [] as Outage[],
    stops: [] as Stop[],
    freezes: [] as Stop[],
    drains: [] as Drain[],
    withdrawals: [] as Withdrawal[],
  };
  readonly #pauses = new Map<number, Open<Of<"pause">>>();
  readonly #holds = new Map<number, Open>();
  /** Tasks and threads of jobs that were edited. */
  readonly #shapes = new Map<number, { readonly tasks: number; readonly threads: number }>();
  /** Of jobs that wait for a begin that they got in the queue: its place in the list of withdrawals. */
  readonly #begins = new Map<number, number>();
  #drain: Open | undefined;
  /** The present number of processors, if it is not that of the machine. */
  #capacity: Open<Of<"capacity">> | undefined;
  readonly #windows: Placed[] = [];
  readonly #inWindows: JobsInWindows;

  /** @param workload the machine and the jobs, without interruptions */
  constructor(
    workload: Workload,
    { rowOf = () => undefined, note = () => undefined, running = 0 }: WorldOptions = {},
  ) {
    this.#workload = workload;
    this.#rowOf = rowOf;
    this.#note = note;
    const { count, jobs, notes = [] } = workload;
    this.#inWindows = new JobsInWindows(running, count, (row) =>
      windowedJob(notes[row] ?? {}, jobs.submitS[row]),
    );
  }

  /**
   * Returns whether the event can be used. Windows of processors and changes of capacity need a machine whose
   * number of processors is known.
   * @throws InputError if there are too many windows and changes of capacity
   */
  apply(event: WorkloadEvent): boolean {
    const isUsed = this.#take(event);
    if (isUsed) this.#applied.push(event);
    return isUsed;
  }

  /** Called once: the jobs and the machine with all that happens to them. What is still open never ends. */
  end(): Workload {
    for (const [row, { event }] of [...this.#pauses]) {
      this.#note("never-ends", event, "event", "pause");
      this.#endPause(row, NEVER);
    }
    for (const [row, { event }] of [...this.#holds]) {
      this.#note("never-ends", event, "event", "hold");
      this.#endHold(row, NEVER);
    }
    if (this.#drain !== undefined) {
      this.#note("never-ends", this.#drain.event, "event", "drain");
      this.#endDrain(NEVER);
    }
    this.#endCapacity(NEVER);
    for (const placed of this.#windows) if (!this.#isWhole(placed.window)) this.#place(placed);
    this.#interruptions.outages.sort((a, b) => a.fromS - b.fromS);
    const whole = this.#windows.filter(({ window }) => this.#isWhole(window));
    const windows = whole.map(({ window, endS }) => ({ ...window, endS }));
    for (const withdrawal of this.#inWindows.withdrawals(windows))
      this.#interruptions.withdrawals.push(withdrawal);
    const interruptions = this.#interruptions;
    return {
      ...this.#workload,
      ...(this.#applied.length > 0 && { events: this.#applied }),
      ...(Object.values(interruptions).some(({ length }) => length > 0) && { interruptions }),
    };
  }

  #take(event: WorkloadEvent): boolean {
    if ("job" in event) {
      const row = this.#rowOf(event.job, event.atS);
      if (row === undefined) return this.#refuse("no-such-job", event, "job", event.job);
      return this.#takeOfJob(event, row);
    }
    const { atS } = event;
    switch (event.event) {
      case "drain":
        if (this.#drain !== undefined) return this.#refuse("event-twice", event, "event", event.event);
        this.#drain = { event, fromS: atS };
        return true;
      case "undrain":
        if (this.#drain === undefined)
          return this.#refuse("event-without-begin", event, "event", event.event);
        this.#endDrain(atS);
        return true;
      case "window":
        this.#windows.push({ window: event, endS: event.untilS });
        return true;
      case "unreserve":
        return (
          this.#unreserve(event.name, atS) || this.#refuse("event-without-begin", event, "name", event.name)
        );
      case "capacity":
        this.#endCapacity(atS);
        this.#capacity = { event, fromS: atS };
        return true;
      case "policy":
        this.#note("policy-change", event, "policy", event.policy);
        return true;
    }
  }

  #isWhole({ processors = Number.POSITIVE_INFINITY, first = 0 }: Of<"window">): boolean {
    return first === 0 && processors >= (this.#workload.processors ?? 0);
  }

  #unreserve(name: string, atS: number): boolean {
    const placed = this.#windows.find(({ window, endS }) => window.name === name && endS > atS);
    if (placed !== undefined) placed.endS = atS;
    return placed !== undefined;
  }

  #takeOfJob(event: OfJob, row: number): boolean {
    const { atS, job } = event;
    switch (event.event) {
      case "pause":
        if (this.#pauses.has(row)) return this.#refuse("event-twice", event, "job", job);
        this.#pauses.set(row, { event, fromS: atS });
        return true;
      case "resume":
        return this.#endPause(row, atS) || this.#refuse("event-without-begin", event, "job", job);
      case "hold":
        if (this.#holds.has(row)) return this.#refuse("event-twice", event, "job", job);
        this.#holds.set(row, { event, fromS: atS });
        return true;
      case "release":
        return this.#endHold(row, atS) || this.#refuse("event-without-begin", event, "job", job);
      case "edit":
        return this.#edit(event, row);
      case "cancel":
        this.#interruptions.withdrawals.push({ job: row, fromS: atS, untilS: NEVER });
        return true;
    }
  }

  #edit(event: Of<"edit">, row: number): boolean {
    const { atS, set } = event;
    // Policies do not see names, so the job stays where it is.
    if (Object.keys(set).every((field) => field === "name")) return true;
    const before = this.#shapeOf(row);
    const { tasks = before.tasks, threads = before.threads, limitS, queue, use, priority } = set;
    if (tasks * threads > MAX_INT32) return this.#refuse("bad-needed-field", event, "tasks", tasks);
    this.#shapes.set(row, { tasks, threads });
    this.#inWindows.edit(row, atS, set);
    const hasShape = set.tasks !== undefined || set.threads !== undefined;
    this.#interruptions.withdrawals.push({
      job: row,
      fromS: atS,
      untilS: this.#beginOf(row, atS, set.beginS),
      change: {
        ...(hasShape && { size: tasks * threads }),
        ...(limitS !== undefined && { estimateS: limitS }),
        ...(priority !== undefined && { priority }),
        ...(queue !== undefined && { queue }),
        ...(use !== undefined && { use }),
      },
    });
    return true;
  }

  /** Tasks and threads that the job has now. */
  #shapeOf(row: number): { readonly tasks: number; readonly threads: number } {
    const { jobs, shape } = this.#workload;
    const threads = shape?.threads[row] ?? 1;
    return this.#shapes.get(row) ?? { tasks: jobs.size[row] / threads, threads };
  }

  /** Until when an edit keeps the job out of the queue. Its last begin counts. */
  #beginOf(row: number, atS: number, beginS: number | undefined): number {
    // A begin that was changed before the job arrived is already in its arrival.
    if (beginS === undefined || atS < this.#workload.jobs.submitS[row]) return atS;
    const earlier = this.#begins.get(row);
    if (earlier !== undefined) {
      const { untilS, ...withdrawal } = this.#interruptions.withdrawals[earlier];
      this.#interruptions.withdrawals[earlier] = { ...withdrawal, untilS: Math.min(untilS, atS) };
    }
    this.#begins.set(row, this.#interruptions.withdrawals.length);
    return Math.max(atS, beginS);
  }

  #endPause(row: number, untilS: number): boolean {
    const open = this.#pauses.get(row);
    if (open === undefined) return false;
    const { fromS, event } = open;
    if (untilS > fromS)
      (event.release ? this.#interruptions.stops : this.#interruptions.freezes).push({
        job: row,
        fromS,
        untilS,
      });
    return this.#pauses.delete(row);
  }

  #endHold(row: number, untilS: number): boolean {
    const open = this.#holds.get(row);
    if (open === undefined) return false;
    this.#interruptions.withdrawals.push({ job: row, fromS: open.fromS, untilS });
    return this.#holds.delete(row);
  }

  #endDrain(untilS: number): void {
    const { fromS } = this.#drain!;
    if (untilS > fromS) this.#interruptions.drains.push({ fromS, untilS });
    this.#drain = undefined;
  }

  #endCapacity(untilS: number): void {
    const open = this.#capacity;
    this.#capacity = undefined;
    if (open === undefined) return;
    const { event, fromS } = open;
    const { processors: first } = event;
    const missing = this.#workload.processors! - first;
    if (missing < 0) this.#note("capacity-above", event, "processors", first);
    if (missing <= 0 || untilS <= fromS) return;
    if (untilS === NEVER) this.#note("never-ends", event, "event", "capacity");
    this.#away({ first, processors: missing, fromS, untilS });
  }

  /** Takes the processors that the window names, or those with the highest numbers that are there. */
  #place({ window, endS: untilS }: Placed): void {
    const { atS, fromS, first, users, queues } = window;
    if (untilS <= fromS) return;
    const all = this.#workload.processors!;
    const processors = window.processors!;
    if (users !== undefined || queues !== undefined) {
      this.#note("reserved-window", window, "window", window.name ?? processors);
    }
    const isNamed = first !== undefined;
    const taken = this.#interruptions.outages
      .filter((other) => other.fromS < untilS && fromS < other.untilS)
      .map((other) => ({ first: other.first, end: other.first + other.processors }))
      .sort((a, b) => b.end - a.end);
    const lowest = isNamed ? first : 0;
    let end = isNamed ? Math.min(all, first + processors) : all;
    let missing = processors;
    for (const hole of [...taken, { first: -1, end: lowest }]) {
      const from = Math.max(hole.end, lowest, end - missing);
      if (from < end) {
        this.#away({ first: from, processors: end - from, fromS, untilS, announcedS: atS });
        missing -= end - from;
      }
      end = Math.min(end, Math.max(hole.first, 0));
      if (missing === 0) return;
    }
    this.#note("window-too-large", window, "processors", processors);
  }

  #away(outage: Outage): void {
    this.#interruptions.outages.push(outage);
    if (this.#interruptions.outages.length <= MOST_OUTAGES) return;
    throw new InputError(
      `Cannot use more than ${MOST_OUTAGES} windows and changes of capacity in a workload file`,
    );
  }

  #refuse(code: WorldCode, event: WorkloadEvent, field: string, value: unknown): false {
    this.#note(code, event, field, value);
    return false;
  }
}

/** A job without a limit may run forever, whatever its estimate is. */
function windowedJob({ limitS, user, queue }: JobNotes, arrivalS: number): WindowedJob {
  return {
    arrivalS,
    limitS: typeof limitS === "number" ? limitS : Number.POSITIVE_INFINITY,
    user: typeof user === "string" ? user : undefined,
    queue: typeof queue === "string" ? queue : undefined,
  };
}
