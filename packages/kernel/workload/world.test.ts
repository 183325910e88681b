/** Tests worlds that no file says; traces/jsonl*.test.ts test all events. */
import { describe, expect, test } from "vitest";
import { DEFAULT_RULES } from "../core/rules.ts";
import { prepare } from "./prepare.ts";
import { workloadOf } from "./workloads-for-tests.ts";
import { World } from "./world.ts";

describe("a world of now", () => {
  const jobs = workloadOf([
    { submitS: 0, runS: 10, size: 1, estimateS: 20 },
    { submitS: 1, runS: 10, size: 2, estimateS: 20 },
    { submitS: 1, runS: 10, size: 3, estimateS: 20 },
  ]);
  const notes = [1, 2, 3].map(() => ({ user: "anna", limitS: 20 }));

  test("has windows that keep waiting jobs away, and let running ones run", () => {
    const world = new World({ ...jobs, notes }, { running: 1 });
    expect(world.apply({ event: "window", atS: 1, fromS: 100, untilS: 200, name: "disk" })).toBe(true);
    expect(world.end().interruptions?.withdrawals).toEqual([
      { job: 1, fromS: 80, untilS: 200 },
      { job: 2, fromS: 80, untilS: 200 },
    ]);
  });

  test("gives back the workload as it was if nothing happens, and refuses what did not begin", () => {
    const world = new World({ ...jobs, notes });
    expect(world.apply({ event: "undrain", atS: 1 })).toBe(false);
    expect(world.apply({ event: "hold", atS: 1, job: 1 })).toBe(false);
    expect(world.end()).toEqual({ ...jobs, notes });
  });

  test("can be prepared for some of its jobs in another order, of which too large ones are left out", () => {
    const world = new World({ ...jobs, notes });
    world.apply({ event: "window", atS: 1, fromS: 100, untilS: 200 });
    const workload = world.end();
    const some = (processors: number) =>
      prepare(workload, processors, DEFAULT_RULES, [], Int32Array.of(0, 2, 1));
    expect([...some(3).id]).toEqual([1, 3, 2]);
    expect([...some(2).id]).toEqual([1, 2]);
    expect(some(2).interruptions?.withdrawals?.map(({ job }) => job)).toEqual([0, 1]);
  });

  test("keeps jobs that are larger than a limit if limits have let them through", () => {
    const limits = { runningCpus: 1, isThrough: Uint8Array.of(1, 1, 0), cpus: Int32Array.of(1, 2, 2) };
    expect([...prepare({ ...jobs, notes, limits }, 3, DEFAULT_RULES).id]).toEqual([1, 2]);
    const asked = { runningCpus: 2, cpus: Int32Array.of(1, 2, 2) };
    expect([...prepare({ ...jobs, notes, limits: asked }, 3, DEFAULT_RULES).id]).toEqual([1, 2, 3]);
  });
});
