/** `tutti window add`, `remove` and `list`: keep the machine for some jobs, or for none, for a time. */

import { NO_VALUE } from "@tutti/kernel/core/format.ts";
import { MAX_REASON_LENGTH } from "@tutti/protocol/limits.ts";
import type { WindowAnswer, WindowBody, WindowsAnswer } from "@tutti/protocol/schema.ts";
import { BEGIN_EXPECTED, beginTimeMs } from "@tutti/words/begin-time.ts";
import { clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { forWhom, windowText } from "@tutti/words/windows.ts";
import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../errors.ts";
import { type Asked, show } from "../live/show.ts";
import { duration } from "../options/parse.ts";
import { commandName, left, right, tableOf, wrap } from "../text/text.ts";

const seconds = duration("above zero");

interface Options {
  readonly begin?: number;
  readonly for?: number;
  readonly until?: number;
  readonly user?: readonly string[];
  readonly queue?: readonly string[];
  readonly reason?: string;
}

const ADD_HELP = `
Administrators only. Without --user and --queue, nothing starts in the window.
Other jobs start before it only if they end in time by their limits; those
without a limit wait for its end. Jobs that run when it begins continue. It
stays in force when the scheduler is restarted.
  tutti window add disk --begin 23:00 --for 2h --reason "new disk"
  tutti window add course --begin tomorrow --for 10h --user anna,ben`;

export function configure(command: Command): void {
  const add = command
    .command("add <name>")
    .description("keep the machine for some jobs, or for none; NAME has letters, digits, _, . and -")
    .option("--begin <when>", "begin: now, 23:00, +2h, tomorrow or 2026-12-01T08:00", time)
    .option("--for <duration>", "how long, such as 2h", durationMs)
    .option("--until <when>", "end, instead of --for", time)
    .option("--user <users>", "only jobs of these users start in it: anna,ben", names)
    .option("--queue <queues>", "only jobs in these queues start in it: night,long", names)
    .option("--reason <text>", `why, at most ${MAX_REASON_LENGTH} characters; all users see it`)
    .addHelpText("after", ADD_HELP);
  show(add, {
    ask: (asked: Asked<Options, [string]>) => {
      const body = bodyOf(asked.words[0], asked.options);
      return asked.client.ask<WindowAnswer>("/v1/windows", { method: "POST", body });
    },
    text: ({ window }) => `Window ${wrap(windowText(window), 0)}.\n`,
    next: (_, { words: [name] }) =>
      `next: ${commandName()} window list lists them, ${commandName()} window remove ${name} removes it`,
  });
  const remove = command
    .command("remove <name>")
    .description("remove a window")
    .addHelpText("after", "\nAdministrators only. Jobs that waited for its end may start.");
  show(remove, {
    ask: ({ client, words: [name] }: Asked<object, [string]>) =>
      client.ask<WindowAnswer>(`/v1/windows/${encodeURIComponent(name)}`, { method: "DELETE" }),
    text: (_, { words: [name] }) => `Removed window ${name}.\n`,
  });
  show(command.command("list").description("list the windows that are not over"), {
    ask: ({ client }) => client.ask<WindowsAnswer>("/v1/windows"),
    text: ({ windows }) =>
      windows.length === 0 ? "No windows are announced.\n" : `${windowsTable(windows)}\n`,
  });
}

function windowsTable(windows: WindowsAnswer["windows"]): string {
  return tableOf<(typeof windows)[number]>(windows, [
    left("window", ({ name }) => visibleLine(name)),
    left("begin", ({ fromMs }) => clockText(fromMs)),
    left("end", ({ untilMs }) => clockText(untilMs)),
    left("for", (window) => forWhom(window) ?? "no jobs"),
    left("by", ({ by }) => visibleLine(by), 1),
    left("reason", ({ reason = NO_VALUE }) => visibleLine(reason), 2),
    windows.some(({ running = 0 }) => running > 0)
      ? right("still running", ({ running = 0 }) => String(running), 3)
      : undefined,
  ]);
}

function bodyOf(name: string, options: Options): WindowBody {
  const { begin, for: forMs, until, user, queue, reason } = options;
  if ((forMs === undefined) === (until === undefined)) {
    const what = forMs === undefined ? "it has no end" : "it has two ends, --for and --until";
    throw new UsageError(`Cannot add window "${name}": ${what}, expected --for 2h or --until 23:00`);
  }
  return {
    name,
    fromMs: begin,
    untilMs: until ?? (begin ?? Date.now()) + forMs!,
    users: user,
    queues: queue,
    reason,
  };
}

function time(text: string): number {
  const unixMs = beginTimeMs(text, Date.now());
  if (unixMs === undefined) throw new InvalidArgumentError(`expected ${BEGIN_EXPECTED}`);
  return unixMs;
}

function durationMs(text: string): number {
  return Math.round(seconds(text) * 1000);
}

function names(text: string, before: readonly string[] = []): readonly string[] {
  return [
    ...before,
    ...text
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
  ];
}
