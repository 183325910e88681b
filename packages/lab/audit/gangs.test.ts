/** Gang policies that are broken on purpose: the checker names the rule, the job and the time. */

import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { GangMachine, RowId } from "@tutti/kernel/core/policy.ts";
import { describe, expect, test } from "vitest";
import { audit, auditLines } from "./audit.ts";
import { gangPolicy, jobs, SLOTS, violation } from "./broken-policies-for-tests.ts";

describe("audit() of gangs", () => {
  const four = jobs(4, [0, 3, 2], [0, 3, 2], [0, 3, 3], [0, 3, 1]);

  /** Places the four jobs:  row 0: AABB   row 1: CCCD */
  function placeAll(queue: JobIndex[], machine: GangMachine): RowId[] {
    const rows = [machine.addRow(), machine.addRow()];
    machine.place(queue[0], rows[0], 0);
    machine.place(queue[1], rows[0], 2);
    machine.place(queue[2], rows[1], 0);
    machine.place(queue[3], rows[1], 3);
    queue.length = 0;
    return rows;
  }

  test("passes rows that are never given back, and exchanges that tear nothing", () => {
    const choice = gangPolicy((queue, machine) => {
      if (queue.length > 0) {
        const [a, b] = placeAll(queue, machine);
        machine.exchange(a, b, 0, 4);
      }
    });
    const result = audit(four, choice, SLOTS);
    expect(result.ok, auditLines("gang", result).join("\n")).toBe(true);
    // Two rows of three slots each.
    expect(result.checked).toMatchObject({ starts: 4, ends: 4, matrixChanges: 7, slots: 6 });
    expect(auditLines("gang", result).join("\n")).not.toMatch(/promises, tested|\b0 /);
  });

  test.each<[string, string, number, (queue: JobIndex[], machine: GangMachine) => void]>([
    [
      "torn-gang",
      "an exchange cuts through a job",
      13,
      (queue, machine) => {
        const [a, b] = placeAll(queue, machine);
        machine.exchange(a, b, 2, 4);
      },
    ],
    [
      "not-idle",
      "a cell is given twice",
      12,
      (queue, machine) => {
        const row = machine.addRow();
        machine.place(queue[0], row, 0);
        machine.place(queue[1], row, 1);
      },
    ],
    [
      "migrated",
      "a second row on other processors",
      11,
      (queue, machine) => {
        machine.place(queue[0], machine.addRow(), 0);
        machine.place(queue[0], machine.addRow(), 2);
      },
    ],
    [
      "off-machine",
      "a job hangs over the machine's end",
      13,
      (queue, machine) => {
        machine.place(queue[2], machine.addRow(), 2);
      },
    ],
    [
      "last-slot",
      "a job loses its only row",
      11,
      (queue, machine) => {
        const [a] = placeAll(queue, machine);
        machine.release(0, a);
      },
    ],
    [
      "row-not-empty",
      "a row with a job is deleted",
      11,
      (queue, machine) => {
        const [a] = placeAll(queue, machine);
        machine.deleteRow(a);
      },
    ],
  ])("%s: %s", (rule, _, job, decide) => {
    const choice = gangPolicy((queue, machine) => {
      if (queue.length > 0) decide(queue, machine);
    });
    expect(violation(four, choice)).toMatchObject({ rule, job, timeS: 0 });
  });

  test("sees-run-times: the job with the longest run time gets a second row", () => {
    const instance = jobs(4, [0, 3, 4, 9], [0, 6, 4, 9], [1, 2, 2], [9, 1, 1], [12, 1, 1]);
    const choice = gangPolicy((queue, machine) => {
      for (const job of queue.splice(0)) {
        machine.place(job, machine.addRow(), 0);
        if (instance.runS[job] > 5) machine.place(job, machine.addRow(), 0);
      }
    });
    expect(violation(instance, choice).rule).toBe("sees-run-times");
  });
});
