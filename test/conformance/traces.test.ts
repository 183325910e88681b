/**
 * Simulates the complete real traces: every line is accounted for, every job starts, and the checker finds no
 * violation. In `npm run soak` under FCFS and under EASY, otherwise under one of them, in turn.
 */

import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { inTurn, SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { REAL_TRACES, readTrace, traceBytes, traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { describe, expect, test } from "vitest";

/** Lines that are neither comments nor blank. */
function dataLines(bytes: Uint8Array): number {
  let lines = 0;
  for (const line of new TextDecoder().decode(bytes).split("\n")) if (/^\s*[^\s;]/.test(line)) lines++;
  return lines;
}

describe("real traces", () => {
  for (const [turn, name] of REAL_TRACES.entries()) {
    const policies = inTurn(["fcfs", "easy"], SIZES.tracesEvery, turn);
    const title = `${name}: every line is accounted for under ${policies.join(" and ")}`;
    test.skipIf(traceFile(name) === undefined)(title, () => {
      const workload = readTrace(name);
      const instance = prepare(workload, workload.processors as number, DEFAULT_RULES);
      const dropped = [...workload.diagnostics, ...instance.diagnostics]
        .filter((one) => one.action === "dropped")
        .reduce((sum, one) => sum + one.count, 0);
      expect(instance.count + dropped).toBe(dataLines(traceBytes(name)));
      for (const policy of policies) {
        const result = audit(instance, choosePolicy(policy), { slotS: 1, switchS: 0, probedInstants: 0 });
        if (!result.ok) throw new Error(auditLines(policy, result).join("\n"));
        expect(result.checked).toMatchObject({ starts: instance.count, ends: instance.count, probes: 6 });
        expect(result.schedule.startS.every((startS, job) => startS >= instance.submitS[job])).toBe(true);
      }
    });
  }
});
