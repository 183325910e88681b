import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import { describe, expect, test } from "vitest";
import { NO_TASK } from "./contract.ts";
import { grades, idle } from "./local-task-scheduler.ts";

describe("grades", () => {
  const make = (alpha: number, classes = {}, isGang = new Uint8Array(4)) =>
    grades.make(4, { alpha, slots: 5, ...classes }, isGang);

  test("pick() takes the largest max(α·λ_IO, λ_COMP)", () => {
    const scheduler = make(2);
    scheduler.slotEnded(0, 0.9, 0.1, 0, 0); // Pr 0.9
    scheduler.slotEnded(1, 0.4, 0.6, 0, 0); // Pr 1.2
    scheduler.slotEnded(2, 0.3, 0, 0.7, 0); // Pr 0.3
    scheduler.slotEnded(3, 0.2, 0, 0, 0.8); // Pr 0.2
    expect(scheduler.pick([0, 1, 2, 3], 4)).toBe(1);
    expect(scheduler.pick([0, 2, 3], 3)).toBe(0);
    expect(scheduler.pick([3, 2], 2)).toBe(2);
    expect(scheduler.pick([3, 2], 1)).toBe(3); // only the first `count` entries are ready
    const plain = make(1);
    plain.slotEnded(0, 0.9, 0.1, 0, 0);
    plain.slotEnded(1, 0.4, 0.6, 0, 0);
    expect(plain.pick([0, 1], 2)).toBe(0);
  });

  test("pick() goes round among equals, the one placed first first", () => {
    const scheduler = make(2);
    for (const task of [0, 1, 2]) scheduler.slotEnded(task, 1, 0, 0, 0);
    const picked = Array.from({ length: 5 }, () => scheduler.pick([2, 0, 1], 3));
    expect(picked).toEqual([2, 0, 1, 2, 0]);
    expect(scheduler.pick([0, 2, 3], 3)).toBe(2); // 1 is not ready; 2 was picked before 0; 3 has no grade yet
  });

  test("classes=user: a task that its user declared for gang scheduling is not picked", () => {
    const scheduler = make(2, { classes: "user" }, Uint8Array.of(1, 0, 0, 1));
    for (const task of [0, 1, 2, 3]) scheduler.slotEnded(task, 0.9 - task / 10, 0, 0, 0);
    expect(scheduler.pick([0, 1, 2, 3], 4)).toBe(1);
    expect(scheduler.pick([0, 3], 2)).toBe(NO_TASK);
  });

  test("classes=grade: a task is not picked while messages and barriers outweigh computation and I/O", () => {
    // What the user says does not count.
    const scheduler = make(2, { classes: "grade" }, Uint8Array.of(1, 1, 1, 1));
    scheduler.slotEnded(0, 0.4, 0, 0.3, 0.3);
    scheduler.slotEnded(1, 0.3, 0.2, 0.25, 0.25); // equal shares are no reason to need the gang
    expect(scheduler.pick([0, 1], 2)).toBe(1);
    expect(scheduler.pick([0], 1)).toBe(NO_TASK);
    expect(scheduler.pick([2], 1)).toBe(2); // nothing is known of it
    scheduler.slotEnded(0, 1, 0, 0, 0); // a new phase: the mean of its two slots is 0.7 of computation
    expect(scheduler.pick([0], 1)).toBe(0);
  });
});

describe("idle", () => {
  test("leaves the processor idle", () => {
    expect(idle.make(1, {}, [0]).pick([0], 1)).toBe(NO_TASK);
  });

  test("neither does it claim to conserve work; grades does, with the paper's α = 2 and five slots", () => {
    expect(idle.guarantees({}).outsideSlots).toBe("none");
    expect(grades.guarantees({}).outsideSlots).toBe("all");
    expect(parseParameters("grades", grades.parameters, [])).toEqual({ alpha: 2, slots: 5, classes: "none" });
  });
});
