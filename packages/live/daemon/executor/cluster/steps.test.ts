/** Compares the bound on steps with a model: a list in the order in which gangs asked. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Steps } from "./steps.ts";

test("never more than the bound at once, first come first served, each gang once", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 7 })), { maxLength: 60 }),
      (most, events) => {
        const steps = new Steps<number>(most);
        const called: number[] = [];
        const model = { running: [] as number[], waiting: [] as number[], called: [] as number[] };
        for (const [takes, gang] of events) {
          if (takes) {
            steps.take(gang, () => called.push(gang));
            if (!model.running.includes(gang) && !model.waiting.includes(gang)) model.waiting.push(gang);
          } else {
            steps.give(gang);
            model.running = model.running.filter((other) => other !== gang);
            model.waiting = model.waiting.filter((other) => other !== gang);
          }
          while (model.running.length < most && model.waiting.length > 0) {
            const next = model.waiting.shift()!;
            model.running.push(next);
            model.called.push(next);
          }
          expect(called).toEqual(model.called);
          for (let other = 0; other < 8; other++)
            expect(steps.obstacle(other) !== undefined).toBe(model.waiting.includes(other));
        }
      },
    ),
  );
});
