/**
 * Gang policies that break the limits they claim: rows, memory, promises, and jobs that wait without need.
 */

import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { GangMachine, Guarantees, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { describe, expect, test } from "vitest";
import { audit } from "./audit.ts";
import { CLAIMS_NOTHING, gangPolicy, jobs, SLOTS, violation } from "./broken-policies-for-tests.ts";

function claiming(
  claims: Partial<Guarantees>,
  decide: (queue: JobIndex[], machine: GangMachine) => void,
): PolicyChoice {
  const choice = gangPolicy(decide);
  const guarantees = () => ({ ...CLAIMS_NOTHING, ...claims });
  return { ...choice, definition: { ...choice.definition, guarantees } as PolicyChoice["definition"] };
}

/** Every job in its own row, from processor 0. */
function ownRows(queue: JobIndex[], machine: GangMachine): void {
  for (const job of queue.splice(0)) machine.place(job, machine.addRow(), 0);
}

const three = jobs(4, [0, 3, 2], [0, 3, 2], [0, 3, 2]);
const withMemory = (...memoryKB: number[]): Instance => ({ ...three, memoryKB: Float64Array.from(memoryKB) });

describe("audit() of limits", () => {
  test("too-many-rows: a third row under a limit of two", () => {
    expect(violation(three, claiming({ maxRows: 2 }, ownRows))).toMatchObject({
      rule: "too-many-rows",
      timeS: 0,
    });
    expect(audit(three, claiming({ maxRows: 3 }, ownRows), SLOTS).ok).toBe(true);
  });

  test("memory-exceeded: the jobs of all rows count, by their own values, or else by the rule", () => {
    const memory = { limitKB: 100, unknownKB: 30 };
    const choice = claiming({ memory }, ownRows);
    expect(audit(withMemory(40, 30, -1), choice, SLOTS).ok).toBe(true);
    expect(violation(withMemory(40, 31, -1), choice)).toMatchObject({ rule: "memory-exceeded", job: 13 });
    // A job that states more memory than there is has a processor to itself.
    expect(violation(withMemory(900, 1, 1), choice)).toMatchObject({ rule: "memory-exceeded", job: 12 });
  });

  test("head-waits and fitting-job-waits: a row could be added, the memory is there", () => {
    const one = (queue: JobIndex[], machine: GangMachine) => {
      if (machine.rowCount === 0 && queue.length > 0)
        machine.place(queue.shift() as JobIndex, machine.addRow(), 0);
    };
    const head = claiming({ maxRows: 2, headNeverFits: true }, one);
    expect(violation(three, head)).toMatchObject({ rule: "head-waits", job: 12, timeS: 0 });
    const anybody = claiming({ maxRows: 2, workConserving: true }, one);
    expect(violation(three, anybody)).toMatchObject({ rule: "fitting-job-waits", timeS: 0 });
  });

  test("promise-broken, promise-later and promise-void, in front of a matrix", () => {
    const promising = (startS: (nowS: number) => number, placedAtS: number) =>
      claiming({ keepsPromises: true }, (queue, machine) => {
        if (machine.nowS === 0) machine.place(queue.shift() as JobIndex, machine.addRow(), 0);
        if (machine.nowS >= placedAtS)
          for (const job of queue.splice(0)) machine.place(job, machine.rowAt(0), 0);
        if (queue.length > 0) machine.promise(queue[0], startS(machine.nowS));
      });
    const instance = jobs(4, [0, 5, 2], [0, 3, 2], [2, 1, 1]);
    const two = { ...instance, count: 2 };
    expect(
      audit(
        two,
        promising(() => 5, 5),
        SLOTS,
      ).ok,
    ).toBe(true);
    expect(
      violation(
        two,
        promising(() => 4, 5),
      ),
    ).toMatchObject({ rule: "promise-broken", job: 12 });
    expect(
      violation(
        two,
        promising(() => -1, 5),
      ),
    ).toMatchObject({ rule: "promise-void", job: 12, timeS: 0 });
    expect(
      violation(
        instance,
        promising((nowS) => 5 + nowS, 5),
      ),
    ).toMatchObject({ rule: "promise-later", job: 12, timeS: 2 });
  });
});
