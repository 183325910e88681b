/**
 * Translates the options in Slurm's `#SBATCH` lines to arguments of `tutti submit`. If an option determines
 * when a job runs or what it gets, but its value cannot be read, the script is refused, as sbatch does:
 * without the dependency or the limit, it would be a different job. Options that have no meaning without
 * accounts and a choice of nodes are listed in a warning.
 */
import { userInfo } from "node:os";
import { fieldsWith, JOB_FIELDS, longFlag } from "@tutti/protocol/job-fields.ts";
import { areMailAddresses, MAIL_ADDRESSES, type NewsEvent } from "@tutti/protocol/news/news.ts";
import { parseUse, useText } from "@tutti/protocol/resources.ts";
import { slurmSeconds } from "@tutti/protocol/slurm-time.ts";
import { beginTimeMs } from "@tutti/words/begin-time.ts";
import type { GivenOption, Parsed } from "./getopt.ts";

/** Options of sbatch, srun and salloc, in the form of getopt.ts. */
export const COMMON_OPTIONS =
  "account,A= acctg-freq= begin,b= bb= bbf= chdir,D= cluster-constraint= clusters,M= cluster= comment= constraint,C= container= context= contiguous core-spec,S= cores-per-socket= cpu-freq= cpus-per-gpu= cpus-per-task,c= deadline= delay-boot= dependency,d= distribution,m= exclude,x= exclusive? extra-node-info,B= get-user-env? gid= gpu-bind= gpu-freq= gpus,G= gpus-per-node= gpus-per-socket= gpus-per-task= gres= gres-flags= help,h hint= hold,H job-name,J= licenses,L= mail-type= mail-user= mcs-label= mem= mem-bind= mem-per-cpu= mem-per-gpu= mincpus= network= nice? no-kill,k? nodefile,F= nodelist,w= nodes,N= ntasks,n= ntasks-per-core= ntasks-per-gpu= ntasks-per-node= ntasks-per-socket= tasks-per-node= overcommit,O oversubscribe,s partition,p= power= prefer= priority= profile= qos,q= quiet,Q reboot reservation= signal= sockets-per-node= spread-job switches= thread-spec= threads-per-core= time,t= time-min= tmp= uid= use-min-nodes usage verbose,v version,V wckey=";
export const SBATCH_OPTIONS = `${COMMON_OPTIONS} array,a= batch= error,e= export= export-file= ignore-pbs input,i= kill-on-invalid-dep= no-requeue open-mode= output,o= parsable propagate? requeue test-only umask wait,W wait-all-nodes= wrap=`;

/** Why an option that people rely on has no effect here. */
const REMARKS: Readonly<Record<string, string>> = {
  exclusive: "a job always has its CPUs to itself while its row runs",
  nice: "use --priority",
};

/** Options that ask for what happens anyway. */
const ALWAYS: ReadonlySet<string> = new Set(["no-requeue"]);

const WHOLE = "a whole number of at least 1";
const TIME = "minutes, minutes:seconds, hours:minutes:seconds, days-hours[:minutes[:seconds]] or UNLIMITED";
const SIZE = "a size such as 4G, 512M or 2000 (MiB)";
const BEGIN = "a time such as 23:00, now+1hour, tomorrow or 2026-12-01T08:00";
const UNITS = "names with numbers, such as gpu:1, gpu:a100:2 or matlab:1";
const SIGNAL = "a signal and seconds before the time limit, such as USR1@30 or B:USR1@120";
const OPEN_MODE = "append or truncate";
const JOBS =
  "afterok, afterany, afternotok or aftercorr with job numbers, or singleton, such as afterok:12:13,afterany:14";

/** Events that Slurm can send mails about, and what they are here. */
const MAIL_EVENTS: Readonly<Record<string, readonly NewsEvent[]>> = {
  BEGIN: ["start"],
  END: ["end"],
  FAIL: ["fail"],
  ALL: ["start", "end", "fail"],
  ARRAY_TASKS: [],
  INVALID_DEPEND: [],
  REQUEUE: [],
  STAGE_OUT: [],
  TIME_LIMIT: [],
  TIME_LIMIT_50: [],
  TIME_LIMIT_80: [],
  TIME_LIMIT_90: [],
};
const MAIL_TYPES = "NONE, or BEGIN, END, FAIL and ALL, separated by commas";

/** Patterns in file names that mean the same here; numbers may have a width. */
const PATTERNS = /%(?:%|\d{0,2}[jJAaxuN])/g;

/** Options that mean exactly the same here, with their flags. */
const PASSED_ON: ReadonlyMap<string, string> = new Map(
  fieldsWith("sbatch").map((field) => [JOB_FIELDS[field].sbatch, longFlag(JOB_FIELDS[field])]),
);

/** Where options were found, which messages about them say. */
export interface OptionsOrigin {
  refusal(option: GivenOption, expected: string): Error;
}

export class SlurmOptions {
  readonly #origin: OptionsOrigin;
  readonly #words: string[] = [];
  readonly #remarks: string[] = [];
  readonly #unknown: string[] = [];
  /** Counts by option. */
  readonly #counts: { [name in "ntasks" | "cpus-per-task" | "ntasks-per-node"]?: number } = {};
  /** Units of countable resources by kind. */
  readonly #units = new Map<string, number>();
  /** GPUs of each task. */
  #gpusPerTask = 0;
  #nodes = 1;
  #memory: string | undefined;
  #memoryPerCpuMiB: number | undefined;
  #environment: string | undefined;
  /** Left out: there is no --mail-type. */
  #mailEvents: Set<NewsEvent> | undefined;
  /** The option --mail-user. Left out: the mail goes to the user. */
  #mailUser: { readonly value: string; readonly text: string } | undefined;

  constructor(origin: OptionsOrigin) {
    this.#origin = origin;
  }

  /** Messages for the user. All unsupported options are in one line. */
  get warnings(): readonly string[] {
    const remarks = [...this.#remarks, ...this.#mailRemarks()];
    if (this.#unknown.length === 0) return remarks;
    return [...remarks, `${this.#unknown.join(", ")}: ignored, not supported here`];
  }

  /** @throws UsageError */
  read({ given, words }: Parsed): void {
    for (const option of given) this.#take(option);
    this.#unknown.push(...words);
  }

  words(): readonly string[] {
    const { ntasks, "cpus-per-task": threads, "ntasks-per-node": tasksPerNode = 1 } = this.#counts;
    const tasks = ntasks ?? this.#nodes * tasksPerNode;
    const cpus = tasks * (threads ?? 1);
    if (this.#gpusPerTask > 0) this.#raise("gpu", this.#gpusPerTask * tasks);
    const isAsked = ntasks !== undefined || tasks > 1;
    const memory =
      this.#memory ?? (this.#memoryPerCpuMiB === undefined ? undefined : `${this.#memoryPerCpuMiB * cpus}M`);
    return [
      ...this.#words,
      ...(isAsked ? ["--tasks", String(tasks)] : []),
      ...(threads === undefined ? [] : ["--threads", String(threads)]),
      ...(memory === undefined ? [] : ["--mem", memory]),
      ...(this.#units.size === 0 ? [] : ["--use", useText(Object.fromEntries(this.#units))]),
      ...this.#mailWords(),
      ...(this.#environment === undefined ? [] : ["--env", this.#environment]),
    ];
  }

  #take(option: GivenOption): void {
    const { name, value = "", text } = option;
    const refuse = (expected: string): never => {
      throw this.#origin.refusal(option, expected);
    };
    const count = (): number => (/^[1-9]\d{0,6}$/.test(value) ? Number(value) : refuse(WHOLE));
    const named = (): string => (value === "" ? refuse("a value") : value);
    switch (name) {
      case "ntasks":
      case "cpus-per-task":
      case "ntasks-per-node":
        this.#counts[name] = count();
        return;
      case "nodes": {
        const [, least] = /^([1-9]\d{0,6})(?:-[1-9]\d{0,6})?$/.exec(value) ?? [];
        this.#nodes = least === undefined ? refuse(WHOLE) : Number(least);
        return;
      }
      case "time": {
        const seconds = slurmSeconds(value);
        if (seconds === undefined && !/^(?:unlimited|infinite)$/i.test(value)) refuse(TIME);
        // As sbatch, whose limits are whole minutes.
        const minutes = seconds === undefined ? 0 : Math.ceil(seconds / 60);
        if (minutes > 0) this.#words.push("--time", `${minutes}m`);
        return;
      }
      case "mem":
      case "mem-per-cpu": {
        const mebibytes = slurmMebibytes(value) ?? refuse(SIZE);
        if (mebibytes === 0) return;
        if (name === "mem") this.#memory = `${mebibytes}M`;
        else this.#memoryPerCpuMiB = mebibytes;
        return;
      }
      case "dependency":
        this.#words.push(...(slurmDependency(value) ?? refuse(JOBS)));
        return;
      case "output":
      case "error":
        this.#takeFile(name, named(), text);
        return;
      case "export":
        this.#environment = ownExport(named());
        return;
      case "begin":
        if (beginTimeMs(value, Date.now()) === undefined) refuse(BEGIN);
        this.#words.push("--begin", value);
        return;
      case "hold":
        this.#words.push("--hold");
        return;
      case "gres":
      case "gpus":
      case "gpus-per-node":
      case "gpus-per-task":
      case "licenses":
        if (!this.#takeUnits(name, named(), text)) refuse(UNITS);
        return;
      case "signal":
        if (!/^(?:[RB]{1,2}:)?[A-Za-z0-9]+(?:@\d{1,5})?$/i.test(value)) refuse(SIGNAL);
        // R is about reservations that overlap, which there are not.
        this.#words.push(
          "--signal",
          value.replace(/^[RB]+(?=:)/i, (who) => (/b/i.test(who) ? "B" : "")).replace(/^:/, ""),
        );
        return;
      case "mail-type":
        if (!this.#takeMailTypes(named().toUpperCase().split(","), text)) refuse(MAIL_TYPES);
        return;
      case "mail-user":
        this.#mailUser = { value: named(), text };
        return;
      case "open-mode":
        // Slurm looks at the first letter only.
        if (!/^[at]/i.test(value)) refuse(OPEN_MODE);
        this.#words.push("--open-mode", /^a/i.test(value) ? "append" : "truncate");
        return;
      default:
        if (ALWAYS.has(name) || (name === "kill-on-invalid-dep" && value === "yes")) return;
        if (PASSED_ON.has(name)) this.#words.push(PASSED_ON.get(name)!, named());
        else if (REMARKS[name] === undefined) this.#unknown.push(text);
        else this.#remarks.push(`${text}: ignored; ${REMARKS[name]}`);
    }
  }

  /**
   * Reads KIND[:TYPE][:NUMBER] of gres, [TYPE:]NUMBER of GPUs, NAME[@SERVER][:NUMBER] of licences.
   * @returns false: the value cannot be read
   */
  #takeUnits(name: string, value: string, text: string): boolean {
    if (value === "none") return true;
    const areGpus = name.startsWith("gpus");
    for (const part of value.split(",")) {
      const [, word = "", type = areGpus ? word : "", digits = areGpus ? "" : "1"] =
        /^([A-Za-z][\w-]*)?(?:[:@]([A-Za-z][\w.-]*))?(?:(?:^|:)([1-9]\d{0,4}))?$/.exec(part) ?? [];
      const kind = areGpus ? "gpu" : word.toLowerCase();
      if (parseUse(`${kind}:${digits}`) === undefined) return false;
      if (type !== "") this.#remarks.push(`${text}: ${type} is ignored; any ${kind} will do`);
      if (name === "gpus-per-task") this.#gpusPerTask = Number(digits);
      else this.#raise(kind, Number(digits));
    }
    return true;
  }

  #mailWords(): string[] {
    const events = [...(this.#mailEvents ?? [])];
    if (events.length === 0 || !areMailAddresses(this.#mailTo())) return [];
    return ["--mail", this.#mailTo(), "--notify", events.join(",")];
  }

  #mailTo(): string {
    return this.#mailUser?.value ?? ownName();
  }

  /** Slurm takes every address and every mix of both options, so a script is not refused for its mail. */
  #mailRemarks(): string[] {
    const { text } = this.#mailUser ?? {};
    if (this.#mailEvents === undefined && text !== undefined) {
      return [`${text}: no mail without --mail-type, as in Slurm`];
    }
    if (!this.#mailEvents?.size || areMailAddresses(this.#mailTo())) return [];
    return [`${text ?? "--mail-type"}: no mail to "${this.#mailTo()}", expected ${MAIL_ADDRESSES}`];
  }

  /** @returns false: Slurm has no such type */
  #takeMailTypes(types: readonly string[], text: string): boolean {
    const events = this.#mailEvents ?? new Set();
    this.#mailEvents = events;
    for (const type of types) {
      const own = Object.hasOwn(MAIL_EVENTS, type) ? MAIL_EVENTS[type] : undefined;
      if (type === "NONE") events.clear();
      else if (own === undefined) return false;
      else if (own.length > 0) for (const event of own) events.add(event);
      else this.#remarks.push(`${text}: ${type} is ignored; expected ${MAIL_TYPES}`);
    }
    return true;
  }

  /** Slurm's options for the same resource may be given together. */
  #raise(kind: string, units: number): void {
    this.#units.set(kind, Math.max(this.#units.get(kind) ?? 0, units));
  }

  #takeFile(name: "output" | "error", value: string, text: string): void {
    const [unknown] = /%\d*.?/.exec(value.replace(PATTERNS, "")) ?? [];
    if (unknown === undefined) this.#words.push(`--${name}`, value);
    else
      this.#remarks.push(
        `${text}: ignored; ${unknown} is not supported here, only %j, %A, %a, %x, %u and %N`,
      );
  }
}

/** The value of --export, as `--env` has it. */
export function ownExport(value: string): string {
  return value.replace(/^(?:all|none|nil)\b/i, (word) => (word.toLowerCase() === "all" ? "all" : "none"));
}

/** MiB of `2000`, `512M`, `4G`, `1T`, `2048K`, rounded up. */
export function slurmMebibytes(text: string): number | undefined {
  const [, size, unit = "M"] = /^(\d{1,12})([KMGT])?B?$/i.exec(text) ?? [];
  if (size === undefined) return undefined;
  return Math.ceil(Number(size) * 1024 ** ("KMGT".indexOf(unit.toUpperCase()) - 1));
}

const KINDS: Readonly<Record<string, string>> = {
  afterok: "",
  afterany: "any:",
  afternotok: "notok:",
  aftercorr: "each:",
};

/** `afterok:1:2,afterany:3,singleton` as words; undefined for other kinds of dependencies. */
function slurmDependency(value: string): readonly string[] | undefined {
  const after: string[] = [];
  const parts = value.split(",");
  for (const part of parts) {
    if (part === "singleton") continue;
    const [, kind = "", jobs = ""] = /^(after\w+):(\d+(?::\d+)*)$/.exec(part) ?? [];
    const prefix = KINDS[kind];
    if (prefix === undefined) return undefined;
    after.push(...jobs.split(":").map((job) => `${prefix}${job}`));
  }
  return [
    ...(after.length > 0 ? ["--after", after.join(",")] : []),
    ...(parts.includes("singleton") ? ["--singleton"] : []),
  ];
}

function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user has no account here.
    return "";
  }
}
