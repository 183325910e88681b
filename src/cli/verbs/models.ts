/** `tutti models [NAME]`: generators of jobs for one machine, and machines with jobs of their own; the rules and parameters of one. */
import type { Command } from "commander";
import { closest } from "../../core/closest.ts";
import type { ParameterSpec } from "../../core/policy.ts";
import { WINGS } from "../../models/wings.ts";
import { jsonDocument } from "../../report/text/json.ts";
import { MODELS } from "../../workload/models/registry.ts";
import { UsageError } from "../errors.ts";
import { entryText, overviewText, ruleText } from "../text/catalogue.ts";
import { bold, writeOut } from "../text/text.ts";

interface Listed {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly parameters: readonly ParameterSpec[];
  /** Those that run on it, where these are its own. */
  readonly policies?: readonly { readonly name: string }[];
}

interface ModelGroup {
  readonly title: string;
  readonly models: readonly Listed[];
  /** The command that runs one. */
  command(model: string, policies?: Listed["policies"]): string;
}

/** In the order in which they are listed. */
const GROUPS: readonly ModelGroup[] = [
  {
    title: "Jobs for one machine",
    models: MODELS,
    command: (name) => `tutti simulate ${name} --policy POLICY`,
  },
  {
    title: "Machines with jobs and policies of their own",
    models: WINGS,
    command: (name, policies = []) =>
      `tutti simulate ${name} --policy ${policies.map((policy) => policy.name).join("|") || "POLICY"}`,
  },
];

export function configure(command: Command): void {
  command
    .argument("[name]", "a model")
    .option("--json", "print as JSON")
    .action((name: string | undefined, options: { readonly json?: boolean }) => {
      const all = GROUPS.flatMap(({ models, command: of }) =>
        models.map((model) => ({ model, command: of(model.name, model.policies) })),
      );
      const chosen = name === undefined ? all : all.filter(({ model }) => model.name === name.split(":")[0]);
      if (chosen.length === 0) {
        const names = all.map(({ model }) => model.name);
        throw new UsageError(
          `Cannot find model "${name}"${closest(name ?? "", names)}: expected one of ${names.join(", ")}`,
        );
      }
      if (options.json) writeOut(jsonDocument("tutti.models/1", { models: chosen.map(asData) }));
      else writeOut(name === undefined ? overview() : description(chosen[0]));
    });
}

type Chosen = { readonly model: Listed; readonly command: string };

function asData({ model, command }: Chosen) {
  return { ...model, policies: model.policies?.map(({ name }) => name), command };
}

function overview(): string {
  const groups = GROUPS.map(({ title, models, command }) => ({
    title,
    entries: models,
    command: command("NAME"),
  }));
  return overviewText(groups, "tutti models NAME states rules and parameters.");
}

function description({ model, command }: Chosen): string {
  const heading = `${bold(model.name)}: ${model.title}`;
  return entryText({ ...model, heading, rules: model.rules.map(ruleText), command });
}
