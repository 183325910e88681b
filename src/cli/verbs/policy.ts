/** `tutti policy [POLICY]`: shows the current policy and its rules, or switches to another policy. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import type { PolicyAnswer } from "../../protocol/schema.ts";
import { visibleLine } from "../../words/visible.ts";
import { ruleLines } from "../text/catalogue.ts";
import { bold, commandName, hint, writeJson, writeOut } from "../text/text.ts";

interface Options {
  readonly all?: boolean;
  readonly json?: boolean;
}

export function configure(command: Command): void {
  command
    .argument(
      "[policy]",
      "policy to change to, name:parameter=value; tutti policies lists them; running jobs continue",
    )
    .option("--all", "print all rules, including those that several policies share")
    .option("--json", "print as JSON")
    .action(async (policy: string | undefined, { all, json }: Options) => {
      const change = policy === undefined ? {} : { method: "PUT", body: { policy } };
      const answer = await new Client().ask<PolicyAnswer>("/v1/policy", change);
      if (json) writeJson(answer);
      else if (policy === undefined) writeOut(policyText(answer, all));
      else {
        writeOut(
          `${bold(visibleLine(answer.policy))} is in force from now on; running jobs continue when there is room for them\n`,
        );
        hint(`next: ${commandName()} policy states its rules, ${commandName()} matrix shows what it does`);
      }
    });
}

function policyText({ policy, rules, ownRules, mostRows }: PolicyAnswer, all = false): string {
  const rows = mostRows > 1 ? `, at most ${mostRows} rows` : "";
  const visible = rules.map(visibleLine);
  const inForce = { own: visible.slice(0, ownRules), inherited: visible.slice(ownRules) };
  return [`${bold(visibleLine(policy))}${rows}`, ...ruleLines(inForce, all), ""].join("\n");
}
