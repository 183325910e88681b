import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { LiveRounds } from "./live-rounds.ts";

describe("LiveRounds.ranMs()", () => {
  test("counts turns between decisions, so that they are visible without a change of the matrix", () => {
    const { definition, parameters } = choosePolicy("gang");
    if (definition.sharing !== "time") throw new Error("gang shares time");
    const options = { definition, parameters, processors: 2, slotMs: 100, epochMs: 1000, originMs: 1000 };
    const rounds = new LiveRounds(options, 10, 1000);
    const live = { size: 2, submitMs: 1000, estimateMs: 60_000, queueClass: -1 };
    for (const job of [1, 2, 3]) rounds.arrive({ job, ...live }, 1000);
    rounds.decide(1000);
    const at = (nowMs: number) => [1, 2, 3].map((job) => rounds.ranMs(job, nowMs));

    expect(at(1000)).toEqual([0, 0, 0]);
    // A slot counts only after its end.
    expect(at(1099)).toEqual([0, 0, 0]);
    expect(at(1100)).toEqual([100, 0, 0]);
    expect(at(1350)).toEqual([100, 100, 100]);
    expect(at(1800)).toEqual([300, 300, 200]);
    // The same numbers after the round was advanced.
    rounds.catchUp(1800);
    expect(at(1800)).toEqual([300, 300, 200]);
    expect(at(1900)).toEqual([300, 300, 300]);
  });
});
