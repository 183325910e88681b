/** `tutti policy [NAME]`: the policy in force and its rules, or another one from now on. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { PolicyAnswer } from "../api/contract.ts";
import { writeJson } from "./json.ts";
import { bold, commandName, hint, wrap, writeOut } from "./text.ts";
import { visibleLine } from "./visible.ts";

export function configure(command: Command): void {
  command
    .argument("[policy]", "the one to change to, name:parameter=value; tutti policies lists them. Jobs go on")
    .option("--json", "print as JSON")
    .action(async (policy: string | undefined, { json }: { readonly json?: boolean }) => {
      const change = policy === undefined ? {} : { method: "PUT", body: { policy } };
      const answer = await new Client().ask<PolicyAnswer>("/v1/policy", change);
      if (json) writeJson(answer);
      else if (policy === undefined) writeOut(policyText(answer));
      else {
        writeOut(`${bold(visibleLine(answer.policy))} from now on; running jobs go on as there is room\n`);
        hint(`next: ${commandName()} policy states its rules, ${commandName()} matrix shows what it does`);
      }
    });
}

function policyText({ policy, rules, mostRows }: PolicyAnswer): string {
  const rows = mostRows > 1 ? `, at most ${mostRows} rows` : "";
  return [
    `${bold(visibleLine(policy))}${rows}`,
    ...rules.map((rule) => `  - ${wrap(visibleLine(rule), 4)}`),
    "",
  ].join("\n");
}
