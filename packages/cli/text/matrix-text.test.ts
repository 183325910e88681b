import { displayWidth } from "@tutti/lab/report/text/table.ts";
import type { MatrixAnswer } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import { matrixText } from "./matrix-text.ts";

const matrix: MatrixAnswer = {
  schema: "tutti.matrix/1",
  sequence: 1,
  policy: "gang",
  sharing: "time",
  slotMs: 100,
  mode: "gang",
  cpus: [0, 1, 2, 3],
  epochMs: 1000,
  nowMs: 0,
  rows: [
    [
      { job: 12, name: "a", cpus: [0, 1] },
      { job: 13, name: "b", cpus: [2] },
    ],
    [{ job: 14, name: "c\u001b[2J", cpus: [0, 1, 2, 3] }],
  ],
};

describe("matrixText()", () => {
  test("of several nodes has the names of the nodes above their CPUs", () => {
    const nodes = [
      { node: "n1", cpus: [0, 1, 4] },
      { node: "node17", cpus: [0, 1] },
    ];
    const on = (...own: typeof nodes) => ({ cpus: own.flatMap(({ cpus }) => cpus), nodes: own });
    const rows = [
      [
        { job: 12, name: "a", ...on({ node: "n1", cpus: [4] }, { node: "node17", cpus: [0] }) },
        { job: 13, name: "b", ...on({ node: "n1", cpus: [0] }) },
      ],
    ];
    const several = { ...matrix, ...on(...nodes), rows };
    expect(matrixText(several, { width: 80, colour: false, nowMs: 1150 })).toBe(
      [
        "gang, slot 100 ms, row 1 of 1, policy gang",
        "        n1      │node17",
        "        0  1  4 │0  1",
        "▶ row 1 13 ·  12│12 ·",
        "  12 a, 13 b",
        "",
      ].join("\n"),
    );
    expect(matrixText(several, { width: 20, colour: false, nowMs: 1150 })).toContain("12 on n1:4");
  });

  test("draws a cell per CPU and marks the row whose turn it is", () => {
    expect(matrixText(matrix, { width: 80, colour: false, nowMs: 1150 })).toBe(
      [
        "gang, slot 100 ms, row 2 of 2, policy gang",
        "        0  1  2  3",
        "  row 1 12 12 13 ·",
        "▶ row 2 14 14 14 14",
        "  12 a, 13 b, 14 c\\x1b[2J",
        "",
      ].join("\n"),
    );
  });

  test("writes runs of CPUs if the cells do not fit, and never wraps", () => {
    const cpus = Array.from({ length: 64 }, (_, i) => i);
    const wide = { ...matrix, cpus, rows: [[{ job: 7, name: "n".repeat(200), cpus: cpus.slice(4) }]] };
    const text = matrixText(wide, { width: 40, colour: false, nowMs: 1000 });
    expect(text).toContain("▶ row 1 7 on 4-63\n");
    for (const line of text.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(40);
  });

  test("colours say nothing that the text does not", () => {
    const coloured = matrixText(matrix, { width: 80, colour: true, nowMs: 1150 });
    const plain = matrixText(matrix, { width: 80, colour: false, nowMs: 1150 });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test removes them
    expect(coloured.replace(/\u001b\[[\d;]*m/g, "")).toBe(plain);
    expect(coloured).not.toBe(plain);
  });

  test("an empty matrix, space sharing, and jobs of others", () => {
    expect(matrixText({ ...matrix, rows: [] }, { width: 80, colour: false, nowMs: 0 })).toMatch(
      /no gang is in the matrix/,
    );
    const space = { ...matrix, sharing: "space" as const, rows: [[{ job: 3, name: "", cpus: [1] }]] };
    expect(matrixText(space, { width: 80, colour: false, nowMs: 0 })).toMatch(
      /^space sharing, policy gang\n.*▶ row 1 · {2}3.*3 another user's\n$/s,
    );
  });
});
