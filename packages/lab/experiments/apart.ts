/**
 * Runs a user's own policy in a process of its own, which may do nothing but compute: under Node's permission
 * model it can read the policy's folder and Tutti's own files, and cannot write files, use the network, start
 * processes or threads, or load native code. The whole cell runs there, simulator and policy together; only
 * jobs go in, and only the result comes back.
 *
 * Each cell gets a new process, so that a policy cannot remember an earlier run.
 */
import { fork } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { programFile } from "@tutti/host/programs.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type {
  Guarantees,
  ParameterValues,
  PolicyChoice,
  PolicyDefinition,
  PolicyDescription,
} from "@tutti/kernel/core/policy.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import type { Explanation } from "../results/explanation.ts";
import type { CellInputs, MachineCell } from "./cell.ts";
import { COMPILER_FLAG } from "./compiler-flag.ts";
import { type CellFailure, revive } from "./failures.ts";
import type { OpenedJobs } from "./inputs.ts";
import type { Cell, CellResult } from "./kinds.ts";

/** What a policy says about itself. */
export interface DescribedPolicy {
  readonly label: string;
  readonly parameters: ParameterValues;
  /** `rules`: the sentences in force. */
  readonly definition: Pick<
    PolicyDefinition,
    "name" | "title" | "sharing" | "summary" | "rules" | "source" | "parameters"
  >;
  readonly claims: Guarantees;
}

/** What the process is asked, and what it answers. */
interface ApartQuestions {
  readonly describe: { readonly ask: { readonly policy: string }; readonly answer: DescribedPolicy };
  readonly cell: {
    readonly ask: { readonly cell: Cell & MachineCell; readonly opened: OpenedJobs };
    readonly answer: CellResult;
  };
  readonly explain: {
    readonly ask: {
      readonly policy: string;
      readonly instance: Instance;
      readonly slotS: number;
      readonly switchS: number;
      readonly job: number;
    };
    readonly answer: Explanation;
  };
}
export type ApartQuestion = {
  readonly [K in keyof ApartQuestions]: { readonly kind: K } & ApartQuestions[K]["ask"];
}[keyof ApartQuestions];

/** Messages of the process, in order: progress any number of times, then one of the others. */
export type ApartMessage =
  | { readonly progress: readonly [arrived: number, of: number] }
  | { readonly answer: unknown }
  | { readonly failure: CellFailure };

const PROGRAM = programFile("apart", new URL("./apart-program.ts", import.meta.url));

/**
 * @param policy as on the command line: a file, perhaps with parameters
 * @throws PolicyError if the policy fails or does what it may not, and what the cell throws
 */
export async function runApart<K extends keyof ApartQuestions>(
  kind: K,
  policy: string,
  ask: ApartQuestions[K]["ask"],
  progress?: CellInputs["progress"],
): Promise<ApartQuestions[K]["answer"]> {
  const child = fork(PROGRAM, {
    serialization: "advanced",
    // Standard output is for results; what a policy prints goes to standard error.
    stdio: ["ignore", 2, 2, "ipc"],
    // Without a time zone, dates would differ from machine to machine.
    env: { TZ: "UTC" },
    execArgv: [
      COMPILER_FLAG,
      "--permission",
      // A database file is opened without asking for the permission to write.
      "--no-experimental-sqlite",
      "--no-warnings",
      ...readable(policy).map((path) => `--allow-fs-read=${path}`),
    ],
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  try {
    const reply = await new Promise<ApartMessage | undefined>((done, failed) => {
      let last: ApartMessage | undefined;
      child.on("message", (message: ApartMessage) => {
        if ("progress" in message) progress?.(...message.progress);
        else last ??= message;
      });
      child.once("error", failed);
      // The channel may still have an answer to give when the process has ended.
      child.once("disconnect", () => done(last));
      child.send({ kind, ...ask } as never, (error) => {
        // A process that has ended says nothing more; "disconnect" follows.
        if (error !== null && (error as NodeJS.ErrnoException).code !== "EPIPE") failed(error);
      });
    });
    if (reply === undefined) {
      throw new PolicyError(
        `Cannot continue with policy "${fileOf(policy)}": its process ended without a result, expected a policy that decides`,
      );
    }
    if ("failure" in reply) throw revive(reply.failure);
    return (reply as { readonly answer: ApartQuestions[K]["answer"] }).answer;
  } finally {
    process.off("exit", end);
  }
}

/**
 * What a policy says about itself, by its text on the command line.
 * @throws InputError for an unknown name, a file that is not a policy, or a parameter out of range
 */
export async function describePolicy(text: string): Promise<PolicyChoice<ShownPolicy>> {
  if (!isPolicyFile(fileOf(text))) return choosePolicy(text);
  const { claims, definition, ...choice } = await runApart("describe", text, { policy: text });
  return { ...choice, definition: { ...definition, guarantees: () => claims } };
}

/** A policy that can be shown but not run. */
type ShownPolicy = PolicyDescription & Pick<PolicyDefinition, "sharing">;

/** The part of a policy's text that names its file. */
function fileOf(policy: string): string {
  return policy.split(":")[0];
}

/** Folders of a policy: as it is written, and as it is after links. */
export function foldersOf(policy: string): string[] {
  const file = resolve(fileOf(policy));
  return [...new Set([file, existsSync(file) ? realpathSync(file) : file].map(dirname))];
}

function readable(policy: string): string[] {
  const program = dirname(fileURLToPath(PROGRAM));
  const isSource = PROGRAM.href.endsWith(".ts");
  const root = resolve(program, isSource ? "../../.." : "..");
  const files = isSource ? [`${root}/packages`, `${root}/node_modules`] : [program];
  return [...files, `${root}/package.json`, ...foldersOf(policy)];
}
