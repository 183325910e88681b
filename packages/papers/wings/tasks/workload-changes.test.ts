/**
 * The mechanisms of Silva and Scherson 1999 that its simulations leave out, worked out by hand: jobs whose
 * number of eligible tasks changes, local tasks of a processor, and tasks for which gang scheduling is
 * mandatory.
 */

import { gang } from "@tutti/kernel/policies/gangs/gang.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { TaskChecker } from "./checker.ts";
import { grades } from "./local-task-scheduler.ts";
import { simulateTasks } from "./simulate.ts";
import { optionsOf, picture, programsOf, type Settings } from "./tasks-for-tests.ts";

const moldable = { moldable: true, gang: makeChoice(gang, ["place=any"]) };

function rowsOf(jobs: Parameters<typeof programsOf>[0], settings: Settings): string[] {
  return picture(programsOf(jobs), settings).rows;
}

describe("moldable jobs", () => {
  test("a created task gets a processor of its job's row at the end of the period", () => {
    // A creates its second task at 1; the front end notices at 2.
    const rows = rowsOf([{ at: 0, tasks: ["c1 n1 c3", "c2"], size: 1 }], {
      processors: 4,
      slotMs: 2,
      ...moldable,
    });
    expect(rows).toEqual(["AAAA", "..AA", "....", "...."]);
  });

  test("without room in its slice the job keeps its processors and moves to another slice", () => {
    // At 2 B has the other processor of the row, so A gets a new row on processors 0 and 1. A's second task
    // ends at 5; A keeps its row, because nothing is re-packed.
    const rows = rowsOf(
      [
        { at: 0, tasks: ["c1 n1 c4", "c1"], size: 1 },
        { at: 0, tasks: ["c6"] },
      ],
      { processors: 2, slotMs: 2, ...moldable },
    );
    expect(rows).toEqual(["AA..AA..A", "BBBBA.BB."]);
  });

  test("the processor of an ended task goes to an arrival at the end of the period; rigid jobs keep it", () => {
    const jobs = [
      { at: 0, tasks: ["c1", "c9"] },
      { at: 1, tasks: ["c3"] },
    ];
    const machine = { processors: 2, slotMs: 2 };
    expect(rowsOf(jobs, { ...machine, ...moldable })).toEqual(["A.BBB....", "AAAAAAAAA"]);
    expect(rowsOf(jobs, machine)).toEqual(["A...BB..B....", "AAAA..AA..AAA"]);
  });

  test("a job all of whose processors are given back is placed again with the tasks that it has created", () => {
    const rows = rowsOf([{ at: 0, tasks: ["c1 n1", "c2"], size: 1 }], {
      processors: 1,
      slotMs: 2,
      ...moldable,
    });
    expect(rows).toEqual(["A.AA"]);
  });

  test("tasks beyond the size of the machine wait until tasks of the job end", () => {
    const rows = rowsOf([{ at: 0, tasks: ["n1 n2 c1", "c1", "c1"], size: 1 }], {
      processors: 1,
      slotMs: 2,
      ...moldable,
    });
    expect(rows).toEqual(["A.A.A"]);
  });

  test("a barrier waits for a task that has no processor yet, and not for one that has ended", () => {
    const created = rowsOf([{ at: 0, tasks: ["n1 b c1", "c1 b"], size: 1 }], {
      processors: 2,
      slotMs: 2,
      ...moldable,
    });
    expect(created).toEqual(["...A", "..A."]);
    const ended = rowsOf([{ at: 0, tasks: ["c1 b c1", "c2"] }], { processors: 2, slotMs: 4, ...moldable });
    expect(ended).toEqual(["A.A", "AA."]);
  });

  test("needs a gang policy that follows them; rigid jobs cannot create tasks", () => {
    const jobs = programsOf([{ at: 0, tasks: ["n1", "c1"], size: 1 }]);
    const options = optionsOf({ processors: 2, slotMs: 2 });
    expect(() => simulateTasks(jobs, { ...options, moldable: true })).toThrow(
      'the number of a job\'s tasks changes while it runs, expected a policy whose copesWith lists "resizing"',
    );
    expect(() => simulateTasks(jobs, options)).toThrow("Broken invariant");
  });
});

describe("local tasks", () => {
  test("run when their processor would be idle, from their arrival on, without a slot", () => {
    // A is in I/O from 2 to 6. B, a local task, comes at 1; it gets the processor at 2 and at 4.
    const rows = rowsOf(
      [
        { at: 0, tasks: ["c2 i4 c2"] },
        { at: 1, tasks: ["c3"], home: 0 },
      ],
      { processors: 1, slotMs: 4, local: grades },
    );
    expect(rows).toEqual(["AABBB.AA"]);
  });

  test("never run under conventional gang scheduling, which has no local task scheduler", () => {
    const rows = rowsOf([{ at: 0, tasks: ["c3"], home: 1 }], { processors: 2, slotMs: 4, untilMs: 8 });
    expect(rows).toEqual(["........", "........"]);
  });
});

describe("classes of tasks", () => {
  test("by user: a task whose user asks for gang scheduling does not fill the slot of another task", () => {
    const jobs = [
      { at: 0, tasks: ["c20"], isGang: true },
      { at: 0, tasks: ["i3 c1"] },
    ];
    const machine = { processors: 1, slotMs: 4, local: grades, untilMs: 8 };
    // B's slot begins at 4 with an I/O of 3 ms.
    expect(rowsOf(jobs, { ...machine, classes: "none" })).toEqual(["AAAAAAAB"]);
    expect(rowsOf(jobs, { ...machine, classes: "user" })).toEqual(["AAAA...B"]);
  });

  test("by grade: a task is left to its gang while it mostly waits for messages", () => {
    // Processor 0: A's first task waits from 1 until its second task sends. At 1 B begins its I/O, which
    // lasts until 9; its slot begins at 8, and it computes in 9.
    const jobsOf = (sendsAtMs: number) => [
      { at: 0, tasks: ["c1 r0 c20", `c${sendsAtMs} s0:0`] },
      { at: 0, tasks: ["i8 c1", "i8 c1"] },
    ];
    const machine = { processors: 2, slotMs: 8, local: grades, untilMs: 12 };
    // The message comes at 5: in its slot A computed for 4 ms and waited for 4 ms, which is not enough.
    expect(rowsOf(jobsOf(5), { ...machine, classes: "grade" })[0]).toBe("A....AAAABAA");
    // The message comes at 7: A waited for 6 of 8 ms, and no longer fills B's slot.
    expect(rowsOf(jobsOf(7), { ...machine, classes: "none" })[0]).toBe("A......AABAA");
    expect(rowsOf(jobsOf(7), { ...machine, classes: "grade" })[0]).toBe("A......A.B..");
  });
});

describe("TaskChecker", () => {
  const shrinking = programsOf([{ at: 0, tasks: ["c1", "c3"] }]);
  const options = optionsOf({ processors: 2, slotMs: 2, ...moldable });

  test("names a rigid job that changes its size, and tasks without or with a wrong processor", () => {
    const rigid = new TaskChecker(shrinking, { ...options, moldable: false });
    expect(() => simulateTasks(shrinking, { ...options, observer: rigid })).toThrow(
      expect.objectContaining({ rule: "rigid" }),
    );
    const checker = () => {
      const made = new TaskChecker(programsOf([{ at: 0, tasks: ["c2", "c2"] }]), options);
      made.placed(0, 0, 0, [0, -1]);
      return made;
    };
    expect(() => checker().acted(0)).toThrow(expect.objectContaining({ rule: "eligible" }));
    expect(() => checker().resized(0, 0, [-1, 0])).toThrow(expect.objectContaining({ rule: "torn-gang" }));
    expect(() => checker().resized(0, 0, [1, 0])).toThrow(expect.objectContaining({ rule: "migrated" }));
  });

  test("names a local task on the wrong processor, at the wrong time, or in a row", () => {
    const local = programsOf([{ at: 3, tasks: ["c1"], home: 1 }]);
    const checker = () => new TaskChecker(local, options);
    expect(() => checker().cameHome(3, 0, 0)).toThrow(expect.objectContaining({ rule: "local" }));
    expect(() => checker().cameHome(2, 1, 0)).toThrow(expect.objectContaining({ rule: "local" }));
    expect(() => checker().placed(4, 0, 0, [1])).toThrow(expect.objectContaining({ rule: "local" }));
    expect(() => checker().cameHome(3, 1, 0)).not.toThrow();
  });
});
