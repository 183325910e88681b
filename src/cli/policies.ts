/** `tutti policies [NAME]`: what each policy is; its exact rules, parameters and source. */
import type { Command } from "commander";
import type { ParameterSpec, PolicyDefinition } from "../core/policy.ts";
import { ROUNDS_RULES } from "../core/rules.ts";
import { loadPolicy } from "../lab/own-policy.ts";
import { POLICIES } from "../policies/registry.ts";
import { jsonDocument } from "../report/json.ts";
import { asUsage } from "./errors.ts";
import { bold, wrap, writeOut } from "./text.ts";

const HELP = `
A policy of your own: --policy ./mine.ts, a module whose default export has a name, a sharing ("space" or "time") and
make(machine, jobs, parameters); examples/my-policy.ts is a whole one.`;

export function configure(command: Command): void {
  command
    .argument("[name]", "a policy, or a file with one of your own")
    .option("--json", "print as JSON")
    .addHelpText("after", HELP)
    .action(async (name: string | undefined, options: { readonly json?: boolean }) => {
      const chosen = name === undefined ? POLICIES : [(await asUsage(() => loadPolicy(name))).definition];
      if (options.json) writeOut(jsonDocument("tutti.policies/1", { policies: chosen.map(asData) }));
      else if (name === undefined) writeOut(overview(chosen));
      else writeOut(chosen.map(description).join("\n"));
    });
}

function asData(policy: PolicyDefinition) {
  const { name, title, sharing, summary, source, parameters } = policy;
  return { name, title, sharing, summary, rules: rulesOf(policy), source, parameters };
}

/** The policy's own rules and, for time sharing, those of the simulator that decide results as much. */
function rulesOf({ sharing, rules }: PolicyDefinition): readonly string[] {
  return sharing === "time" ? [...rules, ...ROUNDS_RULES] : rules;
}

function overview(policies: readonly PolicyDefinition[]): string {
  const width = Math.max(...policies.map(({ name }) => name.length)) + 2;
  const groups = (["space", "time"] as const).map((sharing) => {
    const lines = policies
      .filter((policy) => policy.sharing === sharing)
      .map(
        ({ name, summary }) => `  ${bold(name)}${" ".repeat(width - name.length)}${wrap(summary, width + 2)}`,
      );
    return lines.length === 0
      ? ""
      : `${sharing === "space" ? "Space sharing" : "Time sharing"}\n${lines.join("\n")}\n`;
  });
  return `${groups.filter((group) => group !== "").join("\n")}\ntutti policies NAME states the exact rules.\n`;
}

function description(policy: PolicyDefinition): string {
  const { name, title, sharing, summary, source, parameters } = policy;
  const rules = rulesOf(policy);
  return [
    `${bold(name)}: ${title} (${sharing} sharing)`,
    wrap(summary, 0),
    "",
    ...(rules.length === 0 ? [] : [bold("Rules"), ...rules.map((rule) => `  - ${wrap(rule, 4)}`), ""]),
    ...(parameters.length === 0
      ? []
      : [bold("Parameters"), ...parameters.map((parameter) => parameterText(name, parameter)), ""]),
    `${bold("Source")}\n  ${wrap(source, 2)}`,
    "",
  ].join("\n");
}

/** One parameter of a policy or a model, as help shows it. */
export function parameterText(owner: string, spec: ParameterSpec): string {
  const range =
    spec.kind === "choice"
      ? spec.choices.join(", ")
      : `${spec.kind} from ${spec.min} to ${spec.max}${spec.unit === undefined ? "" : ` ${spec.unit}`}`;
  return `  ${bold(`${owner}:${spec.name}=${spec.default}`)}\n      ${wrap(`${spec.description} (${range})`, 6)}`;
}
