/**
 * Tests machines whose nodes come and go while jobs run. Whatever the policy is, no CPU is given to two gangs
 * of a row, running gangs keep their CPUs, nothing starts on a CPU that is not there, the threads of a task
 * are on one node, and gangs with whole nodes share none. The test keeps its own records of what was launched
 * where.
 */

import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeCapacity, endGangsOnLostNodes, nodesOf } from "../front-end/capacity-for-tests.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

type Step =
  | { readonly kind: "submit"; readonly tasks: number; readonly threads: number; readonly memory: number }
  | { readonly kind: "nodes"; readonly present: readonly boolean[] }
  | { readonly kind: "ends" }
  | { readonly kind: "wait"; readonly slots: number }
  | { readonly kind: "policy"; readonly index: number }
  | { readonly kind: "reconnect" }
  | { readonly kind: "make-room" };

type Pack = "cpus" | "whole-node";

const SLOT_MS = 100;
const MEMORY_PER_CPU = 10;
const MACHINE_SIZES: readonly (readonly number[])[] = [
  [4, 4, 4, 4],
  [2, 2, 2, 2, 2],
  [3, 4, 6, 1],
  [8, 2],
  [6, 6, 6, 6],
  [3, 3, 3, 3, 3],
];

const textOf = ({ node, cpus }: NodeCpus) => cpus.map((cpu) => `${node}:${cpu}`);
const cpusOf = (nodes: readonly NodeCpus[]) => nodes.flatMap(textOf);

/** Follows the commands to the machine. */
class Watcher {
  readonly #bench: Bench;
  readonly #pack: Pack;
  #seen = 0;
  /** CPUs of each launched attempt. */
  readonly #launched = new Map<string, string>();

  constructor(bench: Bench, pack: Pack) {
    this.#bench = bench;
    this.#pack = pack;
  }

  check(): void {
    const { machine } = this.#bench;
    const present = new Set(cpusOf(machine.capacity.nodes.nodes));
    const commands = machine.sent.slice(this.#seen);
    this.#seen = machine.sent.length;
    for (const command of commands) {
      if (command.type === "launch") {
        const { job, attempt, nodes = [], tasks = 1, threads = 1 } = command.spec;
        const cpus = cpusOf(nodes);
        const whole = nodes.map((entry) => Math.floor(entry.cpus.length / threads));
        expect(whole.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(tasks);
        expect(cpus.length).toBeGreaterThan(0);
        expect(cpus.filter((cpu) => !present.has(cpu))).toEqual([]);
        const key = `${job}/${attempt}`;
        // A launch that is repeated after a reconnect names the same CPUs.
        expect(this.#launched.get(key) ?? cpus.join()).toBe(cpus.join());
        this.#launched.set(key, cpus.join());
      }
      if (command.type !== "matrix") continue;
      for (const row of command.matrix.rows) {
        const taken = row.flatMap(({ nodes }) => cpusOf(nodes));
        expect(new Set(taken).size).toBe(taken.length);
        expect(taken.filter((cpu) => !present.has(cpu))).toEqual([]);
        const nodes = row.flatMap((gang) => gang.nodes.map(({ node }) => node));
        if (this.#pack === "whole-node") expect(new Set(nodes).size).toBe(nodes.length);
      }
      for (const { job, attempt, nodes } of command.matrix.rows.flat()) {
        const launched = this.#launched.get(`${job}/${attempt}`);
        // The launch follows in the same cycle.
        if (launched !== undefined) expect(cpusOf(nodes).join()).toBe(launched);
      }
    }
    // Every gang that has all its CPUs has slots.
    const inRows = new Set(machine.matrix?.rows.flat().map(({ job, attempt }) => `${job}/${attempt}`));
    for (const { job, attempt, spec, phase } of machine.attempts.values()) {
      if (phase === "ended") continue;
      const isWhole = cpusOf(spec.nodes ?? []).every((cpu) => present.has(cpu));
      if (isWhole && !this.#wasIncomplete(`${job}/${attempt}`, present, spec.nodes ?? []))
        expect(inRows, `job ${job}`).toContain(`${job}/${attempt}`);
    }
  }

  readonly #incomplete = new Set<string>();

  /** A gang that has once lost a node gets no slots, even if the node is back. */
  #wasIncomplete(key: string, present: ReadonlySet<string>, nodes: readonly NodeCpus[]): boolean {
    if (cpusOf(nodes).some((cpu) => !present.has(cpu))) this.#incomplete.add(key);
    return this.#incomplete.has(key);
  }

  noteCapacity(): void {
    const present = new Set(cpusOf(this.#bench.machine.capacity.nodes.nodes));
    for (const { job, attempt, spec } of this.#bench.machine.attempts.values())
      this.#wasIncomplete(`${job}/${attempt}`, present, spec.nodes ?? []);
  }
}

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant("submit" as const),
        tasks: fc.integer({ min: 1, max: 16 }),
        threads: fc.constantFrom(1, 1, 1, 2, 3, 4),
        memory: fc.integer({ min: 0, max: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("nodes" as const),
        present: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.constant({ kind: "ends" as const }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("wait" as const), slots: fc.integer({ min: 0, max: 12 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("policy" as const),
        index: fc.integer({ min: 0, max: POLICIES.length - 1 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: "reconnect" as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: "make-room" as const }) },
  ),
  { minLength: 5, maxLength: 30 },
);

/** Half the memory of these CPUs, at most that of the machine. */
function memoryOf(cpus: number, total: number): { readonly memoryBytes?: number } {
  if (cpus === 0) return {};
  return { memoryBytes: Math.min((MEMORY_PER_CPU / 2) * cpus, MEMORY_PER_CPU * total) };
}

async function play(
  policy: string,
  sizes: readonly number[],
  slots: number,
  plan: readonly Step[],
  mayAlwaysSwitch: boolean,
  pack: Pack,
) {
  const all = nodesOf(...sizes);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const bench = makeBench({
    nodes: all,
    config: { policy, slotMs: SLOT_MS, maxRows: 4, pack },
    slotted: true,
    runMs: (job) => SLOT_MS * (1 + ((job * slots) % 9)),
  });
  const { machine, clock, frontEnd } = bench;
  const change = (nodes: readonly NodeCpus[]) =>
    changeCapacity(machine, nodes, {
      mostProcessors: total,
      memoryBytes: MEMORY_PER_CPU * cpusOf(nodes).length,
      mostMemoryBytes: MEMORY_PER_CPU * total,
    });
  change(all);
  clock.settle();
  const watcher = new Watcher(bench, pack);
  const settle = () => {
    clock.settle();
    clock.advanceTo(clock.nowMs() + 1);
    watcher.check();
  };
  let submitted = 0;
  for (const step of plan) {
    if (step.kind === "submit") {
      const threads = Math.min(step.threads, ...sizes.filter((cpus) => cpus === Math.max(...sizes)));
      const room = sizes.reduce((sum, cpus) => sum + Math.floor(cpus / threads), 0);
      const tasks = Math.min(step.tasks, room);
      const memory = memoryOf(step.memory * tasks, total);
      const answer = await answerOf(
        clock,
        frontEnd.submit(ANNA, [request({ tasks, ...(threads > 1 && { threads }), retries: 50, ...memory })]),
      );
      const largest = Math.max(0, ...machine.capacity.nodes.nodes.map(({ cpus }) => cpus.length));
      if (largest > 0 && threads > largest) expect(answer).toMatchObject({ refused: "too-large" });
      else expect(answer).toMatchObject({ jobs: [{ job: ++submitted }] });
    } else if (step.kind === "nodes") {
      change(all.filter((_, i) => step.present[i]));
      watcher.noteCapacity();
    } else if (step.kind === "ends") endGangsOnLostNodes(machine);
    else if (step.kind === "wait") {
      for (let i = 0; i < step.slots; i++) {
        clock.advanceTo(clock.nowMs() + SLOT_MS);
        watcher.check();
      }
    } else if (step.kind === "policy") {
      if (mayAlwaysSwitch) await answerOf(clock, frontEnd.setPolicy(ROOT, POLICIES[step.index].name));
    } else if (step.kind === "make-room") {
      const launched = machine.launched.length;
      machine.report({ type: "make-room", reason: "the allocation ends" });
      settle();
      clock.advanceTo(clock.nowMs() + 2 * SLOT_MS);
      settle();
      change([]);
      settle();
      expect(machine.launched).toHaveLength(launched);
      expect(machine.matrix?.rows.flat() ?? []).toEqual([]);
      change(all);
    } else {
      machine.disconnect();
      clock.settle();
      machine.connect();
    }
    settle();
  }
  endGangsOnLostNodes(machine);
  change(all);
  watcher.noteCapacity();
  endGangsOnLostNodes(machine);
  for (const attempt of [...machine.attempts.values()]) {
    if (attempt.phase !== "ended" && !inRows(bench, attempt.job))
      machine.end(attempt, "none", { lost: "lost" });
  }
  clock.settle();
  runToEnd(clock, clock.nowMs() + 600_000);
  watcher.check();
  expect(frontEnd.status(ROOT).counts.done).toBe(submitted);
  // No policy was replaced because it failed.
  const replaced = bench.store.eventsAfter(0, 1e6).filter(({ secret }) => secret?.data.because !== undefined);
  expect(replaced).toEqual([]);
  bench.kill();
}

function inRows({ machine }: Bench, job: number): boolean {
  return machine.matrix?.rows.flat().some((gang) => gang.job === job) ?? false;
}

test.each([...POLICIES.map(({ name }) => name), "gang:place=any"])(
  "%s keeps running gangs on their CPUs",
  async (policy) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MACHINE_SIZES),
        fc.integer({ min: 1, max: 9 }),
        steps,
        fc.boolean(),
        // It puts gangs on any CPUs, and is refused for whole nodes.
        policy === "random" ? fc.constant<Pack>("cpus") : fc.constantFrom<Pack>("cpus", "whole-node"),
        play.bind(undefined, policy),
      ),
      { numRuns: SIZES.elasticHistories, seed: 7 },
    );
  },
);
