/**
 * The worker of a policy that was typed into the page. It answers one question and ends. Everything that the
 * policy must not reach is taken first; then the worker is closed, and only then does the policy's code run.
 */
import { InputError, RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { rulesInForce } from "@tutti/kernel/core/policy.ts";
import * as kit from "@tutti/kernel/kit.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { closeGlobals, lock, lockIntrinsics } from "@tutti/own-policies/closed-globals.ts";
import { checkDefinition } from "@tutti/own-policies/definition.ts";
import { describeThrown, guardedPolicy, PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { buffersOf, pack } from "../worker/packed.ts";
import { explainJob, readyIn, runCell } from "../worker/run-cell.ts";
import { OWN_PATH, type OwnQuestion, type OwnQuestions, type OwnReply } from "./messages.ts";

type OwnModule = (exports: { default?: unknown }, require: (name: string) => object) => void;

/** The policy's text as a function; own-worker.ts writes it in front of this script. */
const ownModule = (globalThis as unknown as { tuttiOwnPolicy: OwnModule }).tuttiOwnPolicy;
const post: (message: OwnReply, options: { transfer: Transferable[] }) => void = postMessage.bind(globalThis);
const send = (reply: OwnReply, transfer: Transferable[] = []) => post(reply, { transfer });
const clock = performance;
/** Progress is reported at most this often. */
const PROGRESS_MS = 100;

addEventListener("message", ({ data }: MessageEvent<OwnQuestion>) => {
  answer(data).catch((error) => send({ failure: failureText(error) }));
});

async function answer(question: OwnQuestion): Promise<void> {
  const policy = question.topic === "describe" ? question.policy : question.cell.policy;
  const choice = load(policy);
  const choose = () => choice;
  switch (question.topic) {
    case "describe":
      return send({ answer: description(choice) });
    case "run": {
      let nextMs = 0;
      const made = await runCell(
        question.jobs,
        question.cell,
        (arrived, of) => {
          const nowMs = clock.now();
          if (nowMs < nextMs) return;
          nextMs = nowMs + PROGRESS_MS;
          send({ share: arrived / of });
        },
        choose,
      );
      const columns = [made.result.packed, made.schedule, pack(made.curves)].flatMap(buffersOf);
      return send({ answer: made }, [...new Set(columns)]);
    }
    case "explain":
      return send({ answer: await explainJob(question.jobs, question.cell, question.job, choose) });
    case "audit": {
      const { instance } = await readyIn(question.jobs, question.cell, choose);
      return send({ answer: auditLines(choice.label, audit(instance, choice, question.options)) });
    }
  }
}

function load(policy: string): PolicyChoice {
  for (const exported of Object.values(kit)) lock(exported);
  closeGlobals(() => {});
  lockIntrinsics();
  const exports: { default?: unknown } = {};
  try {
    ownModule(exports, (name) => {
      if (name === "tutti") return kit;
      throw new Error(`a policy may not load "${name}", expected "tutti"`);
    });
  } catch (error) {
    throw new InputError(
      `Cannot load policy "${OWN_PATH}": ${describeThrown(error)}${placeOf(error)}, expected a module that can be imported`,
    );
  }
  const definition = guardedPolicy(checkDefinition(OWN_PATH, exports.default), OWN_PATH);
  return makeChoice(definition, policy.split(":").slice(1));
}

function description({ definition, parameters, label }: PolicyChoice): OwnQuestions["describe"]["answer"] {
  const { title, summary } = definition;
  return { label, title, summary, rules: rulesInForce(definition.rules, parameters).own };
}

function failureText(error: unknown): string {
  if (error instanceof InputError || error instanceof RuleViolation || error instanceof PolicyError)
    return error.message;
  return `Cannot continue with policy "${OWN_PATH}": it threw ${describeThrown(error)}${placeOf(error)}`;
}

/** The line of the policy's text in which the error was thrown; its text begins on line 2 of this script. */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? String(error.stack) : "";
  const found = /blob:[^\s)]*:(\d+):(\d+)/.exec(stack);
  return found === null ? "" : ` (line ${Number(found[1]) - 1}, column ${found[2]})`;
}
