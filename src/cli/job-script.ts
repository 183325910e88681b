/**
 * Job scripts: lines that begin with `#TUTTI` hold options of `tutti submit`; common lines of Slurm's `#SBATCH` are understood, the
 * others are named in a warning. Like there, reading ends at the first line that is a command.
 */

/** What a script asks for, as words of `tutti submit`. */
export interface ScriptOptions {
  readonly words: readonly string[];
  /** For people; one per line that is not understood or means something else here. */
  readonly warnings: readonly string[];
}

export function readJobScript(text: string): ScriptOptions {
  const words: string[] = [];
  const slurm = new SlurmOptions();
  for (const line of text.split(/\r?\n/)) {
    if (!/^\s*(?:#|$)/.test(line)) break;
    const [, kind, rest = ""] = /^#(TUTTI|SBATCH)(?=\s|$)(.*)$/.exec(line) ?? [];
    if (kind === "TUTTI") words.push(...splitWords(rest));
    if (kind === "SBATCH") slurm.read(splitWords(rest));
  }
  // Lines of our own come later and so win.
  return { words: [...slurm.words(), ...words], warnings: slurm.warnings };
}

/** The program of a script's first line with its argument, or undefined. */
export function interpreterOf(text: string): string[] | undefined {
  const [, program, argument] = /^#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t]*\r?(?:\n|$)/.exec(text) ?? [];
  if (program === undefined) return undefined;
  return argument === undefined || argument === "" ? [program] : [program, argument];
}

/** Words as a shell splits them: blanks between, quotes around, a backslash before a single character; ` #` begins a remark. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let i = 0; i < line.length; i++) {
    const character = line[i]!;
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "#" && word === undefined) break;
    else if (character === "'" || character === '"') {
      const end = line.indexOf(character, i + 1);
      word = (word ?? "") + line.slice(i + 1, end < 0 ? undefined : end);
      if (end < 0) break;
      i = end;
    } else if (character === "\\" && i + 1 < line.length) word = (word ?? "") + line[++i];
    else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  n: "ntasks",
  N: "nodes",
  c: "cpus-per-task",
  t: "time",
  p: "partition",
  J: "job-name",
  o: "output",
  e: "error",
  a: "array",
  d: "dependency",
  D: "chdir",
  H: "hold",
};

/** Options of Slurm without a value. */
const FLAGS = [
  "hold",
  "requeue",
  "no-requeue",
  "exclusive",
  "overcommit",
  "oversubscribe",
  "parsable",
  "wait",
];

class SlurmOptions {
  readonly warnings: string[] = [];
  readonly #words: string[] = [];
  #tasks: number | undefined;
  #cpusPerTask = 1;

  read(words: readonly string[]): void {
    for (let i = 0; i < words.length; i++) {
      const word = words[i]!;
      const [, long, longValue] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
      const [, short, shortValue] = /^-(\w)(.*)$/s.exec(word) ?? [];
      const name = long ?? (short === undefined ? undefined : (LONG_NAMES[short] ?? short));
      if (name === undefined) {
        this.warnings.push(`#SBATCH ${word}: not understood, left out`);
        continue;
      }
      let value = long === undefined ? shortValue || undefined : longValue;
      if (value === undefined && !FLAGS.includes(name)) {
        const next = words[i + 1];
        if (next !== undefined && !next.startsWith("-")) {
          value = next;
          i++;
        }
      }
      this.#take(name, value, `#SBATCH ${word}${value === words[i] && word !== words[i] ? ` ${value}` : ""}`);
    }
  }

  words(): readonly string[] {
    const cpus = (this.#tasks ?? 1) * this.#cpusPerTask;
    const tasks = this.#tasks === undefined && this.#cpusPerTask === 1 ? [] : ["--tasks", String(cpus)];
    const threads = this.#cpusPerTask === 1 ? [] : ["--env", `all,OMP_NUM_THREADS=${this.#cpusPerTask}`];
    return [...this.#words, ...tasks, ...threads];
  }

  #take(name: string, value: string | undefined, line: string): void {
    const converted = value === undefined && name !== "hold" ? undefined : this.#convert(name, value ?? "");
    if (typeof converted === "string") this.warnings.push(`${line}: ${converted}`);
    else if (converted === undefined) this.warnings.push(`${line}: not understood, left out`);
    else this.#words.push(...converted);
  }

  /** Words of ours; or a remark on why there are none; or undefined for what is not understood. */
  #convert(name: string, value: string): readonly string[] | string | undefined {
    switch (name) {
      case "ntasks":
        return this.#count(value, (count) => {
          this.#tasks = count;
        });
      case "cpus-per-task":
        return this.#count(value, (count) => {
          this.#cpusPerTask = count;
        });
      case "nodes":
        return /^1(?:-\d+)?$/.test(value) ? [] : "this scheduler has one machine, all CPUs come from it";
      case "time": {
        const seconds = slurmSeconds(value);
        return seconds === undefined ? undefined : seconds === 0 ? [] : ["--time", `${seconds}s`];
      }
      case "mem": {
        const [, size, unit = "M"] = /^(\d+)([KMGT])?B?$/i.exec(value) ?? [];
        return size === undefined
          ? undefined
          : Number(size) === 0
            ? []
            : ["--mem", `${size}${unit.toUpperCase()}`];
      }
      case "partition":
        return ["--queue", value.split(",")[0]!];
      case "job-name":
        return ["--name", value];
      case "output":
      case "error":
        return this.#file(name, value);
      case "array":
        return ["--array", value];
      case "dependency":
        return slurmDependency(value);
      case "chdir":
        return ["--cwd", value];
      case "hold":
        return ["--hold"];
      case "export":
        return [
          "--env",
          value.toLowerCase() === "all" || value.toLowerCase() === "none"
            ? value.toLowerCase()
            : value.replace(/^ALL\b/, "all"),
        ];
      default:
        return undefined;
    }
  }

  #count(value: string, keep: (count: number) => void): readonly string[] | undefined {
    if (!/^[1-9]\d{0,6}$/.test(value)) return undefined;
    keep(Number(value));
    return [];
  }

  /** %j, %a and %x are the same here; %A, the array's number, is known only after the submit. */
  #file(name: "output" | "error", value: string): readonly string[] | string {
    const [unknown] = value.match(/%[^jax%]/) ?? [];
    if (unknown !== undefined) return `there is no ${unknown} here, only %j, %a and %x; left out`;
    return [`--${name}`, value];
  }
}

/** Seconds of `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes[:seconds]`. */
export function slurmSeconds(text: string): number | undefined {
  const [, days, rest = ""] = /^(?:(\d{1,6})-)?(\d{1,9}(?::\d{1,9}){0,2})$/.exec(text) ?? [];
  if (rest === "") return undefined;
  const parts = rest.split(":").map(Number);
  if (days !== undefined) {
    const [hours = 0, minutes = 0, seconds = 0] = parts;
    return Number(days) * 86_400 + hours * 3600 + minutes * 60 + seconds;
  }
  if (parts.length === 3) return parts[0]! * 3600 + parts[1]! * 60 + parts[2]!;
  return parts[0]! * 60 + (parts[1] ?? 0);
}

/** `afterok:1:2,afterany:3`; what is not about ended jobs is not known here. */
function slurmDependency(value: string): readonly string[] | string {
  const words: string[] = [];
  for (const part of value.split(",")) {
    const [, kind, jobs = ""] = /^(afterok|afterany):(\d+(?::\d+)*)$/.exec(part) ?? [];
    if (kind === undefined) return `only afterok and afterany are understood, not "${part}"; left out`;
    words.push(...jobs.split(":").map((job) => (kind === "afterok" ? job : `any:${job}`)));
  }
  return ["--after", words.join(",")];
}
