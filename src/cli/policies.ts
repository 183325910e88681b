/** `tutti policies [NAME]`: what each policy is; what it schedules, its exact rules, parameters and source, and the command that runs it. */
import type { Command } from "commander";
import type { ParameterSpec } from "../core/policy.ts";
import { isFile, loadPolicy } from "../lab/own-policy.ts";
import { chooseAnyPolicy } from "../policies/choose.ts";
import { type AnyPolicyDefinition, KINDS, rulesOf, type Sharing } from "../policies/kinds.ts";
import { ALL_POLICIES } from "../policies/registry.ts";
import { jsonDocument } from "../report/json.ts";
import { asUsage } from "./errors.ts";
import { bold, dim, wrap, writeOut } from "./text.ts";

const HELP = `
A policy of your own: --policy ./mine.ts, a module whose default export has a name, a sharing ("space" or "time") and
make(machine, jobs, parameters); examples/my-policy.ts is a whole one.`;

export function configure(command: Command): void {
  command
    .argument("[name]", "a policy, or a file with one of your own")
    .option("--json", "print as JSON")
    .addHelpText("after", HELP)
    .action(async (name: string | undefined, options: { readonly json?: boolean }) => {
      const chosen = name === undefined ? ALL_POLICIES : [await asUsage(() => definitionOf(name))];
      if (options.json) {
        writeOut(
          jsonDocument("tutti.policies/1", { policies: chosen.map((policy) => asData(policy, name)) }),
        );
      } else writeOut(name === undefined ? overview() : description(chosen[0], name));
    });
}

async function definitionOf(text: string): Promise<AnyPolicyDefinition> {
  const [name = ""] = text.split(":");
  return (isFile(name) ? await loadPolicy(text) : chooseAnyPolicy(text)).definition;
}

/** @param written as the user wrote it: of a policy of the user's own, the file */
function asData(policy: AnyPolicyDefinition, written = policy.name) {
  const { name, title, sharing, summary, source, parameters } = policy;
  const { machine, command } = KINDS[sharing];
  const rules = rulesOf(policy);
  return { name, title, sharing, machine, summary, rules, source, parameters, command: command(written) };
}

function overview(): string {
  const width = Math.max(...ALL_POLICIES.map(({ name }) => name.length)) + 2;
  const groups = (Object.keys(KINDS) as Sharing[]).map((sharing) => {
    const { title, machine, command } = KINDS[sharing];
    const lines = ALL_POLICIES.filter((policy) => policy.sharing === sharing).map(
      ({ name, summary }) => `  ${bold(name)}${" ".repeat(width - name.length)}${wrap(summary, width + 2)}`,
    );
    return `${wrap(`${title}: ${machine}`, 0)}\n${lines.join("\n")}\n  ${dim(command("NAME"))}\n`;
  });
  return `${groups.join("\n")}\ntutti policies NAME states the exact rules.\n`;
}

function description(policy: AnyPolicyDefinition, written: string): string {
  const { name, title, sharing, summary, source, parameters } = policy;
  const { title: kind, machine, command } = KINDS[sharing];
  const rules = rulesOf(policy);
  return [
    `${bold(name)}: ${title} (${kind.toLowerCase()})`,
    wrap(summary, 0),
    "",
    `${bold("Schedules")}\n  ${wrap(machine, 2)}`,
    "",
    ...(rules.length === 0 ? [] : [bold("Rules"), ...rules.map((rule) => `  - ${wrap(rule, 4)}`), ""]),
    ...(parameters.length === 0
      ? []
      : [bold("Parameters"), ...parameters.map((parameter) => parameterText(name, parameter)), ""]),
    `${bold("Source")}\n  ${wrap(source, 2)}`,
    "",
    `${bold("Runs with")}\n  ${command(written)}`,
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
