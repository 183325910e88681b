/** The process of a user's own policy (apart.ts): answers one question and ends. */
import process from "node:process";
import { setImmediate } from "node:timers";
import { rulesInForce } from "@tutti/kernel/core/policy.ts";
import { closeWorld } from "@tutti/own-policies/closed-world.ts";
import { loadKit, loadPolicy, onStray } from "@tutti/own-policies/own-policy.ts";
import { type ApartMessage, type ApartQuestion, type DescribedPolicy, foldersOf } from "./apart.ts";
import { failureOf, policyFailure } from "./failures.ts";
import { type Kind, loadKind } from "./kinds.ts";
import { CellRunner } from "./runner.ts";

// Kept from the policy, which runs in the same process.
const { exit } = process;
const send = process.send as (
  message: ApartMessage,
  handle: undefined,
  options: object,
  after?: () => void,
) => void;
const post = (message: ApartMessage, after?: () => void) => {
  send.call(process, message, undefined, {}, after);
};
const finish = (message: ApartMessage) => post(message, () => exit.call(process, 0));

process.once("message", async (question: ApartQuestion) => {
  const policy = question.kind === "cell" ? question.cell.policy : question.policy;
  onStray((message) =>
    finish({ failure: { name: "PolicyError", message, stack: undefined, violation: undefined } }),
  );
  try {
    if (question.kind === "cell") await loadKind(question.cell.kind as Kind);
    const { explain } = await import("../explain/explain.ts");
    // An audit repeats the run many times. The run whose result is printed has a process of its own.
    const isQuiet = question.kind === "cell" && question.cell.kind === "audit";
    closeWorld({ folders: foldersOf(policy), kit: await loadKit(), isQuiet });
    const answer = await answerTo(question, explain);
    // Promises that the policy left behind fail before this.
    setImmediate(() => finish({ answer }));
  } catch (error) {
    finish({ failure: failureOf(policyFailure(policy, error)) });
  }
});

async function answerTo(
  question: ApartQuestion,
  explain: typeof import("../explain/explain.ts").explain,
): Promise<unknown> {
  if (question.kind === "describe") return describe(question.policy);
  if (question.kind === "explain") {
    const { instance, policy, job } = question;
    return explain(instance, await loadPolicy(policy), job, question);
  }
  const { cell, opened } = question;
  const environment = { open: () => opened.workload, policy: loadPolicy };
  const progress = (arrived: number, of: number) => post({ progress: [arrived, of] });
  return new CellRunner(environment, opened, progress).run(cell);
}

async function describe(text: string): Promise<DescribedPolicy> {
  const { label, parameters, definition } = await loadPolicy(text);
  const { name, title, sharing, summary, source } = definition;
  const { own, inherited } = rulesInForce(definition.rules, parameters);
  const rules = [...own, ...inherited.map((rule) => ({ text: rule, isInherited: true }))];
  return {
    label,
    parameters,
    claims: definition.guarantees(parameters),
    definition: { name, title, sharing, summary, source, rules, parameters: definition.parameters },
  };
}
