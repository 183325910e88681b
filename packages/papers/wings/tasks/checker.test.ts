import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import { gang } from "@tutti/kernel/policies/gangs/gang.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TaskChecker } from "./checker.ts";
import type { TasksOptions } from "./contract.ts";
import { grades, idle } from "./local-task-scheduler.ts";
import { simulateTasks } from "./simulate.ts";
import {
  arbitraryPrograms,
  arbitrarySettings,
  optionsOf,
  picture,
  programsOf,
  type Settings,
  TWO_JOBS,
} from "./tasks-for-tests.ts";

/** Every gang policy, with its defaults. */
const GANGS: readonly TasksOptions["gang"][] = POLICIES.flatMap((definition) =>
  definition.sharing === "time"
    ? [{ definition, parameters: parseParameters(definition.name, definition.parameters, []) }]
    : [],
);

describe("TaskChecker", () => {
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

  test("the same where tasks are created and end, with local tasks and jobs declared as gangs", () => {
    const front = { moldable: true, gang: makeChoice(gang, ["place=any"]), local: grades };
    fc.assert(
      fc.property(arbitraryPrograms(5, 8, "everything"), arbitrarySettings, (programs, settings) => {
        // With more tasks than processors, tasks could wait at a barrier for one that waits for a processor.
        const { firstTask, size } = programs;
        fc.pre(size.every((_, job) => firstTask[job + 1] - firstTask[job] <= 5));
        const { result, checker } = picture(programs, {
          processors: 5,
          untilMs: 10_000,
          ...settings,
          ...front,
        });
        expect(result.totals[0].jobsCompleted).toBe(programs.jobCount);
        expect(checker.endedTasks).toBe(programs.taskCount);
      }),
      { numRuns: 200 },
    );
  });

  test("the same where a job's processors are not side by side", () => {
    // Every job in its own row, on every other processor if it fits.
    const scattered: TasksOptions["gang"]["definition"] = {
      ...gang,
      make: (machine, jobs) => ({
        depart: () => {
          for (let at = machine.rowCount - 1; at >= 0; at--)
            if (machine.firstRun(machine.rowAt(at)) === -1) machine.deleteRow(machine.rowAt(at));
        },
        decide: (arrived) => {
          for (const job of arrived) {
            const step = 2 * jobs.size[job] <= machine.processors + 1 ? 2 : 1;
            const stretches = step === 1 ? [0, jobs.size[job]] : [];
            for (let p = 0; step === 2 && p < 2 * jobs.size[job]; p += 2) stretches.push(p, p + 1);
            machine.placeStretches(job, machine.addRow(), stretches, stretches.length / 2);
          }
        },
      }),
    };
    fc.assert(
      fc.property(arbitraryPrograms(5, 8), arbitrarySettings, (programs, settings) => {
        const front = { definition: scattered, parameters: {} };
        const { result } = picture(programs, { processors: 5, untilMs: 10_000, ...settings, gang: front });
        expect(result.totals[0].jobsCompleted).toBe(programs.jobCount);
      }),
      { numRuns: 100 },
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

  /** The rule that the checker names if it gets other options or other programs than the run has. */
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
      made.placed(0, 0, 0, [0, 0]);
      made.placed(0, 1, 1, [0, 0]);
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
    expect(() => checker().placed(0, 0, 2, [1, 0])).toThrow(expect.objectContaining({ rule: "migrated" }));
    expect(() => checker().signalled(3, 1)).toThrow(expect.objectContaining({ rule: "clock" }));
    expect(() => checker().departed(0, 0)).toThrow(expect.objectContaining({ rule: "torn-gang" }));
    const options = optionsOf(one);
    const result = simulateTasks(TWO_JOBS, options);
    expect(() => new TaskChecker(TWO_JOBS, options).check(result)).toThrow(
      expect.objectContaining({ rule: "accounts" }),
    );
  });
});
