/**
 * Reads and writes Batsim's workloads (Dutot, Mercier, Poquet and Richard 2016, "Batsim: a realistic
 * language-independent resources and jobs management systems simulator"): one JSON object with jobs, and with
 * the profiles that say how long they run.
 *
 *   { "nb_res": 128, "jobs": [{ "id": 1, "subtime": 5.5, "res": 8, "walltime": 300, "profile": "a" }],
 *     "profiles": { "a": { "type": "delay", "delay": 250 } } }
 *
 * Profiles with a delay have a run time, and so do sequences ("composed") of such profiles. For profiles with
 * amounts of computation and communication, the run time depends on a platform with speeds and a network,
 * which we do not model: jobs with such profiles are left out and counted.
 */
import { DiagnosticCollector } from "../../core/diagnostics.ts";
import { InputError } from "../../core/errors.ts";
import { type JobColumns, MAX_INT32, UNKNOWN, type Workload } from "../../core/jobs.ts";
import { BATSIM_RULES, type BatsimCode } from "./batsim-rules.ts";
import { WORKLOAD_SCHEMA } from "./jsonl-fields.ts";
import { finishColumns, makeColumns } from "./swf-table.ts";
import { inPieces } from "./swf-writer.ts";

/** Maximum size of the text, which is parsed as a whole and must fit in one string. */
const MAX_BYTES = 400_000_000;
const LATEST_S = 1e12;
const DEEPEST = 100;

type Entry = Readonly<Record<string, unknown>>;

/** Collects the pieces of the text; parses them at the end. */
export class BatsimReader {
  readonly #name: string;
  readonly #decoder = new TextDecoder();
  readonly #pieces: string[] = [];
  #bytes = 0;

  /** @param name shown in tables and messages: the file name without its folder */
  constructor(name: string) {
    this.#name = name;
  }

  /** Adds a chunk. @throws InputError if the text becomes longer than 400 MB */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_BYTES) {
      throw unreadable(this.#name, `it is larger than ${MAX_BYTES / 1e6} MB, which is the limit`);
    }
    this.#pieces.push(this.#decoder.decode(chunk, { stream: true }));
  }

  /**
   * Ends the reading; without a usable job the workload has 0 jobs.
   * @throws InputError if the text is not a Batsim workload
   */
  end(): Workload {
    this.#pieces.push(this.#decoder.decode());
    const { jobs, profiles, nb_res: processors } = parseObject(this.#pieces.join(""), this.#name);
    if (!Array.isArray(jobs) || !isEntry(profiles)) {
      const missing = Array.isArray(jobs) ? "object of profiles" : "list of jobs";
      throw unreadable(this.#name, `it has no ${missing}, expected an object with "jobs" and "profiles"`);
    }
    const diagnostics = new DiagnosticCollector(BATSIM_RULES);
    const columns = readJobs(jobs, new Profiles(profiles), diagnostics);
    return {
      name: this.#name,
      count: columns.id.length,
      jobs: columns,
      processors: isWhole(processors) && processors >= 1 ? processors : undefined,
      trace: undefined,
      header: [],
      diagnostics: diagnostics.list(),
    };
  }
}

/**
 * Writes the jobs as a Batsim workload with one delay profile per run time. A job with an unknown estimate
 * gets no walltime. If the size of the machine is unknown, `nb_res` is the largest size of a job.
 */
export function* writeBatsim({
  name,
  count,
  jobs,
  processors,
}: Workload): Generator<string, void, undefined> {
  const profileOf = new Map<number, number>();
  let largest = 1;
  for (let row = 0; row < count; row++) {
    largest = Math.max(largest, jobs.size[row]);
    if (!profileOf.has(jobs.runS[row])) profileOf.set(jobs.runS[row], profileOf.size + 1);
  }
  yield `{\n"description": ${JSON.stringify(name)},\n"nb_res": ${processors ?? largest},\n"jobs": [`;
  yield* inPieces(count, (row) => {
    const walltime = jobs.estimateS[row] >= 0 ? `, "walltime": ${jobs.estimateS[row]}` : "";
    const profile = profileOf.get(jobs.runS[row]);
    return `${row === 0 ? "" : ","}\n{ "id": ${jobs.id[row]}, "subtime": ${jobs.submitS[row]}, "res": ${jobs.size[row]}${walltime}, "profile": "${profile}" }`;
  });
  yield '\n],\n"profiles": {';
  let separator = "";
  for (const [delay, profile] of profileOf) {
    yield `${separator}\n"${profile}": { "type": "delay", "delay": ${delay} }`;
    separator = ",";
  }
  yield "\n}\n}\n";
}

function parseObject(text: string, name: string): Entry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (isFirstLineWhole(text)) {
      const first = `{"schema":"${WORKLOAD_SCHEMA}","processors":16}`;
      const why = "each line is JSON by itself, but the first one does not say of what";
      throw new InputError(`Cannot read "${name}": ${why}, expected a first line such as ${first}`, {
        cause: error,
      });
    }
    const reason = error instanceof Error ? error.message.replace(/\s+/g, " ") : "";
    const why = `it is not valid JSON (${reason}), expected an object with "jobs" and "profiles"`;
    throw unreadable(name, why, { cause: error });
  }
  if (isEntry(value)) return value;
  throw unreadable(name, 'it is not a JSON object, expected an object with "jobs" and "profiles"');
}

/** As in JSON Lines, which Batsim does not have. */
function isFirstLineWhole(text: string): boolean {
  const [line] = text.trimStart().split("\n", 1);
  try {
    return isEntry(JSON.parse(line));
  } catch {
    return false;
  }
}

function unreadable(name: string, why: string, options?: ErrorOptions): InputError {
  return new InputError(`Cannot read "${name}" as a Batsim workload: ${why}`, options);
}

/** Counts a job under a rule; returns undefined, which stands for a dropped job. */
type Note = (code: BatsimCode, field: string, value: unknown) => undefined;

function readJobs(
  list: readonly unknown[],
  profiles: Profiles,
  diagnostics: DiagnosticCollector<BatsimCode>,
): JobColumns {
  const columns = makeColumns(list.length);
  let count = 0;
  for (const [place, job] of list.entries()) {
    const line = place + 1;
    const note: Note = (code, field, value) => {
      diagnostics.add(code, { line, field, value: shown(value) });
    };
    const usable = readJob(job, profiles, note);
    if (usable === undefined) continue;
    const row = count++;
    columns.line[row] = line;
    columns.id[row] = usable.id;
    columns.submitS[row] = usable.submitS;
    columns.runS[row] = usable.runS;
    columns.size[row] = usable.size;
    columns.estimateS[row] = usable.estimateS;
    if (row > 0 && usable.submitS < columns.submitS[row - 1]) {
      note("unsorted-submit", "subtime", usable.submitS);
    }
  }
  return finishColumns(columns, count, diagnostics).jobs;
}

function readJob(job: unknown, profiles: Profiles, note: Note) {
  if (!isEntry(job)) return note("no-job", "job", job);
  const { id, subtime, res, walltime, profile } = job;
  if (!isTime(subtime)) return note("bad-needed-field", "subtime", subtime);
  if (!isWhole(res) || res < 1) return note("bad-needed-field", "res", res);
  const isName = typeof profile === "string" || isWhole(profile);
  const runS = isName ? profiles.runS(String(profile)) : "no-profile";
  if (typeof runS === "string") return note(runS, "profile", profile);
  const hasLimit = isTime(walltime) && walltime > 0;
  const isUnlimited = walltime === undefined || walltime === -1;
  if (!hasLimit) note(isUnlimited ? "no-walltime" : "bad-walltime", "walltime", walltime);
  if (runS === 0) note("zero-run-time", "profile", profile);
  return { id: numberOf(id), submitS: subtime, runS, size: res, estimateS: hasLimit ? walltime : UNKNOWN };
}

/** Run times of profiles by name; each is computed once. */
class Profiles {
  readonly #profiles: Entry;
  readonly #known = new Map<string, number | BatsimCode>();

  constructor(profiles: Entry) {
    this.#profiles = profiles;
  }

  /** Seconds, or the code of the rule by which jobs with this profile are left out. */
  runS(name: string, depth = 0): number | BatsimCode {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    // A profile that contains itself finds this code while its parts are looked up.
    this.#known.set(name, "bad-profile");
    const profile = Object.hasOwn(this.#profiles, name) ? this.#profiles[name] : undefined;
    const runS = profile === undefined ? "no-profile" : this.#work(profile, depth);
    this.#known.set(name, runS);
    return runS;
  }

  #work(profile: unknown, depth: number): number | BatsimCode {
    if (!isEntry(profile) || depth > DEEPEST) return "bad-profile";
    const { type, delay, seq, repeat, nb } = profile;
    if (type === "delay" || type === "DelayProfile") return isTime(delay) ? delay : "bad-profile";
    if (type !== "composed" && type !== "SequenceProfile") {
      return typeof type === "string" ? "profile-needs-platform" : "bad-profile";
    }
    const times = repeat ?? nb ?? 1;
    if (!Array.isArray(seq) || !isWhole(times) || times < 0) return "bad-profile";
    let sum = 0;
    for (const part of seq) {
      const runS = typeof part === "string" ? this.runS(part, depth + 1) : "bad-profile";
      if (typeof runS === "string") return runS;
      sum += runS;
    }
    return isTime(sum * times) ? sum * times : "bad-profile";
  }
}

/** The job number in `7`, `"7"` or `"w0!7"`; UNKNOWN for other ids. */
function numberOf(id: unknown): number {
  if (isWhole(id) && id >= 0) return id;
  const digits = typeof id === "string" ? /^(?:[^!]*!)?(\d{1,10})$/.exec(id)?.[1] : undefined;
  return digits !== undefined && Number(digits) <= MAX_INT32 ? Number(digits) : UNKNOWN;
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= LATEST_S;
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= MAX_INT32;
}

function shown(value: unknown): string {
  return typeof value === "object" && value !== null ? "{…}" : String(value);
}
