/**
 * Reads workload files: JSON Lines with one line for each job and each event, after a first line about the
 * machine. `tutti export` writes them, and docs/workloads.md describes them.
 *
 *   {"schema":"tutti.workload-file/1","processors":16,"resources":{"gpu":4}}
 *   {"job":1,"submitS":0,"tasks":2,"threads":4,"runS":50,"limitS":60,"use":{"gpu":1},"user":"anna"}
 *   {"event":"drain","atS":30}
 *
 * A line that cannot be used is left out and counted, so a damaged file still gives its other jobs.
 */
import { DiagnosticCollector } from "../../core/diagnostics.ts";
import { InputError } from "../../core/errors.ts";
import { type JobNotes, MAX_INT32, UNKNOWN, type Workload } from "../../core/jobs.ts";
import type { Demand, ResourceKind } from "../../core/resources.ts";
import type { WorkloadEvent, WorkloadJob } from "../../core/workload-events.ts";
import { World } from "../world.ts";
import {
  areLimits,
  areShares,
  type Entry,
  isEntry,
  JOB_FIELDS,
  moldingOf,
  readEvent,
  type SizeFields,
  type Sizes,
  shown,
  sizesOf,
  WORKLOAD_SCHEMA,
} from "./jsonl-fields.ts";
import { JSONL_RULES, type JsonlCode } from "./jsonl-rules.ts";
import { Numbering, SWF_STATUS } from "./swf-numbers.ts";
import { finishColumns, makeColumns, resizeColumns, type SwfColumns } from "./swf-table.ts";

const LONGEST_LINE = 1 << 20;
const MOST_KINDS = 64;
const FIRST_CAPACITY = 1024;
const KB = 1024;
/** A line in which one of them is wrong is left out. */
const NEEDED_FIELDS = new Set(["submitS", "runS", "tasks", "threads"]);
/** Fields that the columns of a workload give back. */
const IN_COLUMNS = new Set("job submitS runS tasks threads use minTasks maxTasks serialShare".split(" "));

interface Machine {
  readonly processors: number | undefined;
  readonly resources: readonly ResourceKind[];
  readonly stated: Pick<Workload, "shares" | "limits">;
  /** The first line as it is in the file. */
  readonly text: string;
}

/** What a line says about a job that is not in a column of numbers. */
interface Details {
  readonly notes: JobNotes;
  readonly use: Readonly<Record<string, number>>;
  readonly threads: number;
  /** Undefined if the job runs only on its own size. */
  readonly sizes: Sizes | undefined;
  /** As in the file. */
  readonly number: unknown;
}

export class JsonlReader {
  readonly #name: string;
  readonly #decoder = new TextDecoder();
  readonly #diagnostics = new DiagnosticCollector<JsonlCode>(JSONL_RULES);
  readonly #columns: SwfColumns = makeColumns(FIRST_CAPACITY);
  readonly #details = new Map<number, Details>();
  readonly #events: WorkloadEvent[] = [];
  /** Their lines. */
  readonly #lines = new Map<WorkloadEvent, number>();
  readonly #users = new Numbering();
  readonly #queues = new Numbering();
  readonly #names = new Numbering();
  #machine: Machine | undefined;
  #hasThreads = false;
  #count = 0;
  #line = 0;
  #rest = "";
  /** Whether the beginning of the present line was dropped, because the line is too long. */
  #isCut = false;

  /** @param name shown in tables and messages: the file name without its folder */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Reads the next chunk.
   * @throws InputError if the first line is not that of a workload file, or if an event needs processors that
   *   it does not state
   */
  push(chunk: Uint8Array): void {
    this.#take(this.#decoder.decode(chunk, { stream: true }));
  }

  /**
   * Ends the reading; without a usable job the workload has 0 jobs.
   * @throws InputError as `push`, or if there are too many events of some kinds
   */
  end(): Workload {
    this.#take(this.#decoder.decode());
    if (this.#rest !== "" || this.#isCut) this.#endLine(this.#rest);
    this.#rest = "";
    const machine = this.#machine;
    if (machine === undefined) throw this.#unreadable("it is empty");
    const columns = this.#columns;
    this.#events.sort((a, b) => a.atS - b.atS);
    this.#moveBegins();
    this.#numberEarlierAttempts();
    const { jobs, trace } = finishColumns(columns, this.#count, this.#diagnostics);
    const details = Array.from(columns.line, (line) => this.#details.get(line)!);
    const rowsOf = this.#rowsByNumber(jobs.id, details);
    const all: Workload = {
      name: this.#name,
      count: this.#count,
      jobs,
      processors: machine.processors,
      trace,
      shape: this.#hasThreads
        ? {
            processes: jobs.size.map((size, row) => size / details[row].threads),
            threads: Int32Array.from(details, ({ threads }) => threads),
            queue: new Int32Array(this.#count).fill(UNKNOWN),
          }
        : undefined,
      ...(details.some(({ sizes }) => sizes !== undefined) && { molding: moldingOf(jobs.size, details) }),
      ...(machine.resources.length > 0 && {
        resources: machine.resources,
        demand: machine.resources.map(({ name }) => demandOf(name, details)),
      }),
      ...machine.stated,
      notes: details.map(({ notes }) => notes),
      header: this.#header(machine),
      diagnostics: [],
    };
    const world = new World(all, {
      rowOf: (job, atS) => {
        const rows = rowsOf.get(job);
        return rows?.findLast((row) => jobs.submitS[row] <= atS) ?? rows?.[0];
      },
      note: (code, event, field, value) => this.#note(code, this.#lines.get(event)!, field, value),
    });
    for (const event of this.#events) world.apply(event);
    return { ...world.end(), diagnostics: this.#diagnostics.list() };
  }

  /** The rows of each job that events may name: one for each of its attempts, in order of arrival. */
  #rowsByNumber(ids: Int32Array, details: readonly Details[]): ReadonlyMap<number, readonly number[]> {
    const rowsOf = new Map<number, number[]>();
    if (this.#events.length === 0) return rowsOf;
    for (const [row, id] of ids.entries()) {
      const { number } = details[row];
      const job = isWhole(number, 0) ? number : id;
      const rows = rowsOf.get(job);
      if (rows === undefined) rowsOf.set(job, [row]);
      else rows.push(row);
    }
    return rowsOf;
  }

  /** A job whose begin was changed before it arrived does so at its new begin. */
  #moveBegins(): void {
    const edits = this.#events.flatMap((event) =>
      event.event === "edit" && event.set.beginS !== undefined
        ? [{ job: event.job, atS: event.atS, beginS: event.set.beginS }]
        : [],
    );
    if (edits.length === 0) return;
    const { id, submitS, waitS, line } = this.#columns;
    const firstOf = new Map<number, number>();
    for (let row = 0; row < this.#count; row++) {
      const first = firstOf.get(id[row]);
      const order = first === undefined ? 0 : this.#attemptIn(row) - this.#attemptIn(first);
      if (first === undefined || order < 0 || (order === 0 && submitS[row] < submitS[first]))
        firstOf.set(id[row], row);
    }
    for (const { job, atS, beginS } of edits) {
      const row = firstOf.get(job);
      if (row === undefined || atS >= submitS[row]) continue;
      const { notes } = this.#details.get(line[row])!;
      const submittedS = (notes.submitS as number | undefined) ?? submitS[row];
      submitS[row] = Math.max(atS, submittedS, beginS);
      const { startS } = notes as JobFields;
      waitS[row] = startS !== undefined && startS >= submitS[row] ? startS - submitS[row] : UNKNOWN;
    }
  }

  /** 0 if the line in this row does not say it. */
  #attemptIn(row: number): number {
    const { attempt } = this.#details.get(this.#columns.line[row])!.notes;
    return isWhole(attempt, 0) ? attempt : 0;
  }

  /** The latest attempt of a job keeps its number, wherever its line is in the file. */
  #numberEarlierAttempts(): void {
    const { id, line } = this.#columns;
    const latest = new Map<number, number>();
    let highest = 0;
    for (let row = 0; row < this.#count; row++) {
      const known = latest.get(id[row]);
      if (known === undefined || this.#attemptIn(row) > this.#attemptIn(known)) latest.set(id[row], row);
      highest = Math.max(highest, id[row]);
    }
    for (let row = 0; row < this.#count && highest < MAX_INT32; row++) {
      const job = id[row];
      if (job === UNKNOWN || this.#attemptIn(row) >= this.#attemptIn(latest.get(job)!)) continue;
      id[row] = ++highest;
      this.#note("duplicate-job-number", line[row], "job number", job);
    }
  }

  /** As of a trace in Standard Workload Format. */
  #header({ processors, text }: Machine): string[] {
    return [
      "Version: 2.2",
      "Computer: Tutti",
      ...(processors === undefined ? [] : [`MaxProcs: ${processors}`]),
      ...this.#queues.words.map((word, i) => `Queue: ${i + 1} ${word}`),
      `Note: ${text}`,
    ];
  }

  #take(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#endLine(this.#rest + text.slice(from, end));
      this.#rest = "";
      from = end + 1;
    }
    this.#rest += text.slice(from);
    if (this.#rest.length <= LONGEST_LINE) return;
    this.#isCut = true;
    this.#rest = "";
  }

  #endLine(text: string): void {
    this.#line++;
    const isLong = this.#isCut || text.length > LONGEST_LINE;
    this.#isCut = false;
    if (this.#machine === undefined) this.#machine = this.#readMachine(isLong ? "" : text.trim());
    else if (isLong) this.#note("long-line", this.#line, undefined, undefined);
    else if (text.trim() !== "") this.#readLine(text);
  }

  #readMachine(text: string): Machine {
    const entry = parsed(text);
    const { schema, processors, resources = {}, quotas } = entry ?? {};
    if (schema !== WORKLOAD_SCHEMA) {
      throw this.#unreadable(
        entry === undefined ? "line 1 is not a JSON object" : `line 1 has the schema ${shown(schema)}`,
      );
    }
    if (processors !== undefined && !isWhole(processors, 1)) {
      throw this.#unreadable(`line 1 has ${shown(processors)} processors`);
    }
    const kinds = isEntry(resources) ? Object.entries(resources) : undefined;
    const wrong =
      kinds === undefined ? resources : kinds.find(([name, amount]) => name === "" || !isWhole(amount, 0));
    if (kinds === undefined || wrong !== undefined || kinds.length > MOST_KINDS) {
      throw this.#unreadable(
        `line 1 has the resources ${shown(resources).slice(0, 100)}, and these are not at most ${MOST_KINDS} names with whole amounts`,
      );
    }
    const stated: Record<string, unknown> = {};
    for (const [name, isGood] of Object.entries({ shares: areShares, limits: areLimits })) {
      const value = entry?.[name];
      if (value === undefined) continue;
      stated[name] = value;
      if (isGood(value)) continue;
      const has = `line 1 has the ${name} ${shown(value).slice(0, 100)}`;
      throw this.#unreadable(`${has}, and docs/workloads.md says what they can be`);
    }
    if (quotas === true) this.#note("quotas-left-out", 1, "quotas", quotas);
    return {
      processors,
      resources: kinds.map(([name, amount]) => ({ name, amount: amount as number })),
      stated,
      text,
    };
  }

  #readLine(text: string): undefined {
    const line = this.#line;
    const entry = parsed(text);
    if (entry === undefined) return this.#note("not-an-object", line, undefined, text.trim());
    if (Object.hasOwn(entry, "event")) {
      const event = readEvent(entry);
      if (event === undefined) return this.#note("unknown-line", line, "event", entry.event);
      if ("field" in event) return this.#note("bad-needed-field", line, event.field, event.value);
      return this.#addEvent(event as WorkloadEvent);
    }
    if (!Object.hasOwn(entry, "job")) return this.#note("unknown-line", line, undefined, text.trim());
    this.#readJob(entry);
  }

  #addEvent(event: WorkloadEvent): undefined {
    const needsMachine = event.event === "capacity" || event.event === "window";
    if (needsMachine && event.processors !== undefined && this.#machine!.processors === undefined) {
      throw new InputError(
        `Cannot use the event in line ${this.#line}: the first line does not state the processors of the machine, expected such as "processors":16`,
      );
    }
    this.#events.push(event);
    this.#lines.set(event, this.#line);
  }

  #readJob(entry: Entry): undefined {
    const line = this.#line;
    const bad = Object.entries(entry).filter(
      ([field, value]) => Object.hasOwn(JOB_FIELDS, field) && !JOB_FIELDS[field](value),
    );
    const needed = bad.find(([field]) => NEEDED_FIELDS.has(field));
    if (needed !== undefined) return this.#note("bad-needed-field", line, ...needed);
    for (const [field, value] of bad) this.#note("bad-field", line, field, value);
    const given = Object.fromEntries(
      Object.entries(entry).filter(([field]) => bad.every(([other]) => other !== field)),
    );
    const fields = given as JobFields;
    const { submitS, runS, tasks = 1, threads = 1, limitS } = fields;
    if (submitS === undefined) return this.#note("bad-needed-field", line, "submitS", undefined);
    if (runS === undefined) return this.#note("not-ended", line, "runS", undefined);
    if (tasks * threads > MAX_INT32) return this.#note("bad-needed-field", line, "tasks", tasks);
    const estimateS = fields.estimateS ?? limitS ?? UNKNOWN;
    if (estimateS === UNKNOWN) this.#note("no-limit", line, "limitS", undefined);
    if (runS === 0) this.#note("zero-run-time", line, "runS", runS);
    const note = (field: string, value: unknown) => this.#note("bad-field", line, field, value);
    this.#addRow(fields, { ...fields, submitS, runS, tasks, threads, estimateS });
    this.#addDetails(fields, given, { threads, sizes: sizesOf(fields, tasks, threads, note) });
  }

  #addRow(
    { job, beginS = 0, startS, memoryBytes, user, queue, name, state, after }: JobFields,
    { submitS, runS, tasks, threads, estimateS }: Needed,
  ): void {
    const columns = this.#columns;
    const row = this.#count++;
    if (row === columns.id.length) resizeColumns(columns, 2 * row);
    const arrivalS = Math.max(submitS, beginS);
    const size = tasks * threads;
    columns.line[row] = this.#line;
    columns.id[row] = isWhole(job, 0) ? job : UNKNOWN;
    columns.submitS[row] = arrivalS;
    columns.runS[row] = runS;
    columns.size[row] = size;
    columns.estimateS[row] = estimateS;
    columns.waitS[row] = startS !== undefined && startS >= arrivalS ? startS - arrivalS : UNKNOWN;
    columns.cpuS[row] = columns.usedMemoryKB[row] = columns.thinkTimeS[row] = UNKNOWN;
    columns.allocated[row] = columns.requested[row] = size;
    columns.requestedMemoryKB[row] = memoryBytes === undefined ? UNKNOWN : Math.ceil(memoryBytes / KB / size);
    columns.status[row] = SWF_STATUS.get(state) ?? UNKNOWN;
    columns.user[row] = this.#users.of(user);
    columns.queue[row] = this.#queues.of(queue);
    columns.application[row] = this.#names.of(name);
    columns.group[row] = columns.partition[row] = UNKNOWN;
    const [first] = Array.isArray(after) ? after : [];
    columns.precedingJob[row] = isEntry(first) && isWhole(first.job, 0) ? first.job : UNKNOWN;
    if (arrivalS > submitS) this.#note("begins-later", this.#line, "beginS", beginS);
    if (row > 0 && arrivalS < columns.submitS[row - 1]) {
      this.#note("unsorted-submit", this.#line, "submitS", submitS);
    }
  }

  #addDetails(
    { use = {}, submitS, beginS }: JobFields,
    given: Entry,
    { threads, sizes }: Pick<Details, "threads" | "sizes">,
  ): void {
    const listed = this.#machine!.resources;
    const unlisted = Object.entries(use).filter(([kind]) => listed.every(({ name }) => name !== kind));
    for (const [kind, amount] of unlisted) this.#note("unlisted-resource", this.#line, kind, amount);
    const notes = Object.fromEntries(Object.entries(given).filter(([field]) => !IN_COLUMNS.has(field)));
    if (beginS !== undefined) notes.submitS = submitS;
    if (unlisted.length > 0) notes.use = Object.fromEntries(unlisted);
    this.#hasThreads ||= threads > 1;
    this.#details.set(this.#line, { notes, use, threads, sizes, number: given.job });
  }

  #note(code: JsonlCode, line: number, field: string | undefined, value: unknown): undefined {
    this.#diagnostics.add(code, {
      line,
      ...(field !== undefined && { field }),
      ...(value !== undefined && { value: shown(value) }),
    });
  }

  #unreadable(why: string): InputError {
    return new InputError(
      `Cannot read "${this.#name}" as a workload file: ${why}, expected a first line such as {"schema":"${WORKLOAD_SCHEMA}","processors":16}`,
    );
  }
}

interface JobFields extends SizeFields, Partial<Omit<WorkloadJob, "job" | "after">> {
  readonly job?: unknown;
  readonly after?: unknown;
}

type Needed = Required<Pick<JobFields, "submitS" | "runS" | "tasks" | "threads" | "estimateS">>;

function demandOf(kind: string, details: readonly Details[]): Demand {
  return { kind, amount: Int32Array.from(details, ({ use }) => (Object.hasOwn(use, kind) ? use[kind] : 0)) };
}

function parsed(text: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWhole(value: unknown, min: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= MAX_INT32;
}
