/** `tutti policy [POLICY]`: shows the current policy and its rules, or switches to another policy. */

import type { PolicyAnswer } from "@tutti/protocol/schema.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { Command } from "commander";
import { type Asked, show } from "../live/show.ts";
import { ruleLines } from "../text/catalogue.ts";
import { bold, commandName } from "../text/text.ts";

type AskedPolicy = Asked<{ readonly all?: boolean }, [string | undefined]>;

export function configure(command: Command): void {
  command
    .argument(
      "[policy]",
      "policy to change to, name:parameter=value; tutti list policies lists them; running jobs continue",
    )
    .option("--all", "print all rules, including those that several policies share");
  show(command, {
    ask: ({ client, words: [policy] }: AskedPolicy) =>
      client.ask<PolicyAnswer>("/v1/policy", policy === undefined ? {} : { method: "PUT", body: { policy } }),
    text: (answer, { words: [policy], options: { all } }) =>
      policy === undefined
        ? policyText(answer, all)
        : `${bold(visibleLine(answer.policy))} is in force from now on; running jobs continue when there is room for them\n`,
    next: (_, { words: [policy] }) =>
      policy === undefined
        ? undefined
        : `next: ${commandName()} policy states its rules, ${commandName()} matrix shows what it does`,
  });
}

function policyText({ policy, rules, ownRules, mostRows }: PolicyAnswer, all = false): string {
  const rows = mostRows > 1 ? `, at most ${mostRows} rows` : "";
  const visible = rules.map(visibleLine);
  const inForce = { own: visible.slice(0, ownRules), inherited: visible.slice(ownRules) };
  return [`${bold(visibleLine(policy))}${rows}`, ...ruleLines(inForce, all), ""].join("\n");
}
