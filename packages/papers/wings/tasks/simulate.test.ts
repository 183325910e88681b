import { gang } from "@tutti/kernel/policies/gangs/gang.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LocalSchedulerDefinition, TaskPrograms } from "./contract.ts";
import { grades } from "./local-task-scheduler.ts";
import { simulateTasks } from "./simulate.ts";
import {
  ALPHA,
  arbitraryPrograms,
  arbitrarySettings,
  optionsOf,
  picture,
  programsOf,
  type Settings,
  TWO_JOBS,
} from "./tasks-for-tests.ts";
import { twin } from "./twin-for-tests.ts";

describe("simulateTasks", () => {
  test("gang scheduling: the processor of a blocked task idles until the task can go on or the slot ends", () => {
    const { rows, result } = picture(TWO_JOBS, { processors: 1, slotMs: 4 });
    // A: 2 ms, I/O for 1, 1 ms; B's slot; A 2 ms more, I/O from 10 to 19; A's slot at 16 begins blocked.
    expect(rows).toEqual(["AA.ABBBBAA..BBBB...AB"]);
    expect([...result.endMs]).toEqual([20, 21]);
    expect(result.totals).toEqual([
      {
        timeMs: 21,
        jobsCompleted: 2,
        busyMs: 15,
        switchMs: 0,
        ioMs: 6,
        messageMs: 0,
        barrierMs: 0,
        emptyMs: 0,
      },
    ]);
  });

  test("Concurrent Gang: another task runs while the row's own is blocked, and leaves when that returns", () => {
    const { rows, result } = picture(TWO_JOBS, { processors: 1, slotMs: 4, local: grades });
    // B takes A's idle ms and so ends at 14; its slot runs empty until 16, the end of the period, then A is
    // alone.
    expect(rows).toEqual(["AABABBBBAABBBB.....A"]);
    expect(result.totals[0]).toMatchObject({ busyMs: 15, ioMs: 3, emptyMs: 2 });
  });

  test("Concurrent Gang, ownReturns false: the picked task keeps the processor until the signal", () => {
    const { rows } = picture(TWO_JOBS, { processors: 1, slotMs: 4, local: grades, ownReturns: false });
    // B keeps ms 3, so A's 3 ms last from 8 to 11 and its I/O until 20; B gets its 9 ms at 14.
    expect(rows).toEqual(["AABBBBBBAAABBB......A"]);
  });

  test("a switch costs at each turn to another task, and not at a return to the last one", () => {
    const { rows, result } = picture(TWO_JOBS, { processors: 1, slotMs: 4, switchMs: 1 });
    expect(rows[0].slice(0, 12)).toBe("~AA.~BBB~AAA");
    const { switchMs, timeMs, busyMs, ioMs, emptyMs } = result.totals[0];
    expect(switchMs + busyMs + ioMs + emptyMs).toBe(timeMs);
    const alone = picture(programsOf([{ at: 0, tasks: ["c2 i1 c3"] }]), {
      processors: 1,
      slotMs: 4,
      switchMs: 1,
    });
    expect(alone.rows).toEqual(["~AA.AAA"]);
  });

  test("the front end acts between periods: an arrival waits for the end of the round, an end leaves its slots empty", () => {
    const programs = programsOf([
      { at: 0, tasks: ["c6"] },
      { at: 0, tasks: ["c2"] },
      { at: 1, tasks: ["c2"] },
    ]);
    const { rows } = picture(programs, { processors: 1, slotMs: 2 });
    // C arrives at 1 and is placed at 4, when A and B have had one slot each. B ends at 4, so its row is
    // deleted and C's row follows A's.
    expect(rows).toEqual(["AABBAACCAA"]);
  });

  test("all tasks of a job share a row; a barrier lets all go on when the last one comes", () => {
    const programs = programsOf([
      { at: 0, tasks: ["c1 b c2", "c3 b c1"] },
      { at: 0, tasks: ["c3"] },
    ]);
    expect(picture(programs, { processors: 2, slotMs: 4 }).rows).toEqual(["A..ABBB.A", "AAAA....."]);
    // Under Concurrent Gang B fills the wait of A's first task on processor 0.
    expect(picture(programs, { processors: 2, slotMs: 4, local: grades }).rows).toEqual(["ABBABA", "AAAA.."]);
  });

  test("a receive waits for its message and for its time on the way; a send does not wait", () => {
    const programs = programsOf([{ at: 0, tasks: ["c2 s0:3 c4", "c1 r0 c1"] }]);
    const { rows, result } = picture(programs, { processors: 2, slotMs: 10 });
    expect(rows).toEqual(["AAAAAA", "A....A"]);
    expect(result.totals[0]).toMatchObject({ messageMs: 4, emptyMs: 0 });
  });

  test("the local scheduler picks the I/O task before the computing one", () => {
    // One processor, three rows. At 24 C's task blocks in its slot; A (all compute) and B (mostly I/O) are
    // ready.
    const programs = programsOf([
      { at: 0, tasks: ["c40"] },
      { at: 0, tasks: ["c1 i7 c1 i6 c1 i6 c1 i3 c9"] },
      { at: 0, tasks: ["c2 i3 c30"] },
    ]);
    const { rows } = picture(programs, { processors: 1, slotMs: 8, local: grades, untilMs: 24 });
    // C's slot is 16 … 24; it blocks at 18. B has grade 7/8 in I/O, so Pr = 1.75 against A's 1, and it blocks
    // again at 19.
    expect(rows[0].slice(16, 24)).toBe("CCBAACCC");
  });

  test("round robin: among equal priorities the task picked longest ago is next", () => {
    const programs = programsOf([
      { at: 0, tasks: ["i99"] },
      { at: 0, tasks: ["c90"] },
      { at: 0, tasks: ["c90"] },
      { at: 0, tasks: ["c90"] },
    ]);
    const { rows } = picture(programs, { processors: 1, slotMs: 1, local: grades, untilMs: 20 });
    // A never can; its slots go to B (first placed, nothing known of any), then in turn to C, D, B, C.
    expect(rows[0]).toBe("BBCDCBCDDBCDBBCDCBCD");
  });
});

describe("simulateTasks and the local scheduler", () => {
  /** The report on each slot of each task, in eighths: computing, I/O, message, barrier. */
  function sharesTold(programs: TaskPrograms, settings: Settings): string[] {
    const reported: string[] = [];
    const spy: LocalSchedulerDefinition = {
      ...grades,
      make: (taskCount, parameters, isGang) => {
        const scheduler = grades.make(taskCount, parameters, isGang);
        return {
          slotEnded: (task, ...shares) => {
            reported.push(`${task}: ${shares.map((share) => 8 * share).join(" ")}`);
            scheduler.slotEnded(task, ...shares);
          },
          pick: (ready, count) => scheduler.pick(ready, count),
        };
      },
    };
    picture(programs, { ...settings, local: spy });
    return reported;
  }

  test("learns what each task did with its own slots, at their ends", () => {
    const programs = programsOf([{ at: 0, tasks: ["c2 i3 c2 s0:5 b c30", "c1 r0 b c30"] }]);
    // Task 0 computes 0–2 and 5–7 and waits at the barrier from 7; the message arrives at 12 and releases
    // both.
    expect(sharesTold(programs, { processors: 2, slotMs: 8, untilMs: 17 })).toEqual([
      "0: 4 3 0 1",
      "1: 1 0 7 0",
      "0: 4 0 0 4",
      "1: 4 0 4 0",
    ]);
  });

  test("time in which an own task is ready but does not run, or is switched to, counts for no class", () => {
    const programs = programsOf([
      { at: 0, tasks: ["c1 i2 c9"] },
      { at: 0, tasks: ["c90"] },
    ]);
    // Processor in slot 0: task 0 computes 1 ms and is in I/O for 2; task 1 has the processor until the
    // signal at 8.
    const waits = { processors: 1, slotMs: 8, untilMs: 9, ownReturns: false };
    expect(sharesTold(programs, waits)).toEqual(["0: 1 2 0 0"]);
    expect(sharesTold(programs, { ...waits, ownReturns: true })).toEqual(["0: 6 2 0 0"]);
    // With a switch of 1 ms: 1 lost, 1 computed, I/O 2 … 4, 1 lost again, 3 computed.
    expect(sharesTold(programs, { ...waits, ownReturns: true, switchMs: 1 })).toEqual(["0: 4 2 0 0"]);
  });

  test("does not learn about the slot in which a task ends", () => {
    const programs = programsOf([{ at: 0, tasks: ["c10"] }]);
    expect(sharesTold(programs, { processors: 1, slotMs: 8, untilMs: 30 })).toEqual(["0: 8 0 0 0"]);
  });
});

describe("simulateTasks and its naive twin", () => {
  test("every ms of every processor is the same, and so are the ends and the totals by use", () => {
    fc.assert(
      fc.property(arbitraryPrograms(3, 5), arbitrarySettings, (programs, settings) => {
        const untilMs = 160;
        const ours = picture(programs, { processors: 3, untilMs, ...settings });
        const alpha = settings.local === grades ? ALPHA : undefined;
        const theirs = twin(programs, { processors: 3, untilMs, alpha, ...settings });
        expect(ours.rows).toEqual(theirs.rows);
        expect(ours.result.totals[0]).toMatchObject(theirs.uses);
        expect([...ours.result.endMs].map((end) => (end < untilMs ? end : Number.NaN))).toEqual(theirs.endMs);
      }),
      { numRuns: 400 },
    );
  });
});

describe("simulateTasks and its naive twin, all of the paper's mechanisms", () => {
  test("first and best fit by capacity, moldable jobs, local tasks, classes of tasks: every ms is the same", () => {
    const everything = fc.record({
      moldable: fc.constant(true),
      place: fc.constant("any"),
      fit: fc.constantFrom("first", "best"),
      classes: fc.constantFrom("none" as const, "user" as const, "grade" as const),
    });
    fc.assert(
      fc.property(
        arbitraryPrograms(4, 6, "everything"),
        arbitrarySettings,
        everything,
        (programs, settings, also) => {
          const untilMs = 240;
          const { place, fit, ...both } = also;
          const front = makeChoice(gang, [`place=${place}`, `fit=${fit}`]);
          const ours = picture(programs, { processors: 4, untilMs, ...settings, ...both, gang: front });
          const alpha = settings.local === grades ? ALPHA : undefined;
          const theirs = twin(programs, { processors: 4, untilMs, alpha, ...settings, ...also });
          expect(ours.rows).toEqual(theirs.rows);
          expect(ours.result.totals[0]).toMatchObject(theirs.uses);
          expect([...ours.result.endMs].map((end) => (end < untilMs ? end : Number.NaN))).toEqual(
            theirs.endMs,
          );
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe("simulateTasks, alone on the machine", () => {
  test("a job takes its dedicated time from the signal that places it, whatever the slot", () => {
    fc.assert(
      fc.property(arbitraryPrograms(4, 1), arbitrarySettings, (programs, settings) => {
        const { slotMs } = settings;
        const { result } = picture(programs, { processors: 4, ...settings, switchMs: 0 });
        const placedMs = Math.ceil(programs.submitMs[0] / slotMs) * slotMs;
        expect(result.endMs[0]).toBe(placedMs + programs.dedicatedMs[0]);
      }),
    );
  });

  test("refuses a slot or a switch that is not whole ms, or a switch as long as the slot", () => {
    for (const wrong of [
      { slotMs: 0.5 },
      { slotMs: 0 },
      { slotMs: 4, switchMs: 4 },
      { slotMs: 4, switchMs: -1 },
    ]) {
      expect(() => simulateTasks(TWO_JOBS, optionsOf({ processors: 1, ...wrong }))).toThrow(
        "Broken invariant",
      );
    }
  });
});
