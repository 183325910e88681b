/** Tests that a picture that is drawn again and again shows the end. */

import type { MatrixAnswer } from "@tutti/protocol/schema.ts";
import { expect, test } from "vitest";
import { watchMatrix } from "./matrix.ts";

const EMPTY: MatrixAnswer = {
  schema: "tutti.matrix/1",
  sequence: 1,
  policy: "gang",
  sharing: "time",
  slotMs: 100,
  mode: "gang",
  cpus: [0],
  nodes: [],
  epochMs: 0,
  nowMs: 0,
  rows: [],
};

test("what changes after the last picture and before the end of the watch is drawn once more", async () => {
  for (const showsEnd of [true, false]) {
    const stop = new AbortController();
    let text = "";
    let ended = 5;
    let pictures = 0;
    const to = { write: (words: string) => (text += words) } as unknown as NodeJS.WriteStream;
    const ask = async () => {
      // All have ended when the first picture has just been drawn.
      if (++pictures === 1) {
        setImmediate(() => {
          ended = 6;
          stop.abort();
        });
      }
      return EMPTY;
    };
    await watchMatrix(
      ask,
      stop.signal,
      to,
      () => `${ended} of 6`,
      () => showsEnd,
    );
    expect(text.match(/\d of 6/g)).toEqual(showsEnd ? ["5 of 6", "6 of 6"] : ["5 of 6"]);
  }
});
