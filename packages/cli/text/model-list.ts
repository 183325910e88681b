/**
 * `tutti list models [NAME]`: lists the models that generate jobs for one machine, and the systems that have
 * their own jobs. With NAME, prints the rules and parameters of that model.
 */

import type { ParameterSpec } from "@tutti/kernel/core/policy.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { WINGS } from "@tutti/papers/wings/wings.ts";
import { unknownName } from "../errors.ts";
import { type EntryGroup, entryText, overviewText } from "./catalogue.ts";
import { bold, bullet } from "./text.ts";

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

const NOTE = "tutti list models NAME prints the rules and parameters of a model.";

/** @param name a model; undefined: all of them */
export function modelsText(name: string | undefined, { json }: { readonly json?: boolean }): string {
  const models = chosen(name);
  if (json) return jsonDocument("tutti.models/1", { models });
  return name === undefined ? overviewText(GROUPS, NOTE) : description(models[0]);
}

function chosen(name: string | undefined) {
  const all = GROUPS.flatMap(({ entries, command: commandOf }) =>
    entries.map((model) => ({
      ...model,
      policies: model.policies?.map((policy) => policy.name),
      command: commandOf(model.name, model),
    })),
  );
  if (name === undefined) return all;
  const found = all.filter((model) => model.name === name.split(":")[0]);
  if (found.length > 0) return found;
  const names = all.map((model) => model.name);
  throw unknownName("model", name, names);
}

function description(model: ReturnType<typeof chosen>[number]): string {
  return entryText({
    ...model,
    heading: `${bold(model.name)}: ${model.title}`,
    rules: model.rules.map(bullet),
  });
}
