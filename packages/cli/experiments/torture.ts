/** `tutti lab torture --seed N`: runs the live scheduler in a simulated world with faults. */
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { DIST } from "@tutti/host/programs.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatCount, formatDigits, plural } from "@tutti/kernel/core/format.ts";
import { mergeRanges, type NumberRange, parseRanges } from "@tutti/kernel/core/number-ranges.ts";
import { writePageWith } from "@tutti/lab/files/lab-page.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import type { Verdict } from "@tutti/torture/run/course.ts";
import { loadParts, settler } from "@tutti/torture/run/host.ts";
import type { Life } from "@tutti/torture/run/life.ts";
import { Recorder } from "@tutti/torture/run/recorder.ts";
import type { Setting } from "@tutti/torture/run/setting.ts";
import { type Shrunk, shrink } from "@tutti/torture/run/shrink.ts";
import type { WorldParts } from "@tutti/torture/run/site.ts";
import { liveOnce, settingOf, torture } from "@tutti/torture/run/torture.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CheckFailed, ExitCode } from "../errors.ts";
import { untilSignal } from "../live/signals.ts";
import { integer } from "../options/parse.ts";
import { Progress } from "../text/progress.ts";
import { hint, writeOut, writePiece } from "../text/text.ts";
import { NO_NUMBERS, repeating, shrunkText, sumsOf, tortureText } from "../text/torture-text.ts";

interface Options {
  readonly seed: number;
  readonly hours: number;
  readonly onlyJobs?: readonly NumberRange[];
  readonly onlyFaults?: readonly NumberRange[];
  readonly shrink?: boolean;
  readonly log?: boolean;
  readonly html?: string;
  readonly json?: boolean;
  readonly progress: boolean;
}

const LOOK_MS = 200;
/** The trace of a life has millions of characters. */
const TRACE_PIECE = 65_536;

const HELP = `
Each life is a machine, or a few nodes of a Slurm, with a scheduler and its
users, from an empty disk to the last job. Its seed draws everything: CPUs,
control groups, configuration, users, jobs, and which faults happen when. The
programs are those that tutti serve starts; kernel, disk, clock and network are
simulated. At the end of a life, everything is checked that must hold.

A life depends on its seed alone, so the command that repeats a life shows the
same again. A life goes on until its jobs have ended, so the hours are more than
those that were asked for. Nothing outside the process is touched.`;

/** Adds description, options and action to `torture`. */
export function configureTorture(command: Command): void {
  command
    .description("run the scheduler in a simulated world with faults, and check what must hold")
    .option("--seed <n>", "seed of the first life; the next lives have the next ones", integer(0), 1)
    .option("--hours <h>", "begin lives until this many simulated hours have passed; 0: one life", hours, 0)
    .addOption(onlyOption("jobs"))
    .addOption(onlyOption("faults"))
    .addOption(
      new Option("--shrink", "look for the fewest jobs and faults with the first problem").conflicts([
        "json",
        "onlyJobs",
        "onlyFaults",
      ]),
    )
    .addOption(new Option("--log", "print what happens, line by line").conflicts("json"))
    .addOption(
      new Option("--html <file>", "also write the life as a page with its timeline and its matrix").conflicts(
        "hours",
      ),
    )
    .option("--json", "print as JSON")
    .option("--no-progress", "show no line of progress")
    .addHelpText("after", HELP)
    .action(run);
}

function onlyOption(what: "jobs" | "faults"): Option {
  return new Option(`--only-${what} <numbers>`, `leave out all ${what} but these: 3,7-9, or ${NO_NUMBERS}`)
    .argParser(numbers)
    .conflicts("hours");
}

function numbers(text: string): readonly NumberRange[] {
  const ranges = text === NO_NUMBERS ? [] : parseRanges(text);
  if (ranges !== undefined) return mergeRanges(ranges);
  throw new InvalidArgumentError(`expected numbers from 1, such as 3,7-9, or ${NO_NUMBERS}`);
}

function hours(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value >= 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new InvalidArgumentError("expected a number of hours, 0 or more");
}

async function run(options: Options): Promise<void> {
  const { seed, hours, onlyJobs, onlyFaults, log, html, json, progress } = options;
  const only = { jobs: onlyJobs, faults: onlyFaults };
  const parts = await partsInDist();
  const interrupt = untilSignal(["SIGINT", "SIGTERM"]);
  const before = process.cpuUsage();
  const cpuS = () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
  let recorder: Recorder | undefined;
  const host = hostOfLives(parts, interrupt, (life) => {
    if (html !== undefined) recorder = new Recorder(life);
  });
  const lives = await runLives(host, { seed, hours, only, trace: log === true }, interrupt, cpuS, progress);
  const usedS = cpuS();
  const sums = sumsOf(lives, usedS);
  const withCommands = () => lives.map((life) => ({ ...life, command: repeating(life.seed) }));
  writeOut(
    json
      ? jsonDocument("tutti.torture/1", { ...sums, cpuS: usedS, lives: withCommands() })
      : tortureText(lives, sums),
  );
  const failed = lives.find(({ problems }) => problems.length > 0);
  let recorded = lives[0];
  if (options.shrink && failed !== undefined && !interrupt.aborted) {
    const smallest = await shrinkLife(host, failed, interrupt, progress);
    writeOut(shrunkText(smallest));
    if (html !== undefined) recorded = await host.live({ ...settingOf(failed.seed), only: smallest.only });
  }
  host.close();
  if (html !== undefined && recorder !== undefined) {
    const text = JSON.stringify(recorder.recording(recorded));
    await writePageWith(html, "recording", text, "life-one-file.html");
    hint(`The life is in ${html}`);
  }
  if (interrupt.aborted) hint("Interrupted: the last life was not judged.");
  if (sums.failedLives > 0) throw new CheckFailed();
  if (interrupt.aborted) process.exitCode = ExitCode.interrupted;
}

/** @throws InputError if the programs were not built */
async function partsInDist(): Promise<WorldParts> {
  const file = (name: string) => new URL(`torture/${name}`, DIST);
  try {
    const programs = await import(file("programs.js").href);
    return await loadParts(programs, readFileSync(file("sqlite3.wasm")), Buffer);
  } catch (cause) {
    const { pathname } = file("");
    throw new InputError(`Cannot load the simulated programs in "${pathname}": run npm ci to build them`, {
      cause,
    });
  }
}

/** What lives need of this process. */
function hostOfLives(parts: WorldParts, interrupt: AbortSignal, onBegin: (life: Life) => void) {
  const { settle, close } = settler();
  let running: Life | undefined;
  // What Node finds in promises of simulated programs.
  const onRejection = (reason: unknown) => running?.rejected(reason);
  process.on("unhandledRejection", onRejection);
  interrupt.addEventListener("abort", () => {
    if (running !== undefined) running.isStopped = true;
  });
  const begin = (life: Life) => {
    running = life;
    onBegin(life);
  };
  return {
    options: { parts, settle, onBegin: begin },
    get running() {
      return running;
    },
    live: (setting: Setting) => liveOnce(setting, { parts, settle, onBegin: begin }),
    close: () => {
      process.off("unhandledRejection", onRejection);
      close();
    },
  };
}

type Host = ReturnType<typeof hostOfLives>;

async function shrinkLife(
  host: Host,
  verdict: Verdict,
  interrupt: AbortSignal,
  isShown: boolean,
): Promise<Shrunk> {
  const line = new Progress("", isShown);
  const text = ({ tries, jobs, faults }: Shrunk) =>
    `${formatCount(tries)} lives tried, ${plural(jobs, "job")} and ${plural(faults, "fault")} left`;
  try {
    return await shrink({
      ...{ setting: settingOf(verdict.seed), verdict, live: host.live },
      onTry: (smallest) => {
        line.show(() => text(smallest));
        return !interrupt.aborted;
      },
    });
  } finally {
    line.end();
  }
}

type Plan = Pick<Parameters<typeof torture>[0], "seed" | "hours" | "only"> & { readonly trace: boolean };

async function runLives(
  host: Host,
  { trace, ...plan }: Plan,
  interrupt: AbortSignal,
  cpuS: () => number,
  progress: boolean,
): Promise<readonly Verdict[]> {
  const { settle } = host.options;
  let written = "";
  const flush = async (least: number) => {
    if (written.length < least) return;
    const piece = written;
    written = "";
    await writePiece(piece);
  };
  let ended = { hours: 0, problems: 0 };
  const line = new Progress("", progress && !trace);
  const look = setInterval(() => {
    const life = host.running;
    if (life === undefined || life.isOver) return;
    const { setting, problems } = life;
    const simulated = ended.hours + life.hours;
    const found = ended.problems + problems.length;
    line.show(
      () =>
        `seed ${setting.seed}, ${formatDigits(simulated, 1)} simulated hours, ${formatCount(
          Math.round((simulated * 3600) / cpuS()),
        )} times real time, ${plural(found, "problem")}`,
    );
  }, LOOK_MS);
  try {
    return await torture({
      ...{ ...plan, ...host.options },
      settle: trace ? () => flush(TRACE_PIECE).then(settle) : settle,
      ...(trace && {
        log: (text: string) => {
          written += `${text}\n`;
        },
      }),
      onLife: ({ hours, problems }) => {
        ended = { hours: ended.hours + hours, problems: ended.problems + problems.length };
        return !interrupt.aborted;
      },
    });
  } finally {
    clearInterval(look);
    await flush(0);
    line.end();
  }
}
