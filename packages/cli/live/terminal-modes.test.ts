import { expect, test } from "vitest";
import { TerminalModes } from "./terminal-modes.ts";

function after(...pieces: string[]): TerminalModes {
  const modes = new TerminalModes();
  for (const piece of pieces) modes.next(Buffer.from(piece));
  return modes;
}

test("toLeave + undoes what an editor has set, the last first, and toEnter sets it again", () => {
  const modes = after("\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l text \x1b[31m");
  expect(modes.toLeave).toBe("\x1b[?25h\x1b[?1l\x1b[?1049l\x1b>\x1b[m");
  expect(modes.toEnter).toBe("\x1b[?1049h\x1b[?1h\x1b[?25l\x1b=");
});

test("next + modes that were set and reset leave nothing but the colors to reset", () => {
  expect(after("\x1b[?1000;1006h", "\x1b[?1006;1000l\x1b[?25l\x1b[?25h").toLeave).toBe("\x1b[m");
  expect(after("\x1b[?1049h\x1b=\x1bc").toLeave).toBe("\x1b[m");
});

test("next + controls that are cut anywhere between pieces count", () => {
  const whole = "a\x1b[?2004hb\x1b=c";
  for (let cut = 0; cut <= whole.length; cut++) {
    expect(after(whole.slice(0, cut), whole.slice(cut)).toLeave).toBe("\x1b[?2004l\x1b>\x1b[m");
  }
});

test("next + a flood of numbers keeps no more modes than there are, and controls that never end are dropped", () => {
  const flood = Array.from({ length: 100 }, (_, i) => `\x1b[?${"9".repeat(i + 1)}h`).join("");
  expect(after(flood).toLeave).toBe("\x1b[?9999l\x1b[?999l\x1b[?99l\x1b[?9l\x1b[m");
  expect(after(`\x1b[?${"1;".repeat(100_000)}`, "25l").toLeave).toBe("\x1b[m");
});
