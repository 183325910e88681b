import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RuleViolation } from "../core/errors.ts";
import { parseParameters } from "../core/parameters.ts";
import type { LocalSchedulerDefinition, TaskObserver, TaskPrograms } from "../core/tasks.ts";
import { gang } from "../policies/gang.ts";
import { grades, idle } from "../policies/local-task-scheduler.ts";
import { POLICIES } from "../policies/registry.ts";
import { ProgramBuilder } from "../workload/program-builder.ts";
import { TaskChecker } from "./task-checker.ts";
import { simulateTasks } from "./tasks.ts";
import { programsOf, twin } from "./tasks-for-tests.ts";
import type { TasksOptions } from "./tasks-run.ts";

const ALPHA = 2;

interface Settings {
  readonly processors: number;
  readonly slotMs: number;
  readonly switchMs?: number;
  readonly ownReturns?: boolean;
  readonly local?: LocalSchedulerDefinition;
  readonly untilMs?: number;
  readonly gang?: TasksOptions["gang"];
}

const FIRST_FIT: TasksOptions["gang"] = { definition: gang, parameters: { fit: "first" } };

/** Every gang policy there is, with its defaults. */
const GANGS: readonly TasksOptions["gang"][] = POLICIES.flatMap((definition) =>
  definition.sharing === "time"
    ? [{ definition, parameters: parseParameters(definition.name, definition.parameters, []) }]
    : [],
);

function optionsOf(settings: Settings): Omit<TasksOptions, "observer"> {
  const { processors, slotMs, switchMs = 0, ownReturns = true, local = idle, untilMs } = settings;
  const front = settings.gang ?? FIRST_FIT;
  return {
    processors,
    slotMs,
    switchMs,
    ownReturns,
    gang: front,
    local: { definition: local, parameters: { alpha: ALPHA, slots: 5 } },
    recordAtMs: untilMs === undefined ? [] : [untilMs],
  };
}

/** Runs under the checker; one string per processor, a letter per ms: the job that computes, `~` switch, `.` idle. */
function picture(programs: TaskPrograms, settings: Settings) {
  const options = optionsOf(settings);
  const rows = new Array<string>(settings.processors).fill("");
  const letters = new Array<string>(settings.processors).fill(".");
  const turn = (timeMs: number, p: number, letter: string) => {
    rows[p] = rows[p].padEnd(timeMs, letters[p]);
    letters[p] = letter;
  };
  const stop = (timeMs: number, p: number) => turn(timeMs, p, ".");
  const drawing: TaskObserver = {
    dispatched: (timeMs, p) => turn(timeMs, p, "~"),
    computes: (timeMs, p, task) => turn(timeMs, p, String.fromCharCode(65 + programs.jobOfTask[task])),
    pauses: stop,
    preempted: stop,
    blocked: stop,
    ended: stop,
  };
  const checker = new TaskChecker(programs, options);
  const result = simulateTasks(programs, { ...options, observer: both(checker, drawing) });
  checker.check(result);
  for (let p = 0; p < rows.length; p++) stop(result.totals[result.totals.length - 1].timeMs, p);
  return { rows, result, checker };
}

function both(a: TaskObserver, b: TaskObserver): TaskObserver {
  const pair: Record<string, (...values: never[]) => void> = {};
  for (const hook of [
    "signalled",
    "placed",
    "released",
    "exchanged",
    "departed",
    "dispatched",
    "computes",
    "pauses",
    "preempted",
    "blocked",
    "ended",
    "settled",
  ] as const) {
    pair[hook] = (...values) => {
      (a[hook] as ((...v: never[]) => void) | undefined)?.apply(a, values);
      (b[hook] as ((...v: never[]) => void) | undefined)?.apply(b, values);
    };
  }
  return pair as unknown as TaskObserver;
}

/** Job programs with tiny durations, messages, barriers and zero latencies; sizes up to the machine. */
function arbitraryPrograms(processors: number, maxJobs: number): fc.Arbitrary<TaskPrograms> {
  const step = fc.record({
    kind: fc.nat(4),
    rank: fc.nat(9),
    other: fc.nat(9),
    ms: fc.integer({ min: 1, max: 6 }),
    latency: fc.nat(3),
    late: fc.boolean(),
  });
  const job = fc.record({
    gap: fc.nat(12),
    size: fc.integer({ min: 1, max: processors }),
    steps: fc.array(step, { maxLength: 14 }),
  });
  return fc.array(job, { minLength: 1, maxLength: maxJobs }).map((jobs) => {
    const builder = new ProgramBuilder();
    let submitMs = 0;
    for (const { gap, size, steps } of jobs) {
      submitMs += gap;
      builder.beginJob(submitMs, size);
      const late: number[] = [];
      for (const { kind, rank, other, ms, latency, late: isLate } of steps) {
        if (kind === 0) builder.compute(rank % size, ms);
        else if (kind === 1) builder.io(rank % size, ms);
        else if (kind === 2) builder.barrier();
        else {
          const message = builder.messages;
          builder.send(rank % size, other % size, latency);
          if (isLate) late.push(message);
          else builder.receive(message);
        }
      }
      for (const message of late) builder.receive(message);
      builder.endJob();
    }
    return builder.build("drawn");
  });
}

const arbitrarySettings = fc.record({
  slotMs: fc.constantFrom(4, 8, 16), // powers of two: shares and their sums are exact, so that twins break ties alike
  switchMs: fc.nat(3),
  ownReturns: fc.boolean(),
  local: fc.constantFrom(idle, grades),
});

const TWO_JOBS = programsOf([
  { at: 0, tasks: ["c2 i1 c3 i9 c1"] },
  { at: 0, tasks: ["c9"] },
]);

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
    // B takes A's idle ms and so ends at 14; its slot runs empty until 16, the end of the period, then A is alone.
    expect(rows).toEqual(["AABABBBBAABBBB.....A"]);
    expect(result.totals[0]).toMatchObject({ busyMs: 15, ioMs: 3, emptyMs: 2 });
  });

  test("Concurrent Gang, ownReturns false: the picked task keeps the processor until the signal", () => {
    const { rows } = picture(TWO_JOBS, { processors: 1, slotMs: 4, local: grades, ownReturns: false });
    // B keeps ms 3, so A's 3 ms last from 8 to 11 and its I/O until 20; B has its 9 ms at 14.
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
    // C arrives at 1 and is placed at 4, when A and B have had a slot each; B ends at 4, so its row goes and C's follows A's.
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
    // One processor, three rows. At 24 C's task blocks in its slot; A (all compute) and B (mostly I/O) are ready.
    const programs = programsOf([
      { at: 0, tasks: ["c40"] },
      { at: 0, tasks: ["c1 i7 c1 i6 c1 i6 c1 i3 c9"] },
      { at: 0, tasks: ["c2 i3 c30"] },
    ]);
    const { rows } = picture(programs, { processors: 1, slotMs: 8, local: grades, untilMs: 24 });
    // C's slot is 16 … 24; it blocks at 18. B has grade 7/8 in I/O, so Pr = 1.75 against A's 1, and it blocks again at 19.
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
  /** What each slot of each task is reported as, in eighths: computing, I/O, message, barrier. */
  function sharesTold(programs: TaskPrograms, settings: Settings): string[] {
    const told: string[] = [];
    const spy: LocalSchedulerDefinition = {
      ...grades,
      make: (taskCount, parameters) => {
        const scheduler = grades.make(taskCount, parameters);
        return {
          slotEnded: (task, ...shares) => {
            told.push(`${task}: ${shares.map((share) => 8 * share).join(" ")}`);
            scheduler.slotEnded(task, ...shares);
          },
          pick: (ready, count) => scheduler.pick(ready, count),
        };
      },
    };
    picture(programs, { ...settings, local: spy });
    return told;
  }

  test("is told what each task did with its own slots, at their ends", () => {
    const programs = programsOf([{ at: 0, tasks: ["c2 i3 c2 s0:5 b c30", "c1 r0 b c30"] }]);
    // Task 0 computes 0–2 and 5–7 and waits at the barrier from 7; the message comes at 12 and lets both go on.
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
    // Processor in slot 0: task 0 computes 1 ms and is in I/O for 2; task 1 has the processor until the signal at 8.
    const waits = { processors: 1, slotMs: 8, untilMs: 9, ownReturns: false };
    expect(sharesTold(programs, waits)).toEqual(["0: 1 2 0 0"]);
    expect(sharesTold(programs, { ...waits, ownReturns: true })).toEqual(["0: 6 2 0 0"]);
    // With a switch of 1 ms: 1 lost, 1 computed, I/O 2 … 4, 1 lost again, 3 computed.
    expect(sharesTold(programs, { ...waits, ownReturns: true, switchMs: 1 })).toEqual(["0: 4 2 0 0"]);
  });

  test("is not told of the slot in which a task ends", () => {
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

describe("simulateTasks and TaskChecker", () => {
  test("no program deadlocks and no rule is broken, under any setting", () => {
    fc.assert(
      fc.property(arbitraryPrograms(5, 8), arbitrarySettings, (programs, settings) => {
        // More than enough: every statement could wait for a whole round of 8 rows.
        const { result, checker } = picture(programs, { processors: 5, untilMs: 10_000, ...settings });
        expect(result.totals[0].jobsCompleted).toBe(programs.jobCount);
        expect(checker.endedTasks).toBe(programs.taskCount);
      }),
      { numRuns: 200 },
    );
  });

  test("the same under every gang policy as front end, also those that give a job several rows", () => {
    expect(GANGS.map((front) => front.definition.name)).toEqual(
      expect.arrayContaining(["gang", "bc", "brmms"]),
    );
    fc.assert(
      fc.property(
        arbitraryPrograms(5, 8),
        arbitrarySettings,
        fc.constantFrom(...GANGS),
        (programs, settings, front) => {
          const { result } = picture(programs, { processors: 5, untilMs: 10_000, ...settings, gang: front });
          expect(result.totals[0].jobsCompleted).toBe(programs.jobCount);
        },
      ),
      { numRuns: 150 },
    );
  });

  /** Rule that the checker names when it is told other options or other programs than the run has. */
  function broken(
    settings: Settings,
    told: Partial<Settings>,
    programs = TWO_JOBS,
    toldPrograms = programs,
  ): string {
    const checker = new TaskChecker(toldPrograms, optionsOf({ ...settings, ...told }));
    try {
      checker.check(simulateTasks(programs, { ...optionsOf(settings), observer: checker }));
    } catch (error) {
      if (error instanceof RuleViolation) return error.rule;
      throw error;
    }
    return "none";
  }
  const one = { processors: 1, slotMs: 4 } as const;

  test("names the rule that a run breaks", () => {
    expect(broken(one, {})).toBe("none");
    expect(broken({ ...one, local: grades }, { local: idle })).toBe("outside-slot");
    expect(broken(one, { local: grades })).toBe("idle-with-work");
    expect(broken({ ...one, local: grades, ownReturns: false }, { ownReturns: true })).toBe("out-of-turn");
    expect(broken(one, { slotMs: 5 })).toBe("preempted");
    expect(broken(one, { switchMs: 1 })).toBe("processor-twice");
    expect(broken(one, { processors: 2 })).toBe("accounts");
    const longer = programsOf([
      { at: 0, tasks: ["c2 i1 c4 i9 c1"] },
      { at: 0, tasks: ["c9"] },
    ]);
    expect(broken(one, {}, TWO_JOBS, longer)).toBe("program");
    const slower = programsOf([
      { at: 0, tasks: ["c2 i2 c3 i9 c1"] },
      { at: 0, tasks: ["c9"] },
    ]);
    expect(broken(one, {}, TWO_JOBS, slower)).toBe("blocked-runs");
  });

  test("names a processor given twice, a task elsewhere, and totals that were not seen", () => {
    const checker = () => {
      const made = new TaskChecker(TWO_JOBS, optionsOf({ ...one, processors: 2, local: grades }));
      made.placed(0, 0, 0, 0);
      made.placed(0, 1, 1, 0);
      made.signalled(0, 0);
      return made;
    };
    const first = checker();
    first.dispatched(0, 0, 0);
    expect(() => first.dispatched(0, 0, 1)).toThrow(
      expect.objectContaining({ rule: "processor-twice", job: 1 }),
    );
    expect(() => checker().dispatched(0, 1, 0)).toThrow(expect.objectContaining({ rule: "migrated" }));
    expect(() => checker().dispatched(0, 0, 1)).toThrow(expect.objectContaining({ rule: "out-of-turn" }));
    expect(() => checker().signalled(3, 1)).toThrow(expect.objectContaining({ rule: "clock" }));
    expect(() => checker().departed(0, 0)).toThrow(expect.objectContaining({ rule: "torn-gang" }));
    const options = optionsOf(one);
    const result = simulateTasks(TWO_JOBS, options);
    expect(() => new TaskChecker(TWO_JOBS, options).check(result)).toThrow(
      expect.objectContaining({ rule: "accounts" }),
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
