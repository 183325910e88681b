/**
 * `tutti models [NAME]`: lists the models that generate jobs for one machine, and the systems that have their
 * own jobs. With NAME, prints the rules and parameters of that model.
 */
import type { Command } from "commander";
import type { ParameterSpec } from "../../core/policy.ts";
import { jsonDocument } from "../../report/text/json.ts";
import { WINGS } from "../../wings/wings.ts";
import { MODELS } from "../../workload/models/registry.ts";
import { unknownName } from "../errors.ts";
import { type EntryGroup, entryText, overviewText } from "../text/catalogue.ts";
import { bold, bullet, writeOut } from "../text/text.ts";

interface Listed {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly parameters: readonly ParameterSpec[];
  /** The machine's own policies, if it has any. */
  readonly policies?: readonly { readonly name: string }[];
}

/** In the order of the list. */
const GROUPS: readonly EntryGroup<Listed>[] = [
  {
    title: "Jobs for one machine",
    entries: MODELS,
    command: (name) => `tutti simulate ${name} --policy POLICY`,
  },
  {
    title: "Machines with jobs and policies of their own",
    entries: WINGS,
    command: (name, model) => {
      const policies = model?.policies?.map((policy) => policy.name) ?? ["POLICY"];
      return `tutti simulate ${name} --policy ${policies.join("|")}`;
    },
  },
];

const NOTE = "tutti models NAME prints the rules and parameters of a model.";

export function configure(command: Command): void {
  command
    .argument("[name]", "a model")
    .option("--json", "print as JSON")
    .action((name: string | undefined, options: { readonly json?: boolean }) => {
      const all = GROUPS.flatMap(({ entries, command: commandOf }) =>
        entries.map((model) => ({ model, command: commandOf(model.name, model) })),
      );
      const chosen = name === undefined ? all : all.filter(({ model }) => model.name === name.split(":")[0]);
      if (chosen.length === 0) {
        const names = all.map(({ model }) => model.name);
        throw unknownName("model", name ?? "", names);
      }
      if (options.json) writeOut(jsonDocument("tutti.models/1", { models: chosen.map(asData) }));
      else writeOut(name === undefined ? overviewText(GROUPS, NOTE) : description(chosen[0]));
    });
}

type Chosen = { readonly model: Listed; readonly command: string };

function asData({ model, command }: Chosen) {
  return { ...model, policies: model.policies?.map(({ name }) => name), command };
}

function description({ model, command }: Chosen): string {
  const heading = `${bold(model.name)}: ${model.title}`;
  return entryText({ ...model, heading, rules: model.rules.map(bullet), command });
}
