/** Formats the lists of policies and models, and the full description of one policy or model. */

import { plural } from "@tutti/kernel/core/format.ts";
import type { ParameterSpec, RulesInForce } from "@tutti/kernel/core/policy.ts";
import { bold, bullet, dim, wrap } from "./text.ts";

/** Maximum number of a policy's own rules that are shown without `--all`. */
const MAX_OWN_RULES = 5;

interface Named {
  readonly name: string;
  readonly summary: string;
}

export interface EntryGroup<Listed extends Named = Named> {
  readonly title: string;
  readonly entries: readonly Listed[];
  /** The command that runs an entry. */
  command(name: string, entry?: Listed): string;
}

/** All groups, with one line per entry. */
export function overviewText(groups: readonly EntryGroup[], note: string): string {
  const names = groups.flatMap(({ entries }) => entries.map(({ name }) => name.length));
  const width = Math.max(...names) + 2;
  const texts = groups.map(({ title, entries, command }) => {
    const lines = entries.map(
      ({ name, summary }) => `  ${bold(name)}${" ".repeat(width - name.length)}${wrap(summary, width + 2)}`,
    );
    return `${wrap(title, 0)}\n${lines.join("\n")}\n  ${dim(command("NAME"))}\n`;
  });
  return `${texts.join("\n")}\n${note}\n`;
}

interface Entry {
  readonly name: string;
  readonly heading: string;
  readonly summary: string;
  readonly schedules?: string;
  /** Formatted lines. */
  readonly rules: readonly string[];
  readonly parameters: readonly ParameterSpec[];
  readonly source: string;
  readonly command: string;
}

/** One entry in full. */
export function entryText({ name, summary, heading, schedules, rules, ...rest }: Entry): string {
  const parameters = rest.parameters.map((parameter) => parameterText(name, parameter));
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", bold(title), ...lines];
  return [
    heading,
    wrap(summary, 0),
    ...section("Schedules", schedules === undefined ? [] : [`  ${wrap(schedules, 2)}`]),
    ...section("Rules", rules),
    ...section("Parameters", parameters),
    ...section("Source", [`  ${wrap(rest.source, 2)}`]),
    ...section("Runs with", [`  ${rest.command}`]),
    "",
  ].join("\n");
}

/**
 * The rules of a policy: all of them, or at most five of its own. A last line gives the number of rules that
 * are left out.
 */
export function ruleLines({ own, inherited }: RulesInForce, all = false): string[] {
  const rules = [...own, ...inherited];
  const shown = all ? rules : own.slice(0, MAX_OWN_RULES);
  const lines = shown.map(bullet);
  const left = rules.length - shown.length;
  if (left > 0)
    lines.push(
      `  ${dim(shown.length > 0 ? `and ${left} more; --all shows all` : `${plural(left, "rule")}; --all shows all`)}`,
    );
  return lines;
}

/** One parameter of a policy or a model. */
function parameterText(owner: string, spec: ParameterSpec): string {
  return `  ${bold(`${owner}:${spec.name}=${spec.default}`)}\n      ${wrap(`${spec.description} (${rangeOf(spec)})`, 6)}`;
}

function rangeOf(spec: ParameterSpec): string {
  if (spec.kind === "choice") return spec.choices.join(", ");
  if (spec.kind === "file") return "name of a file";
  const unit = spec.unit === undefined ? "" : ` ${spec.unit}`;
  const kind = spec.kind === "list" ? `${spec.of}s separated by commas,` : spec.kind;
  const range = `${kind} from ${spec.min} to ${spec.max}${unit}`;
  return spec.kind === "list" || spec.noneFrom === undefined ? range : `${range}, or none`;
}
