/**
 * `tutti list policies [NAME]`: lists the policies. With NAME, prints what the policy schedules, its exact
 * rules, parameters and source, and the command that runs it.
 */

import {
  type PolicyChoice,
  type PolicyDefinition,
  type PolicyDescription,
  type RulesInForce,
  rulesInForce,
} from "@tutti/kernel/core/policy.ts";
import { chooseAmong, makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { ROUNDS_RULES } from "@tutti/kernel/simulator/rules.ts";
import { describePolicy } from "@tutti/lab/experiments/apart.ts";
import { jsonDocument } from "@tutti/lab/report/text/json.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import { WINGS } from "@tutti/papers/wings/wings.ts";
import { asUsage } from "../errors.ts";
import { type EntryGroup, entryText, overviewText, ruleLines } from "./catalogue.ts";
import { bold } from "./text.ts";

type AnyPolicy = PolicyDescription<unknown>;

/** Policies by what they schedule. */
interface PolicyGroup extends EntryGroup<AnyPolicy> {
  readonly sharing: string;
  readonly machine: string;
  /** Rules of the simulator, in addition to those of the policy. */
  readonly rules: readonly string[];
}

/** In the order of the list. */
const GROUPS: readonly PolicyGroup[] = [
  {
    sharing: "space",
    title: "Space sharing",
    machine: "one pool of processors, each of which has one job at a time",
    rules: [],
    entries: POLICIES.filter(({ sharing }) => sharing === "space"),
    command: onTrace,
  },
  {
    sharing: "time",
    title: "Time sharing",
    machine: "an Ousterhout matrix, whose rows of gangs take turns on one set of processors",
    rules: ROUNDS_RULES,
    entries: POLICIES.filter(({ sharing }) => sharing === "time"),
    command: onTrace,
  },
  ...WINGS.map((wing) => ({
    ...wing,
    sharing: wing.name,
    entries: wing.policies,
    command: (policy: string) => `tutti simulate ${wing.name} --policy ${policy}`,
  })),
];

type Choice = PolicyChoice<AnyPolicy>;

interface Options {
  /** All rules, including those that several policies share. */
  readonly all?: boolean;
  readonly json?: boolean;
}

/**
 * @param name a policy, name:parameter=value, or a file with the user's own policy; undefined: all policies
 */
export async function policiesText(name: string | undefined, { all, json }: Options): Promise<string> {
  const chosen = name === undefined ? listed() : [await asUsage(() => groupedPolicy(name))];
  if (json)
    return jsonDocument("tutti.policies/1", { policies: chosen.map((grouped) => asData(grouped, name)) });
  return name === undefined ? overview() : description(chosen[0], name, all);
}

interface Grouped {
  readonly choice: Choice;
  readonly group: PolicyGroup;
}

function listed(): Grouped[] {
  return GROUPS.flatMap((group) => group.entries.map((policy) => ({ choice: makeChoice(policy), group })));
}

async function groupedPolicy(text: string): Promise<Grouped> {
  const [name = ""] = text.split(":");
  const choice: Choice = isPolicyFile(name)
    ? await describePolicy(text)
    : chooseAmong(
        GROUPS.flatMap(({ entries }) => entries),
        text,
      );
  const { sharing } = choice.definition as Partial<PolicyDefinition>;
  const group = GROUPS.find(
    (candidate) => candidate.sharing === sharing || candidate.entries.includes(choice.definition),
  );
  return { choice, group: group as PolicyGroup };
}

/** The rules of the policy, followed by those of the simulator. */
function rulesOf({ choice, group }: Grouped): RulesInForce {
  const { own, inherited } = rulesInForce(choice.definition.rules, choice.parameters);
  return { own, inherited: [...inherited, ...group.rules] };
}

/** @param written the policy as the user wrote it; the file for a policy of the user */
function asData(grouped: Grouped, written = grouped.choice.definition.name) {
  const { name, title, summary, source, parameters } = grouped.choice.definition;
  const { sharing, machine, command } = grouped.group;
  const { own, inherited } = rulesOf(grouped);
  const rules = [...own, ...inherited];
  return { name, title, sharing, machine, summary, rules, source, parameters, command: command(written) };
}

function overview(): string {
  const groups = GROUPS.map((group) => ({ ...group, title: `${group.title}: ${group.machine}` }));
  return overviewText(
    groups,
    "tutti list policies NAME prints the exact rules; NAME:PARAMETER=VALUE prints them for another setting.",
  );
}

function description(grouped: Grouped, written: string, all = false): string {
  const { choice, group } = grouped;
  const { name, title } = choice.definition;
  return entryText({
    ...choice.definition,
    heading: `${bold(name)}: ${title} (${group.title.toLowerCase()})`,
    schedules: group.machine,
    rules: ruleLines(rulesOf(grouped), all),
    command: group.command(written),
  });
}

function onTrace(policy: string): string {
  return `tutti simulate TRACE --policy ${policy}`;
}
