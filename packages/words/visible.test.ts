import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VisibleStream, visible, visibleLine } from "./visible.ts";

/** Characters that a terminal may obey, and marks that change the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

describe("visible()", () => {
  test("shows escape sequences, carriage returns and direction marks as text, and keeps the rest", () => {
    expect(visible("\u001b[2J\u001b]0;title\u0007")).toBe("\\x1b[2J\\x1b]0;title\\x07");
    expect(visible("a\rb\r\nc\td\n")).toBe("a\\x0db\nc\td\n");
    expect(visible("\u009b31m \u202egnp")).toBe("\\x9b31m \\u202egnp");
    expect(visible("déjà vu 漢字 🎼")).toBe("déjà vu 漢字 🎼");
    expect(visibleLine("a\nb\tc")).toBe("a\\nb\\tc");
  });

  test("leaves nothing in any text that could control a terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(visible(text)).not.toMatch(STEERING);
        expect(visibleLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });
});

describe("VisibleStream", () => {
  test("gives the same text however the bytes are split", () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom("\r", "\n", "\u001b", "é", "漢", "🎼"),
        fc.string({ minLength: 1, maxLength: 1 }),
      ),
    });
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort(
          (a, b) => a - b,
        );
        const stream = new VisibleStream();
        const pieces = places.slice(1).map((end, i) => stream.next(bytes.subarray(places[i], end)));
        expect(pieces.join("") + stream.end()).toBe(visible(whole));
      }),
    );
  });

  test("bytes that are not UTF-8 become replacement characters", () => {
    const stream = new VisibleStream();
    expect(stream.next(Uint8Array.of(0xff, 0x41)) + stream.end()).toBe("\ufffdA");
  });
});
