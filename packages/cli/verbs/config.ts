/**
 * `tutti config check FILE` checks a configuration file of `tutti serve`; `tutti config schema` prints its
 * schema; `tutti config completions SHELL` prints a completion script.
 */

import { InputError } from "@tutti/kernel/core/errors.ts";
import { limitText, plural } from "@tutti/kernel/core/format.ts";
import {
  type Config,
  type LimitSettings,
  limitTablesOf,
  readConfig,
} from "@tutti/live/daemon/config/config.ts";
import { readText } from "@tutti/live/daemon/config/config-text.ts";
import { choosePolicyFor, ownPolicyIn } from "@tutti/live/daemon/scheduling/policy-choice.ts";
import { configSchema, UNLIMITED } from "@tutti/protocol/config.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { Argument, type Command } from "commander";
import { hint, leftColumn, table, writeJson, writeOut } from "../text/text.ts";
import { completionScript, SHELLS } from "./completions.ts";

const FIELDS: readonly (keyof Config)[] = [
  "policy",
  "mode",
  "slotMs",
  "maxRows",
  "pack",
  "memoryBytes",
  "cpus",
  "features",
  "graceMs",
  "keepDays",
  "keepJobs",
];

const COMPLETIONS_HELP = `
Where its output belongs:
  bash  ~/.local/share/bash-completion/completions/tutti
  zsh   ~/.zfunc/_tutti, with ~/.zfunc in fpath
  fish  ~/.config/fish/completions/tutti.fish`;

export function configure(command: Command, wholeProgram: () => Promise<Command>): void {
  command
    .command("check <file>")
    .description(
      "report mistakes in a file; if there are none, print the settings in force and their sources",
    )
    .action(check);
  command
    .command("schema")
    .description("print the JSON schema of the file")
    .action(() => writeJson(configSchema()));
  command
    .command("completions")
    .description("print the completion script for a shell")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText("after", COMPLETIONS_HELP)
    .action(async (shell) => writeOut(completionScript(shell, await wholeProgram())));
}

async function check(file: string): Promise<void> {
  const { config, lines, notes } = readConfig(readText(file), file);
  try {
    choosePolicyFor(config.policy, config, await ownPolicyIn(config));
  } catch (error) {
    throw new InputError(
      `Cannot use ${JSON.stringify(config.policy)} as policy in "${file}", line ${lines.get("policy")}: ${(error as Error).message}`,
    );
  }
  const source = (field: string) => {
    if (!lines.has(field)) return "default";
    const line = lines.get(field);
    return line === undefined ? "file" : `line ${line}`;
  };
  const rows = [
    ...FIELDS.map((field) => [field, valueText(config[field]), source(field)]),
    ["machine.smt", valueText(config.machine.smt), source("machine")],
    ...config.resources.map((resource) => [
      `resources.${resource.name}`,
      resourceText(resource),
      source(`resources.${resource.name}`),
    ]),
    ...(["runningCpus", "runningJobs", "waitingJobs", "cpuHours"] as const).flatMap((field) => {
      const value = config.limits[field];
      return value === undefined ? [] : [[`limits.${field}`, String(value), source("limits")]];
    }),
    ...limitTablesOf(config).map(([field, limits]) => [
      visibleLine(field),
      limitsText(limits),
      source(field),
    ]),
    ...(config.shares === undefined ? [] : [["shares", sharesText(config.shares), source("shares")]]),
    ["web.submit", valueText(config.web.submit), source("web")],
    ...config.queues.map((queue, i) => [
      `queues[${i}]`,
      queueText(queue),
      source(lines.has(`queues[${i}]`) ? `queues[${i}]` : "queues"),
    ]),
  ];
  for (const note of notes) hint(`tutti: note: ${note}`);
  writeOut(`${table([leftColumn("setting"), leftColumn("value"), leftColumn("source", 1)], rows)}\n`);
}

function valueText(value: unknown): string {
  if (value === undefined) return "all of the machine's";
  if (!Array.isArray(value)) return visibleLine(String(value));
  return value.length === 0 ? "none" : value.join(",");
}

function resourceText({ units, isShared }: Config["resources"][number]): string {
  if (units.length === 0) return "none";
  const shown = units.slice(0, 8).map((unit) => visibleLine(unit));
  const more = units.length > shown.length ? ", …" : "";
  return `${units.length}: ${shown.join(", ")}${more}${isShared ? "; shared" : ""}`;
}

function sharesText({ halfLifeDays, users, groups }: NonNullable<Config["shares"]>): string {
  const named = Object.entries(users).map(([user, shares]) => `${user} ${shares}`);
  const grouped = Object.entries(groups).map(([group, { shares }]) => `group ${group} ${shares}`);
  const who = [...named, ...grouped].map(visibleLine);
  return [`usage counts half after ${plural(halfLifeDays, "day")}`, ...who].join(", ");
}

function limitsText(limits: LimitSettings): string {
  return Object.entries(limits)
    .map(([field, value]) => `${field} ${value}`)
    .join(", ");
}

function queueText({ queueClass, aliases = [], defaultLimitMs, limits }: Config["queues"][number]): string {
  const { name, processors, elapsedBelowS, reservations } = queueClass;
  return [
    visibleLine(name),
    ...(aliases.length === 0 ? [] : [`also called ${aliases.map(visibleLine).join(" and ")}`]),
    processors >= UNLIMITED ? "any number of CPUs" : `at most ${processors} CPUs`,
    ...(elapsedBelowS === undefined ? [] : [`limit below ${limitText(elapsedBelowS * 1000)}`]),
    ...(defaultLimitMs === undefined
      ? []
      : [`jobs without a limit are expected to run for ${limitText(defaultLimitMs)}`]),
    ...(reservations === undefined ? [] : [plural(reservations.limit, "reservation")]),
    ...(limits === undefined ? [] : [limitsText(limits)]),
  ].join(", ");
}
