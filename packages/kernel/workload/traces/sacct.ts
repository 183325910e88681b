/**
 * Reads the accounting of Slurm as `sacct --parsable2` (or --parsable) prints it: one line per job, fields
 * separated by |. The first line has the names of the fields, in any order; fields that we do not know are
 * skipped. sacct-rules.ts says what happens to lines that do not become a job.
 *
 *   sacct --allusers --starttime 2024-01-01 --allocations --parsable2 \
 *     --format JobIDRaw,Submit,Start,End,Elapsed,State,AllocCPUS,ReqCPUS,Timelimit,User,Group,QOS,Partition
 *
 * Times are local, as printed, so an hour is lost or gained when daylight saving time begins or ends; or they
 * are Unix times (SLURM_TIME_FORMAT=%s). Time 0 is the first arrival. A job arrives when it is submitted, or
 * later when it becomes eligible, if the text has this field. Users, groups, QOS (which become queues) and
 * partitions are numbered in order of appearance; the header of the workload has the names.
 */
import { DiagnosticCollector } from "../../core/diagnostics.ts";
import { assert, InputError } from "../../core/errors.ts";
import { MAX_INT32, UNKNOWN, type Workload } from "../../core/jobs.ts";
import {
  meaningOfState,
  parseDurationS,
  parseLimitS,
  parseTimeS,
  type StateMeaning,
} from "./sacct-fields.ts";
import { SACCT_RULES, type SacctCode } from "./sacct-rules.ts";
import { Numbering } from "./swf-numbers.ts";
import { MAX_LINE_LENGTH } from "./swf-rules.ts";
import { finishColumns, makeColumns, resizeColumns, type SwfColumns } from "./swf-table.ts";

/** Fields by purpose: their names in order of preference, in lower case. */
const NAMES = {
  number: ["jobidraw", "jobid"],
  step: ["jobid", "jobidraw"],
  submit: ["submit"],
  eligible: ["eligible"],
  start: ["start"],
  end: ["end"],
  elapsed: ["elapsed"],
  elapsedRaw: ["elapsedraw"],
  allocated: ["alloccpus", "ncpus"],
  requested: ["reqcpus"],
  limit: ["timelimit"],
  limitRaw: ["timelimitraw"],
  state: ["state"],
  user: ["uid", "user"],
  group: ["gid", "group"],
  queue: ["qos"],
  partition: ["partition"],
  suspended: ["suspended"],
} as const;
type Purpose = keyof typeof NAMES;

const COMPUTER = "; Computer: Slurm";
const STATUS = { completed: 1, failed: 0, cancelled: 5, unknown: UNKNOWN } as const;
/** Maximum number of names per kind that the header lists; further names are numbered but not listed. */
const MAX_NAMES_SHOWN = 1000;

/** Reads a trace piece by piece; pieces may be split anywhere. */
export class SacctReader {
  readonly #name: string;
  readonly #decoder = new TextDecoder();
  readonly #diagnostics = new DiagnosticCollector(SACCT_RULES);
  readonly #columns: SwfColumns = makeColumns(0);
  #count = 0;
  #capacity = 0;
  #line = 0;
  #carry = "";
  #tooLong = false;
  #fieldCount = 0;
  #fieldIndexes: Readonly<Record<Purpose, number>> | undefined;
  #fields: readonly string[] = [];
  #firstSubmit: { readonly atS: number; readonly text: string } | undefined;
  readonly #users = new Numbering();
  readonly #groups = new Numbering();
  readonly #queues = new Numbering();
  readonly #partitions = new Numbering();

  /** @param name shown in tables and messages: the file name without its folder */
  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Reads the next chunk.
   * @throws InputError if the first line lacks the name of a required field
   */
  push(chunk: Uint8Array): void {
    this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /**
   * Ends the reading; without a usable job the workload has 0 jobs. @throws InputError if there is no header
   * line
   */
  end(): Workload {
    this.#split(this.#decoder.decode());
    if (this.#carry !== "" || this.#tooLong) this.#readLine(this.#carry);
    if (this.#fieldIndexes === undefined) {
      throw new InputError(
        `Cannot read "${this.#name}" as output of sacct: it is empty, expected a first line with the field names`,
      );
    }
    const { jobs, trace } = finishColumns(this.#columns, this.#count, this.#diagnostics);
    const firstS = this.#firstSubmit?.atS ?? 0;
    return {
      name: this.#name,
      count: this.#count,
      jobs: { ...jobs, submitS: jobs.submitS.map((atS) => atS - firstS) },
      processors: undefined,
      trace,
      header: this.#header(),
      diagnostics: this.#diagnostics.list(),
    };
  }

  #split(text: string): void {
    let start = 0;
    for (;;) {
      const newline = text.indexOf("\n", start);
      const piece = text.slice(start, newline < 0 ? text.length : newline);
      if (this.#carry.length + piece.length > MAX_LINE_LENGTH) this.#tooLong = true;
      this.#carry = this.#tooLong ? (this.#carry + piece).slice(0, 40) : this.#carry + piece;
      if (newline < 0) return;
      const line = this.#carry;
      this.#carry = "";
      this.#readLine(line);
      this.#tooLong = false;
      start = newline + 1;
    }
  }

  #readLine(text: string): void {
    this.#line++;
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    if (this.#tooLong) {
      if (this.#fieldIndexes === undefined) this.#fieldIndexes = this.#readHeader(line);
      this.#note("long-line", undefined, line);
      return;
    }
    if (line.trim() === "") return;
    if (this.#fieldIndexes === undefined) {
      this.#fieldIndexes = this.#readHeader(line);
      return;
    }
    this.#fields = line.split("|");
    if (this.#fields.length !== this.#fieldCount) this.#note("wrong-field-count", undefined, line);
    else this.#readJob();
  }

  #readHeader(line: string): Readonly<Record<Purpose, number>> {
    const names = line.split("|").map((name) => name.trim().toLowerCase());
    this.#fieldCount = names.length;
    const place = (purpose: Purpose) => {
      const field = NAMES[purpose].find((name) => names.includes(name));
      return field === undefined ? -1 : names.indexOf(field);
    };
    const places = Object.fromEntries(
      (Object.keys(NAMES) as Purpose[]).map((purpose) => [purpose, place(purpose)]),
    ) as Record<Purpose, number>;
    const missing = [
      ...(places.number < 0 ? ["JobID"] : []),
      ...(places.submit < 0 ? ["Submit"] : []),
      ...(places.elapsed < 0 && places.elapsedRaw < 0 && (places.start < 0 || places.end < 0)
        ? ["Elapsed"]
        : []),
      ...(places.allocated < 0 && places.requested < 0 ? ["AllocCPUS"] : []),
    ];
    if (missing.length > 0) {
      throw new InputError(
        `Cannot read "${this.#name}" as output of sacct: line ${this.#line} has no field ${missing.join(", ")}, expected a first line such as JobIDRaw|Submit|Elapsed|AllocCPUS|Timelimit|State (sacct --parsable2)`,
      );
    }
    return places;
  }

  #field(purpose: Purpose): string {
    assert(this.#fieldIndexes !== undefined, "the header is read before the jobs");
    const place = this.#fieldIndexes[purpose];
    return place < 0 ? "" : this.#fields[place].trim();
  }

  #readJob(): void {
    const meaning = meaningOfState(this.#field("state"));
    const submitS = this.#arrival(parseTimeS(this.#field("submit")));
    const startS = parseTimeS(this.#field("start"));
    const runS = this.#elapsed(startS);
    const allocated = this.#processors("allocated");
    const requested = this.#processors("requested");
    const size = allocated > 0 ? allocated : requested;
    const reason = this.#reasonToDrop(meaning, submitS, startS, runS, size);
    if (reason !== undefined) {
      this.#note(reason[0], reason[1]);
      return;
    }
    const row = this.#append(submitS as number, runS as number, size);
    const columns = this.#columns;
    if (Number.isNaN(allocated)) this.#note("bad-field", "allocated");
    if (Number.isNaN(requested)) this.#note("bad-field", "requested");
    columns.allocated[row] = allocated > 0 ? allocated : UNKNOWN;
    columns.requested[row] = requested > 0 ? requested : UNKNOWN;
    columns.status[row] = STATUS[meaning as keyof typeof STATUS];
    columns.waitS[row] = this.#wait(submitS as number, startS);
    columns.estimateS[row] = this.#limit();
    columns.user[row] = this.#users.of(this.#field("user"));
    columns.group[row] = this.#groups.of(this.#field("group"));
    columns.queue[row] = this.#queues.of(this.#field("queue"));
    columns.partition[row] = this.#partitions.of(this.#field("partition"));
    if (meaning === "unknown" && this.#field("state") !== "") this.#note("unknown-state", "state");
    if (runS === 0) this.#note("zero-run-time", "elapsed");
    if (/^(?:REQUEUED|RQ)\b/i.test(this.#field("state"))) this.#note("requeued", "state");
    if (parseDurationS(this.#field("suspended")) > 0) this.#note("suspended", "suspended");
    if ((submitS as number) > parseTimeS(this.#field("submit"))!) this.#note("eligible-later", "eligible");
  }

  /** The instant from which on the job could start. */
  #arrival(submitS: number | undefined): number | undefined {
    const eligibleS = parseTimeS(this.#field("eligible"));
    const isLater = submitS !== undefined && eligibleS !== undefined && eligibleS > submitS;
    return isLater ? eligibleS : submitS;
  }

  #reasonToDrop(
    meaning: StateMeaning,
    submitS: number | undefined,
    startS: number | undefined,
    runS: number | undefined,
    size: number,
  ): readonly [SacctCode, Purpose] | undefined {
    if (this.#field("step").includes(".")) return ["step", "step"];
    if (meaning === "unfinished") return ["unfinished", "state"];
    if (submitS === undefined) return ["no-submit-time", "submit"];
    if (Number.isNaN(submitS)) return ["bad-needed-field", "submit"];
    if (startS === undefined && this.#fieldIndexes!.start >= 0) return ["not-started", "start"];
    if (meaning === "cancelled" && runS === 0) return ["not-started", "elapsed"];
    if (runS === undefined) return ["no-run-time", "elapsed"];
    if (Number.isNaN(runS)) return ["bad-needed-field", "elapsed"];
    if (Number.isNaN(size)) return ["bad-needed-field", "allocated"];
    return size <= 0 ? ["no-processors", "allocated"] : undefined;
  }

  /** Undefined if the time is unknown, NaN if it cannot be read. */
  #elapsed(startS: number | undefined): number | undefined {
    const raw = this.#field("elapsedRaw");
    if (raw !== "") return /^\d{1,10}$/.test(raw) ? Number(raw) : Number.NaN;
    const elapsed = this.#field("elapsed");
    if (elapsed !== "") return parseDurationS(elapsed);
    const endS = parseTimeS(this.#field("end"));
    if (startS === undefined || endS === undefined) return undefined;
    return endS >= startS ? endS - startS : Number.NaN;
  }

  #processors(purpose: "allocated" | "requested"): number {
    const text = this.#field(purpose);
    if (text === "") return 0;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return value <= MAX_INT32 ? value : Number.NaN;
  }

  #wait(submitS: number, startS: number | undefined): number {
    if (startS === undefined) return UNKNOWN;
    if (Number.isNaN(startS)) this.#note("bad-field", "start");
    else if (startS >= submitS) return startS - submitS;
    else this.#note("start-before-submit", "start");
    return UNKNOWN;
  }

  #limit(): number {
    const raw = this.#fieldIndexes!.limit < 0;
    const purpose = raw ? "limitRaw" : "limit";
    const limitS = parseLimitS(this.#field(purpose), raw);
    if (limitS !== undefined && limitS > 0) return limitS;
    this.#note(Number.isNaN(limitS) ? "bad-field" : "no-time-limit", purpose);
    return UNKNOWN;
  }

  #append(submitS: number, runS: number, size: number): number {
    if (this.#count === this.#capacity) {
      this.#capacity = Math.max(16, 2 * this.#capacity);
      const before = this.#count;
      resizeColumns(this.#columns, this.#capacity);
      for (const column of Object.values(this.#columns)) column.fill(UNKNOWN, before);
    }
    const row = this.#count++;
    const columns = this.#columns;
    if (row > 0 && submitS < columns.submitS[row - 1]) this.#note("unsorted-submit", "submit");
    if (this.#firstSubmit === undefined || submitS < this.#firstSubmit.atS) {
      const isLater = submitS > parseTimeS(this.#field("submit"))!;
      this.#firstSubmit = { atS: submitS, text: this.#field(isLater ? "eligible" : "submit") };
    }
    columns.id[row] = this.#jobNumber();
    columns.submitS[row] = submitS;
    columns.runS[row] = runS;
    columns.size[row] = size;
    columns.line[row] = this.#line;
    return row;
  }

  /** Negative if the job has no number; replaced at the end. */
  #jobNumber(): number {
    const text = this.#field("number");
    return /^\d{1,10}$/.test(text) && Number(text) <= MAX_INT32 ? Number(text) : UNKNOWN;
  }

  /** Header lines as in an SWF file, so that a converted file states its origin. */
  #header(): string[] {
    return [
      "; Version: 2.2",
      `${COMPUTER}, converted from ${this.#name} as sacct printed it`,
      `; MaxJobs: ${this.#count}`,
      `; MaxRecords: ${this.#count}`,
      "; Preemption: No",
      ...(this.#firstSubmit === undefined ? [] : [startLine(this.#firstSubmit)]),
      ...namesLines("Queue", this.#queues),
      ...namesLines("Partition", this.#partitions),
    ];
  }

  #note(code: SacctCode, purpose: Purpose | undefined, value?: string): void {
    const number = purpose === undefined ? UNKNOWN : this.#jobNumber();
    this.#diagnostics.add(code, {
      line: this.#line,
      job: number >= 0 ? number : undefined,
      field: purpose === undefined ? undefined : NAMES[purpose][0],
      value: value ?? (purpose === undefined ? undefined : this.#field(purpose)),
    });
  }
}

/** A header line that says when time 0 is. A time that is a number of seconds is a Unix time. */
function startLine({ atS, text }: { readonly atS: number; readonly text: string }): string {
  return /^\d+$/.test(text) ? `; UnixStartTime: ${atS}` : `; Note: time 0 is ${text}, local time`;
}

/** Whether the jobs are the history of a site, also after the conversion to another format. */
export function isSlurmHistory({ header }: Pick<Workload, "header">): boolean {
  return header.some((line) => line.startsWith(COMPUTER));
}

function namesLines(key: string, { words }: Numbering): string[] {
  return words.slice(0, MAX_NAMES_SHOWN).map((name, i) => `; ${key}: ${i + 1} ${name}`);
}
