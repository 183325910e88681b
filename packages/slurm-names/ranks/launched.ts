/**
 * Starts the ranks of an MPI program through the launcher of its library. The launcher starts a small shell
 * script for each rank, which gives the rank its numbers and its streams, and writes down how it ended. So
 * labels, files, standard input and exit codes are those of a step, whatever the launcher makes of them.
 */
import { spawn, spawnSync } from "node:child_process";
import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, symlinkSync } from "node:fs";
import { Socket } from "node:net";
import { constants as system } from "node:os";
import { delimiter, join, resolve as resolvePath } from "node:path";
import { PassThrough } from "node:stream";
import { keepingShell } from "@tutti/host/shell.ts";
import { SlurmError } from "../errors.ts";
import type { Launcher } from "./mpi.ts";
import { gpuVariables, type RankPlan, rankVariables } from "./plan.ts";
import {
  endByCode,
  endBySignal,
  endOfMissing,
  type RankEnd,
  type RankStreams,
  type StartedRanks,
} from "./started.ts";

/** How often we look whether ranks have opened their inputs. */
const LOOK_MS = 20;
const SIGNALS = new Map(
  Object.entries(system.signals).map(([name, number]) => [number, name as NodeJS.Signals]),
);

/**
 * A signal ends the rank and not the script, which then writes how. Without -K, the launcher sees no exit
 * codes, so it lets the other ranks go on. The shell itself would also write which signal ended the
 * rank; srun does.
 */
const script = (rank: string, plan: RankPlan) => `trap : HUP INT TERM USR1 USR2
at=$1 tells=$2 rank=$${rank}
shift 2
export ${Object.entries(rankVariables("$rank", plan.step))
  .map(([name, value]) => `${name}="${value}"`)
  .join(" ")}
${gpuLines(plan)}
echo "$$" > "$at/pid.$rank"
exec < "$at/in.$rank"
[ ! -e "$at/out.$rank" ] || exec >> "$at/out.$rank"
[ ! -e "$at/err.$rank" ] || exec 2>> "$at/err.$rank"
exec 3>&2 2> /dev/null
(exec "$@" 2>&3 3>&-)
code=$?
echo "$code" > "$at/code.$rank"
[ -z "$tells" ] || exit "$code"`;

function gpuLines(plan: RankPlan): string {
  const { gpusEach: each } = plan;
  return gpuVariables(plan)
    .map(
      (name) =>
        `export ${name}=$(echo "$${name}" | cut -d, -f$((rank * ${each} + 1))-$((rank * ${each} + ${each})))`,
    )
    .join("\n");
}

/** @throws SlurmError */
export function startLaunched(plan: RankPlan, launcher: Launcher): StartedRanks {
  const { ranks, cpus, folder, command } = plan;
  if (folder === undefined)
    throw new SlurmError("Unable to create step: the job has no folder for its pipes");
  const cwd = resolvePath(plan.cwd ?? ".");
  const program = programPath(command[0], cwd, plan.env);
  if (typeof program !== "string") {
    const ends = numbers(ranks).map((rank) => endOfMissing(rank, command[0], program));
    return { streams: [], ends: Promise.resolve(ends), code: () => ends[0].code, signal: () => {} };
  }
  const pipes = makePipes(plan, folder);
  const { kind } = launcher;
  const child = spawn(
    launcher.program,
    [
      ...kind.words(ranks, ranks > cpus),
      ...[...keepingShell(), "-c", script(kind.rank, plan)],
      ...["srun", folder, plan.killOnFailure ? "1" : "", program, ...command.slice(1)],
    ],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...plan.env, ...kind.variables(ranks) },
      cwd,
      // Ctrl-C in a terminal reaches it once, from us. Launchers take a second one as "leave at once".
      detached: true,
    },
  );
  let code = 1;
  const over = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      process.stderr.write(`srun: error: Cannot run ${launcher.program}: ${error.message}\n`);
      resolve();
    });
    child.on("exit", (exitCode, signal) => {
      code = exitCode ?? 128 + system.signals[signal!];
      resolve();
    });
  });
  over.then(() => pipes.finish());
  return {
    streams: pipes.streams,
    ends: Promise.all([over, pipes.closed]).then(() => endsOf(folder, ranks)),
    code: (ends) => stepCode(ends, code),
    signal: (name) => {
      const isForRanks = name === "SIGUSR1" || name === "SIGUSR2";
      if (isForRanks && !kind.passesSignals) signalRanks(folder, ranks, name);
      else child.kill(name);
    },
  };
}

/**
 * Ranks that the launcher ended because another one had failed do not count. A launcher that fails by itself
 * does.
 */
function stepCode(ends: readonly RankEnd[], launcherCode: number): number {
  const codes = ends.map(({ code }) => code);
  const ended = [128 + system.signals.SIGTERM, 128 + system.signals.SIGKILL];
  return Math.max(0, ...codes.filter((code) => !ended.includes(code))) || Math.max(launcherCode, ...codes);
}

/** Of a launcher that started no rank, none is said to have been killed. */
function endsOf(folder: string, ranks: number): readonly RankEnd[] {
  const codes = numbers(ranks).map((rank) => {
    try {
      return Number(readFileSync(join(folder, `code.${rank}`), "utf8"));
    } catch {
      return undefined;
    }
  });
  if (codes.every((code) => code === undefined)) return [];
  return codes.map((code, rank) => {
    if (code === undefined) return endBySignal(rank, "SIGKILL");
    const signal = SIGNALS.get(code - 128);
    return signal === undefined ? endByCode(rank, code) : endBySignal(rank, signal);
  });
}

/** A rank that has not begun, or has ended, gets none. */
function signalRanks(folder: string, ranks: number, name: NodeJS.Signals): void {
  for (const rank of numbers(ranks)) {
    try {
      const pid = Number(readFileSync(join(folder, `pid.${rank}`), "utf8"));
      if (pid > 1 && !existsSync(join(folder, `code.${rank}`))) process.kill(-pid, name);
    } catch {
      // See above.
    }
  }
}

/** The full path, or why it cannot be run: the shell would take `exit` for its own. */
function programPath(word: string, cwd: string, env: NodeJS.ProcessEnv): string | NodeJS.ErrnoException {
  const paths = word.includes("/")
    ? [resolvePath(cwd, word)]
    : (env.PATH ?? "").split(delimiter).map((folder) => resolvePath(cwd, folder, word));
  let problem: NodeJS.ErrnoException = Object.assign(new Error(), { code: "ENOENT" });
  for (const path of paths) {
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") problem = error as NodeJS.ErrnoException;
    }
  }
  return problem;
}

interface Pipes {
  readonly streams: readonly RankStreams[];
  /** All output has arrived. */
  readonly closed: Promise<unknown>;
  /** All ranks have ended. */
  finish(): void;
}

/**
 * Named pipes for standard input, and for output that is labelled; links to files for output that goes there.
 * Other output goes through the launcher.
 */
function makePipes({ ranks, outputs }: RankPlan, folder: string): Pipes {
  const names: string[] = [];
  const outs: string[] = [];
  for (const rank of numbers(ranks)) {
    names.push(`in.${rank}`);
    const { out, err } = outputs.stdioOf(rank);
    for (const [name, target] of [[`out.${rank}`, out] as const, [`err.${rank}`, err] as const]) {
      if (target === "pipe") outs.push(name);
      else if (target === "ignore") symlinkSync("/dev/null", join(folder, name));
      else if (typeof target === "number" && target > 2)
        symlinkSync(`/proc/${process.pid}/fd/${target}`, join(folder, name));
    }
  }
  const { status, stderr } = spawnSync("mkfifo", ["-m", "600", ...names, ...outs], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new SlurmError(`Unable to create step: no pipes in ${folder}: ${stderr.trim()}`);
  const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
  // While we hold a pipe open for writing, it does not end before its rank has opened it.
  const held: number[] = [];
  const readers = new Map(
    outs.map((name) => {
      const path = join(folder, name);
      const reader = new Socket({
        fd: openSync(path, O_RDONLY | O_NONBLOCK),
        readable: true,
        writable: false,
      });
      held.push(openSync(path, O_WRONLY | O_NONBLOCK));
      return [name, reader] as const;
    }),
  );
  const inputs = numbers(ranks).map((rank) => new RankInput(join(folder, `in.${rank}`)));
  const timer = setInterval(() => {
    if (inputs.filter((input) => !input.tryOpen()).length === 0) clearInterval(timer);
  }, LOOK_MS);
  return {
    streams: inputs.map(({ stream }, rank) => ({
      stdin: stream,
      stdout: readers.get(`out.${rank}`) ?? null,
      stderr: readers.get(`err.${rank}`) ?? null,
    })),
    closed: Promise.all(
      [...readers.values()].map((reader) => new Promise((resolve) => reader.on("close", resolve))),
    ),
    finish: () => {
      clearInterval(timer);
      for (const input of inputs) input.close();
      for (const file of held) closeSync(file);
    },
  };
}

/** Takes what a rank is to read, also before the rank has opened its pipe. */
class RankInput {
  readonly stream = new PassThrough();
  readonly #path: string;
  #pipe: Socket | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens the pipe if the rank has opened it. @returns whether it is open now */
  tryOpen(): boolean {
    if (this.#pipe !== undefined) return true;
    try {
      const fd = openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
      this.#pipe = new Socket({ fd, readable: false, writable: true });
    } catch {
      return false;
    }
    // A rank that has ended reads no more.
    this.#pipe.on("error", () => this.stream.destroy());
    this.stream.pipe(this.#pipe);
    return true;
  }

  close(): void {
    this.stream.destroy();
    this.#pipe?.destroy();
  }
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i);
}
