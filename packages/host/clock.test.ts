/** Checks when `wakeAt` calls, and that the reference for administration shows the table of promises. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Due, LOOK_MS, PROMISES, wakeAt } from "./clock.ts";
import { FakeClock } from "./clock-for-tests.ts";

describe("wakeAt", () => {
  /** When it calls, if `change` happens at 1 s. */
  function calledAtMs(dues: readonly Due[], change: (clock: FakeClock) => void = () => {}): number {
    const clock = new FakeClock();
    let atMs = Number.POSITIVE_INFINITY;
    wakeAt(clock, dues, () => {
      atMs = clock.nowMs();
    });
    clock.advanceTo(1000);
    change(clock);
    clock.advanceTo(100_000);
    return atMs;
  }

  test("the earliest instant counts, each by its clock", () => {
    expect(calledAtMs([["begin", 50_500]])).toBe(50_500);
    expect(calledAtMs([["decision", 50_500.5]])).toBe(50_500.5);
    const both: Due[] = [
      ["decision", 30_001],
      ["window", 40_000],
      ["quota", Number.POSITIVE_INFINITY],
    ];
    expect(calledAtMs(both)).toBe(30_001);
    expect(calledAtMs([["begin", -5]])).toBe(0);
    expect(calledAtMs([["begin", Number.POSITIVE_INFINITY]])).toBe(Number.POSITIVE_INFINITY);
    expect(calledAtMs([])).toBe(Number.POSITIVE_INFINITY);
  });

  test("a step or a suspend wakes those who wait for Unix time, and nobody else", () => {
    const changes = [
      (clock: FakeClock) => clock.step(10_000),
      (clock: FakeClock) => clock.step(-10_000),
      (clock: FakeClock) => clock.suspend(10_000),
    ];
    for (const change of changes) {
      expect(calledAtMs([["begin", 50_000]], change)).toBe(LOOK_MS);
      expect(calledAtMs([["decision", 50_000]], change)).toBe(50_000);
    }
  });

  test("a cancelled one never calls", () => {
    const clock = new FakeClock();
    const cancel = wakeAt(clock, [["begin", 50_000]], () => expect.unreachable());
    clock.advanceTo(10_000);
    cancel();
    expect(clock.nextMs()).toBe(Number.POSITIVE_INFINITY);
  });
});

test("the reference for administration has the same table", () => {
  const guide = readFileSync(new URL("../../docs/reference-administration.md", import.meta.url), "utf8");
  const rows = guide
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter(([, , clock]) => ["unix", "boot", "monotonic"].includes(clock));
  expect(rows.map(([, ...cells]) => cells.slice(0, 3))).toEqual(
    Object.entries(PROMISES).map(([name, { clock, step }]) => [name, clock, step]),
  );
});
