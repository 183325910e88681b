/**
 * Where the ranks of a step write: to srun's own streams, with their numbers (`-l`), or to files (`-o`,
 * `-e`).
 */
import type { IOType } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import type { Given } from "@tutti/cli/options/slurm-given.ts";
import { SlurmError } from "../errors.ts";
import type { RankStreams } from "./started.ts";

interface StepNames {
  readonly job: string;
  readonly step: number;
  readonly node: string;
  readonly ranks: number;
  readonly env: NodeJS.ProcessEnv;
}

type Target = IOType | number;

/** Longer lines are written in pieces, each with the number. */
const MAX_LINE = 1 << 20;

export class RankOutputs {
  readonly #names: StepNames;
  readonly #isLabelled: boolean;
  readonly #patterns: { readonly out: string | undefined; readonly err: string | undefined };
  readonly #append: boolean;
  /** Only rank 0 has the terminal; nothing is seen of the others. */
  readonly #isTerminal: boolean;
  /** Open files by path: ranks may share one. */
  readonly #files = new Map<string, number>();

  constructor(options: Given, names: StepNames) {
    this.#names = names;
    this.#isLabelled = options.has("label");
    const out = options.get("output")?.value;
    this.#patterns = { out, err: options.get("error")?.value ?? out };
    const mode = options.get("open-mode")?.value ?? names.env.SLURM_OPEN_MODE ?? "t";
    this.#append = mode.startsWith("a");
    this.#isTerminal = options.has("pty");
  }

  stdioOf(rank: number): { readonly out: Target; readonly err: Target } {
    if (this.#isTerminal) return rank === 0 ? { out: 1, err: 2 } : { out: "ignore", err: "ignore" };
    return {
      out: this.#target(this.#patterns.out, rank, 1),
      err: this.#target(this.#patterns.err, rank, 2),
    };
  }

  /** Reads the rank's pipes, if it has any. */
  attach(rank: number, { stdout, stderr }: RankStreams): void {
    const width = String(this.#names.ranks - 1).length;
    const label = `${String(rank).padStart(width)}: `;
    if (stdout !== null) labelLines(stdout, process.stdout, label);
    if (stderr !== null) labelLines(stderr, process.stderr, label);
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
  }

  #target(pattern: string | undefined, rank: number, own: 1 | 2): Target {
    // `all` is the usual; a number names the only rank that is shown.
    const one = /^\d+$/.exec(pattern ?? "")?.[0];
    if (one !== undefined && Number(one) !== rank) return "ignore";
    if (pattern === undefined || pattern === "all" || one !== undefined)
      return this.#isLabelled ? "pipe" : own;
    if (pattern === "none") return "ignore";
    return this.#open(resolve(this.#pathOf(pattern, rank)));
  }

  #open(path: string): number {
    const open = this.#files.get(path);
    if (open !== undefined) return open;
    try {
      // Appending also keeps ranks that share a file from overwriting each other.
      if (!this.#append) closeSync(openSync(path, "w", 0o666));
      const file = openSync(path, "a", 0o666);
      this.#files.set(path, file);
      return file;
    } catch (error) {
      throw new SlurmError(`Could not open stdout file ${path}: ${(error as Error).message}`);
    }
  }

  #pathOf(pattern: string, rank: number): string {
    const { job, step, node, env } = this.#names;
    const values: Readonly<Record<string, string>> = {
      A: env.SLURM_ARRAY_JOB_ID ?? job,
      a: env.SLURM_ARRAY_TASK_ID ?? "4294967294",
      J: `${job}.${step}`,
      j: job,
      N: node,
      n: "0",
      s: String(step),
      t: String(rank),
      u: env.SLURM_JOB_USER ?? "",
      x: env.SLURM_JOB_NAME ?? "",
    };
    return pattern.replace(
      /%(?:%|(\d{0,2})([AaJjNnstux]))/g,
      (match, width: string | undefined, letter: string) => {
        if (match === "%%") return "%";
        const value = values[letter].replaceAll("/", "_");
        return /^\d+$/.test(value) ? value.padStart(Number(width ?? 0), "0") : value;
      },
    );
  }
}

function labelLines(from: NodeJS.ReadableStream, to: NodeJS.WriteStream, label: string): void {
  let rest = "";
  const write = (text: string) => {
    if (to.write(text)) return;
    from.pause();
    to.once("drain", () => from.resume());
  };
  from.setEncoding("utf8");
  from.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) {
      lines.push(rest);
      rest = "";
    }
    if (lines.length > 0) write(lines.map((line) => `${label}${line}\n`).join(""));
  });
  from.on("end", () => {
    if (rest !== "") write(`${label}${rest}\n`);
  });
}
