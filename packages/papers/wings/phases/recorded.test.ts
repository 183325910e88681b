/** Re-enacts the two recorded runs of llm-d under its own rule (../shared/data/phases). */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { PhasesChecker } from "./checker.ts";
import { lock } from "./policies/lock.ts";
import { fromEvents, type RecordedEvent } from "./recorded.ts";
import { simulatePhases } from "./simulate.ts";

const FILE = fileURLToPath(
  new URL("../../../../../shared/data/phases/llm-d-recorded-runs.json", import.meta.url),
);
const PARAMETERS = { groups: "1", order: "wanted" };
/** As published, and the largest difference of a single turn from its recorded time that we found. */
const PUBLISHED = [
  { run: 0, durationS: 11_330, switches: 42, worstS: 3 },
  { run: 1, durationS: 7120, switches: 27, worstS: 33 },
];

describe.skipIf(!existsSync(FILE))("the recorded runs of llm-d", () => {
  const { runs } = JSON.parse(existsSync(FILE) ? readFileSync(FILE, "utf8") : '{"runs":[]}');

  test.each(PUBLISHED)(
    "run $run: within 1 %, switch by switch in the same order",
    ({ run, durationS, switches, worstS }) => {
      const events: RecordedEvent[] = runs[run].timeslice.events;
      const { instance, originMs, recorded } = fromEvents(`run ${run}`, events);
      const schedule = simulatePhases(
        instance,
        lock,
        PARAMETERS,
        new PhasesChecker(instance, lock.guarantees(PARAMETERS)),
      );
      const endS = (Math.max(...schedule.yieldedMs) + originMs) / 1000;
      expect(Math.abs(endS / durationS - 1)).toBeLessThan(0.01);
      const saved = [...recorded.keys()].filter((turn) => schedule.freedMs[turn] > schedule.yieldedMs[turn]);
      expect(saved.length).toBe(switches);
      // Who restores is decided by who had the unit before, not by the record.
      for (const [turn, { restoreMs }] of recorded.entries())
        expect(schedule.isSwitch[turn] === 1, `turn ${turn}`).toBe(restoreMs > 0);
      const inOrder = (timeMs: (turn: number) => number) =>
        [...recorded.keys()]
          .sort((a, b) => timeMs(a) - timeMs(b))
          .map((turn) => `${recorded[turn].job} ${recorded[turn].pool}`);
      expect(inOrder((turn) => schedule.gotMs[turn])).toEqual(inOrder((turn) => recorded[turn].gotMs));
      for (const [turn, { gotMs }] of recorded.entries())
        expect(Math.abs(schedule.gotMs[turn] + originMs - gotMs), `turn ${turn}`).toBeLessThan(1000 * worstS);
    },
  );
});

describe("fromEvents()", () => {
  const event = (t: number, kind: string, job = "A", more = {}) => ({ t, kind, job, pool: "p", ...more });

  test("refuses a turn without an end, two at once, and an end without a beginning", () => {
    expect(() => fromEvents("f", [event(1, "acquired")])).toThrow('expected an event "yielded"');
    expect(() => fromEvents("f", [event(1, "acquired"), event(2, "acquired")])).toThrow("gets p twice");
    expect(() => fromEvents("f", [event(1, "yielded")])).toThrow("expected a turn before that");
  });

  test("what a job did by itself is kept, what it waited for another is not", () => {
    const { instance } = fromEvents("f", [
      event(10, "acquired"),
      event(14, "yielded"),
      event(15, "acquired", "B", { wait_ms: 3000, restore_ms: 500 }),
      event(18, "yielded", "B"),
      event(30, "acquired", "A", { wait_ms: 9000, restore_ms: 1000 }),
      event(31, "yielded"),
    ]);
    expect(instance.gangs).toEqual(["A", "B"]);
    expect([...instance.submitMs]).toEqual([0, 2000]);
    expect([...instance.turns.holdMs]).toEqual([4000, 1000, 3000]);
    // A wanted its second turn at 21 s, since the wait may count the restore.
    expect([...instance.turns.waitMs]).toEqual([7000, 0, 0]);
    expect([...instance.turns.restoreMs]).toEqual([0, 1000, 500]);
    // B waited already when A yielded at 14 s, and began to restore at 14.5 s.
    expect([...instance.turns.saveMs]).toEqual([500, 500, 500]);
  });
});
