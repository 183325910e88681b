import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventHeap } from "./event-heap.ts";

describe("EventHeap", () => {
  test("push(), pop(), nextTime(), nextId() and clear() agree with a stable sort", () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.nat(20).map((time) => ({ push: time })) },
      { weight: 4, arbitrary: fc.constant("pop" as const) },
      { weight: 1, arbitrary: fc.constant("clear" as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const heap = new EventHeap();
        let twin: { time: number; id: number }[] = [];
        let id = 0;
        for (const s of steps) {
          if (s === "clear") {
            heap.clear();
            twin = [];
          } else if (s === "pop") {
            if (twin.length > 0) expect(heap.pop()).toBe(twin.shift()?.id);
          } else {
            heap.push(s.push, id);
            twin.push({ time: s.push, id: id++ });
            twin.sort((a, b) => a.time - b.time || a.id - b.id);
          }
          heap.audit();
          expect(heap.length).toBe(twin.length);
          expect(heap.nextTime()).toBe(twin[0]?.time ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });

  test("push() refuses NaN and pop() refuses an empty heap", () => {
    const heap = new EventHeap();
    expect(() => heap.push(Number.NaN, 3)).toThrow("Cannot schedule event 3");
    expect(() => heap.pop()).toThrow("the heap is empty");
  });
});
