/** The small batch system of `spool.sh` as a provider: each attempt is one of its jobs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { KeptFile } from "@tutti/live/daemon/executor/kept-file.ts";
import { type Provider, ProviderError } from "@tutti/live/daemon/executor/provider.ts";
import { scriptOf } from "@tutti/live/daemon/executor/queue/attempt-script.ts";
import {
  type BatchJob,
  type BatchSystem,
  inQueueOf,
  type Order,
  type ShownBatchJob,
} from "@tutti/live/daemon/executor/queue/batch-system.ts";
import { QueueExecutor } from "@tutti/live/daemon/executor/queue/queue-executor.ts";
import { queueContent } from "@tutti/live/daemon/executor/queue/queue-file.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";

const PROGRAM = fileURLToPath(new URL("spool.sh", import.meta.url));
/** Exit status of the program when the spool is away. */
const AWAY = 2;

class Spool implements BatchSystem {
  readonly name = "the spool";
  readonly startsAfter = "a moment";
  readonly kind = "spool";
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async submit(spec: LaunchSpec, mark: string): Promise<string> {
    return (await this.#run(["submit", mark], scriptOf(spec))).trim();
  }

  async give(id: string, order: Order): Promise<void> {
    await this.#run([order, id]);
  }

  async queue(): Promise<readonly BatchJob[]> {
    const lines = (await this.#run(["list"])).split("\n").slice(0, -1);
    return lines.map((line) => {
      const [id, mark, start, end] = line.split(" ");
      const phase = end !== "-" ? "ended" : start === "-" ? "waiting" : "running";
      const isHeld = phase === "waiting";
      return { id, mark, phase, isHeld, startedAtMs: msOf(start), note: `It is job ${id} of the spool` };
    });
  }

  async shown(id: string): Promise<ShownBatchJob | undefined> {
    const line = (await this.#run(["list"])).split("\n").find((one) => one.startsWith(`${id} `));
    if (line === undefined) return undefined;
    const [, mark, start, end, status, reason] = line.split(" ");
    const number = Number(status) - 128;
    const signal = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
    return {
      mark,
      hasEnded: end !== "-",
      state: reason === "none" ? status : reason,
      startedAtMs: msOf(start),
      endedAtMs: msOf(end) ?? 0,
      reason: reason === "cancelled" ? "cancelled" : "none",
      status: status === "-" ? {} : signal !== undefined ? { signal } : { code: Number(status) },
    };
  }

  async #run(words: readonly string[], input = ""): Promise<string> {
    const child = spawn(PROGRAM, [this.#folder, ...words], { cwd: "/" });
    const closed = once(child, "close");
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const [said, why, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    if (code === 0) return said;
    throw new ProviderError(`Cannot ${words[0]} a job of the spool: ${why.trim()}`, code === AWAY);
  }
}

function msOf(word: string): number | undefined {
  return word === "-" ? undefined : Number(word);
}

/** @param folder the spool, which is there */
export function spoolProvider(folder: string, cpus: number): Provider {
  return {
    capabilities: inQueueOf("the spool"),
    chosenBy: "--on spool",
    place: "of the spool",
    prepare: ({ config }) => ({ config }),
    async start(setup) {
      const executor = new QueueExecutor({
        system: new Spool(folder),
        nodes: [{ node: "spool", cpus, memoryMib: 1000 }],
        store: new KeptFile(join(setup.folder, "spool.json"), queueContent, "in the spool"),
        clock: setup.clock,
      });
      return { executor };
    },
  };
}
