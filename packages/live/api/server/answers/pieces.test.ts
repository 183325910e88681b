import fc from "fast-check";
import { expect, test } from "vitest";
import { RequestScheduler } from "../fairness/request-scheduler.ts";
import { listResponse } from "./pieces.ts";

const turns = new RequestScheduler().turnsOf(1, () => false);

test("a list in pieces is exactly the text that JSON.stringify makes of the whole", async () => {
  const entry = fc.object({ maxDepth: 1 }).map((value) => JSON.parse(JSON.stringify(value)));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(entry, { maxLength: 4 }), { maxLength: 6 }),
      fc.constantFrom({}, { next: 5 }),
      async (pages, after) => {
        const response = listResponse(turns, "x/1", "list", pages, () => after);
        expect(await response.text()).toBe(JSON.stringify({ schema: "x/1", list: pages.flat(), ...after }));
      },
    ),
  );
});

test("pieces are made on demand, and closed when the client leaves", async () => {
  let made = 0;
  let isClosed = false;
  function* pages() {
    try {
      for (; made < 1000; made++) yield [{ made }];
    } finally {
      isClosed = true;
    }
  }
  const reader = listResponse(turns, "x/1", "list", pages()).body!.getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  await reader.cancel();
  expect(made).toBeLessThan(5);
  expect(isClosed).toBe(true);
});
