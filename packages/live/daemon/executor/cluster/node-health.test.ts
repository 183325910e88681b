/** Compares the health of a node with a naive twin that looks at the whole history of heartbeats. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { LOST_MS, NodeHealth, type NodeState, SILENT_MS } from "./node-health.ts";

const STEP_MS = 100;

/** The state after these steps, from the rules: one heartbeat or none in each step of 100 ms. */
function expected(beats: readonly boolean[], downAt: number | undefined): NodeState {
  let state: NodeState = "starting";
  let lastMs = 0;
  for (const [i, beat] of beats.entries()) {
    const nowMs = i * STEP_MS;
    const quietMs = nowMs - lastMs;
    if (state === "up" && quietMs >= SILENT_MS) state = "silent";
    if (state !== "up" && quietMs >= SILENT_MS + LOST_MS) state = "lost";
    if (i === downAt) state = "lost";
    if (!beat || state === "lost") continue;
    state = "up";
    lastMs = nowMs;
  }
  return state;
}

test("up, silent after 3 s, lost after 20 s more, and back before that", () => {
  const stretches = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 260 })), { maxLength: 8 });
  fc.assert(
    fc.property(stretches, fc.option(fc.nat({ max: 600 }), { nil: undefined }), (parts, downAt) => {
      const beats = parts.flatMap(([beat, count]) => Array<boolean>(count).fill(beat));
      const health = new NodeHealth(0);
      for (const [i, beat] of beats.entries()) {
        const nowMs = i * STEP_MS;
        health.advance(nowMs);
        if (i === downAt) health.down(nowMs);
        if (beat) health.heard(nowMs);
        expect(health.state).toBe(expected(beats.slice(0, i + 1), downAt));
      }
    }),
    { numRuns: 20 },
  );
});

test("a lost node takes part again only when it is admitted, and never if the cluster calls it down", () => {
  const health = new NodeHealth(0);
  health.heard(0);
  expect(health.advance(2999)).toBeUndefined();
  expect(health.advance(3000)).toBe("silent");
  expect(health.advance(22_999)).toBeUndefined();
  expect(health.advance(23_000)).toBe("lost");
  expect(health.heard(24_000)).toBeUndefined();
  expect(health.admit(24_000)).toBe("up");
  expect(health.down(25_000)).toBe("lost");
  expect(health.admit(26_000)).toBeUndefined();
});

test("a node that had nothing to say has 2.5 s for an answer", () => {
  const health = new NodeHealth(0);
  health.heard(0);
  // Asked before half a second is over, it has the rest of its 3 s.
  health.asked(400);
  expect(health.dueMs).toBe(3000);
  health.heard(1000);
  health.asked(2250);
  expect(health.advance(4749)).toBeUndefined();
  expect(health.advance(4750)).toBe("silent");
});
