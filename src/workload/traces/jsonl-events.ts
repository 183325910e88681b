/** Turns the events of a workload file into interruptions, as the simulator has them. */
import { InputError } from "../../core/errors.ts";
import type { Drain, Outage, Stop, Withdrawal } from "../../core/interruptions.ts";
import type { WorkloadEvent } from "../../core/workload-events.ts";
import { MAX_INT32 } from "./jsonl-fields.ts";
import type { JsonlCode } from "./jsonl-rules.ts";
import { JobsInWindows, type WindowedJob } from "./jsonl-windows.ts";

/** Windows and changes of capacity are compared with each other, so there is a limit. */
const MOST_OUTAGES = 10_000;
const NEVER = Number.POSITIVE_INFINITY;

export interface LineEvent {
  readonly line: number;
  readonly event: WorkloadEvent;
}

interface FileJobs {
  readonly count: number;
  /** The row of a job, of the attempt that an event at a time is about; undefined: there is none. */
  readonly rowOf: (job: number, atS: number) => number | undefined;
  readonly arrivalOf: (row: number) => number;
  readonly tasksOf: (row: number) => number;
  readonly threadsOf: (row: number) => number;
  readonly windowedOf: (row: number) => WindowedJob;
  /** Processors of the machine, if the file states them. */
  readonly processors: number | undefined;
}

type Note = (code: JsonlCode, line: number, field: string, value: unknown) => undefined;

/** What has begun and not ended. */
interface Open {
  readonly line: number;
  readonly fromS: number;
}

type OfJob = Extract<WorkloadEvent, { job: number }>;
type Window = Extract<WorkloadEvent, { event: "window" }>;

/** A window in a line of the file. */
interface Placed {
  readonly line: number;
  readonly window: Window;
  /** When it ends, or is removed. */
  endS: number;
}

/** Takes the events in order of time. */
export class EventReader {
  readonly outages: Outage[] = [];
  readonly stops: Stop[] = [];
  readonly freezes: Stop[] = [];
  readonly drains: Drain[] = [];
  readonly withdrawals: Withdrawal[] = [];
  readonly #jobs: FileJobs;
  readonly #note: Note;
  readonly #pauses = new Map<number, Open & { readonly release: boolean }>();
  readonly #holds = new Map<number, Open>();
  /** Tasks and threads of jobs that were edited. */
  readonly #shapes = new Map<number, { readonly tasks: number; readonly threads: number }>();
  /** Of jobs that wait for a begin that they got in the queue: its place in the list of withdrawals. */
  readonly #begins = new Map<number, number>();
  #drain: Open | undefined;
  /** The present number of processors, if it is not that of the first line. */
  #capacity: (Open & { readonly processors: number }) | undefined;
  readonly #windows: Placed[] = [];
  readonly #inWindows: JobsInWindows;

  constructor(jobs: FileJobs, note: Note) {
    this.#jobs = jobs;
    this.#note = note;
    this.#inWindows = new JobsInWindows(jobs.count, jobs.windowedOf);
  }

  /**
   * Returns whether the event can be used.
   * @throws InputError if there are too many windows and changes of capacity, or if these need the number of
   *   processors and the file does not state it
   */
  take({ line, event }: LineEvent): boolean {
    if ("job" in event) {
      const row = this.#jobs.rowOf(event.job, event.atS);
      if (row === undefined) return this.#refuse("no-such-job", line, "job", event.job);
      return this.#takeOfJob(line, event, row);
    }
    const { atS } = event;
    switch (event.event) {
      case "drain":
        if (this.#drain !== undefined) return this.#refuse("event-twice", line, "event", event.event);
        this.#drain = { line, fromS: atS };
        return true;
      case "undrain":
        if (this.#drain === undefined) return this.#refuse("event-without-begin", line, "event", event.event);
        this.#endDrain(atS);
        return true;
      case "window":
        if (event.processors !== undefined) this.#requireProcessors(line);
        this.#windows.push({ line, window: event, endS: event.untilS });
        return true;
      case "unreserve":
        return (
          this.#unreserve(event.name, atS) || this.#refuse("event-without-begin", line, "name", event.name)
        );
      case "capacity":
        this.#requireProcessors(line);
        this.#endCapacity(atS);
        this.#capacity = { line, fromS: atS, processors: event.processors };
        return true;
      case "policy":
        this.#note("policy-change", line, "policy", event.policy);
        return true;
    }
  }

  /** Ends what is still open, and gives the windows their processors. */
  end(): void {
    for (const [row, { line }] of [...this.#pauses]) {
      this.#note("never-ends", line, "event", "pause");
      this.#endPause(row, NEVER);
    }
    for (const [row, { line }] of [...this.#holds]) {
      this.#note("never-ends", line, "event", "hold");
      this.#endHold(row, NEVER);
    }
    if (this.#drain !== undefined) {
      this.#note("never-ends", this.#drain.line, "event", "drain");
      this.#endDrain(NEVER);
    }
    this.#endCapacity(NEVER);
    for (const placed of this.#windows) if (!this.#isWhole(placed.window)) this.#place(placed);
    this.outages.sort((a, b) => a.fromS - b.fromS);
    const whole = this.#windows.filter(({ window }) => this.#isWhole(window));
    const windows = whole.map(({ window, endS }) => ({ ...window, endS }));
    for (const withdrawal of this.#inWindows.withdrawals(windows)) this.withdrawals.push(withdrawal);
  }

  #isWhole({ processors = Number.POSITIVE_INFINITY, first = 0 }: Window): boolean {
    return first === 0 && processors >= (this.#jobs.processors ?? 0);
  }

  #unreserve(name: string, atS: number): boolean {
    const placed = this.#windows.find(({ window, endS }) => window.name === name && endS > atS);
    if (placed !== undefined) placed.endS = atS;
    return placed !== undefined;
  }

  #takeOfJob(line: number, event: OfJob, row: number): boolean {
    const { atS, job } = event;
    switch (event.event) {
      case "pause":
        if (this.#pauses.has(row)) return this.#refuse("event-twice", line, "job", job);
        this.#pauses.set(row, { line, fromS: atS, release: event.release === true });
        return true;
      case "resume":
        return this.#endPause(row, atS) || this.#refuse("event-without-begin", line, "job", job);
      case "hold":
        if (this.#holds.has(row)) return this.#refuse("event-twice", line, "job", job);
        this.#holds.set(row, { line, fromS: atS });
        return true;
      case "release":
        return this.#endHold(row, atS) || this.#refuse("event-without-begin", line, "job", job);
      case "edit":
        return this.#edit(line, event, row);
      case "cancel":
        this.withdrawals.push({ job: row, fromS: atS, untilS: NEVER });
        return true;
    }
  }

  #edit(line: number, { atS, set }: Extract<WorkloadEvent, { event: "edit" }>, row: number): boolean {
    // Policies do not see names, so the job stays where it is.
    if (Object.keys(set).every((field) => field === "name")) return true;
    const { tasksOf, threadsOf } = this.#jobs;
    const before = this.#shapes.get(row) ?? { tasks: tasksOf(row), threads: threadsOf(row) };
    const { tasks = before.tasks, threads = before.threads, limitS, queue, use, priority } = set;
    if (tasks * threads > MAX_INT32) return this.#refuse("bad-needed-field", line, "tasks", tasks);
    this.#shapes.set(row, { tasks, threads });
    this.#inWindows.edit(row, atS, set);
    const hasShape = set.tasks !== undefined || set.threads !== undefined;
    this.withdrawals.push({
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

  /** Until when an edit keeps the job out of the queue. Its last begin counts. */
  #beginOf(row: number, atS: number, beginS: number | undefined): number {
    // Before its arrival, the reader of the jobs has moved that.
    if (beginS === undefined || atS < this.#jobs.arrivalOf(row)) return atS;
    const earlier = this.#begins.get(row);
    if (earlier !== undefined) {
      const { untilS, ...withdrawal } = this.withdrawals[earlier];
      this.withdrawals[earlier] = { ...withdrawal, untilS: Math.min(untilS, atS) };
    }
    this.#begins.set(row, this.withdrawals.length);
    return Math.max(atS, beginS);
  }

  #endPause(row: number, untilS: number): boolean {
    const open = this.#pauses.get(row);
    if (open === undefined) return false;
    const { fromS, release } = open;
    if (untilS > fromS) (release ? this.stops : this.freezes).push({ job: row, fromS, untilS });
    return this.#pauses.delete(row);
  }

  #endHold(row: number, untilS: number): boolean {
    const open = this.#holds.get(row);
    if (open === undefined) return false;
    this.withdrawals.push({ job: row, fromS: open.fromS, untilS });
    return this.#holds.delete(row);
  }

  #endDrain(untilS: number): void {
    const { fromS } = this.#drain!;
    if (untilS > fromS) this.drains.push({ fromS, untilS });
    this.#drain = undefined;
  }

  #endCapacity(untilS: number): void {
    const open = this.#capacity;
    this.#capacity = undefined;
    if (open === undefined) return;
    const { line, fromS, processors: first } = open;
    const missing = this.#jobs.processors! - first;
    if (missing < 0) this.#note("capacity-above", line, "processors", first);
    if (missing <= 0 || untilS <= fromS) return;
    if (untilS === NEVER) this.#note("never-ends", line, "event", "capacity");
    this.#away({ first, processors: missing, fromS, untilS });
  }

  /** Takes the processors that the window names, or those with the highest numbers that are there. */
  #place({ line, window, endS: untilS }: Placed): void {
    const { atS, fromS, first, users, queues } = window;
    if (untilS <= fromS) return;
    const all = this.#jobs.processors!;
    const processors = window.processors!;
    if (users !== undefined || queues !== undefined) {
      this.#note("reserved-window", line, "window", window.name ?? processors);
    }
    const isNamed = first !== undefined;
    const taken = this.outages
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
    this.#note("window-too-large", line, "processors", processors);
  }

  #away(outage: Outage): void {
    this.outages.push(outage);
    if (this.outages.length <= MOST_OUTAGES) return;
    throw new InputError(
      `Cannot use more than ${MOST_OUTAGES} windows and changes of capacity in a workload file`,
    );
  }

  #requireProcessors(line: number): void {
    if (this.#jobs.processors !== undefined) return;
    throw new InputError(
      `Cannot use the event in line ${line}: the first line does not state the processors of the machine, expected such as "processors":16`,
    );
  }

  #refuse(code: JsonlCode, line: number, field: string, value: unknown): false {
    this.#note(code, line, field, value);
    return false;
  }
}
