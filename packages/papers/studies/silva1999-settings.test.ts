/**
 * Tests that the committed study agrees with the simulator, with the reasons, and with the notes of the
 * paper.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runCells } from "../run-cells.ts";
import { paperCell } from "../silva1999/cells.ts";
import {
  MEASURES,
  OUR_CHOICE,
  PUBLISHED,
  STUDIED,
  WORKLOADS,
  type WorkloadName,
} from "../silva1999/published.ts";

const { notes } = JSON.parse(readFileSync("docs/papers/silva1999.texts.json", "utf8")) as {
  notes: readonly string[];
};
const page = readFileSync("docs/studies/silva1999-settings.md", "utf8");

/** Settings of a workload with their columns: jobs and idle time under gang, then under Concurrent Gang. */
function tableOf(workload: WorkloadName): Map<string, number[][]> {
  const section = page.split("\n## ").find((text) => text.startsWith(`${workload} workload`)) ?? "";
  const rows = section.split("\n").filter((line) => /^\| .*\d, /.test(line) && !line.includes("**"));
  return new Map(
    rows.map((line) => {
      const [, setting, ...cells] = line.split("|").map((text) => text.trim());
      return [setting, cells.slice(0, 4).map((cell) => cell.split(", ").map(Number))];
    }),
  );
}

describe("the study of silva1999", () => {
  test("reasons name the setting whose column is nearest to the paper's by a fifth, with its values", () => {
    expect(Object.keys(STUDIED)).toHaveLength(2 * PUBLISHED.length);
    for (const { id, workload, scheduler, ...printed } of PUBLISHED) {
      const table = tableOf(workload);
      expect(table.has(OUR_CHOICE)).toBe(true);
      for (const [at, measure] of MEASURES.entries()) {
        const { setting, tried, values } = STUDIED[`${id} ${measure}`];
        const column = (scheduler === "gang" ? 0 : 2) + at;
        expect(tried, id).toBe(table.size);
        expect(table.get(setting)?.[column], id).toEqual(values);
        const distances = [...table].map(([name, columns]) => {
          const logs = printed[measure].map((value, i) =>
            Math.abs(Math.log(Math.max(columns[column][i], 0.5) / value)),
          );
          return { name, far: logs.reduce((sum, log) => sum + log, 0) };
        });
        const nearest = Math.min(...distances.map(({ far }) => far));
        const { far = Infinity } = distances.find(({ name }) => name === setting) ?? {};
        const { far: ours = Infinity } = distances.find(({ name }) => name === OUR_CHOICE) ?? {};
        expect(far, `${id} ${measure}`).toBe(nearest < 0.8 * ours ? nearest : ours);
      }
    }
  });

  test("the notes have the numbers of the last rows", () => {
    const last = (workload: WorkloadName, setting: string, column: number) =>
      tableOf(workload).get(setting)?.[column][4];
    const inNote = (words: string) => notes.find((note) => note.includes(words)) ?? "";
    const returns = inNote("until the next clock signal");
    for (const workload of ["communication", "synchronisation", "mixed"] as const) {
      for (const setting of [OUR_CHOICE, "no return before the clock signal"])
        for (const column of [2, 3]) expect(returns).toContain(String(last(workload, setting, column)));
    }
    for (const workload of WORKLOADS) {
      const [ours, other] = [OUR_CHOICE, "no return before the clock signal"].map((setting) =>
        tableOf(workload).get(setting),
      );
      expect(other?.slice(0, 2)).toEqual(ours?.slice(0, 2));
      if (workload === "computation") expect(other).toEqual(ours);
    }
    const depth = inNote("too shallow");
    for (const [setting, column] of [
      ["times between arrivals × 0.2", 3],
      ["times between arrivals × 0.2", 0],
      ["computations ± 0 %", 3],
      ["computations ± 0 %", 1],
      ["computations × 10", 3],
      ["computations × 0.05", 3],
      [OUR_CHOICE, 3],
    ] as const)
      expect(depth).toContain(String(last("synchronisation", setting, column)));
    const waits = inNote("mostly wait");
    const combined = "computations × 0.05, times between arrivals × 2 and service times × 4";
    for (const column of [0, 1, 2, 3]) expect(waits).toContain(String(last("mixed", combined, column)));
    expect(waits).toContain(String(last("mixed", OUR_CHOICE, 1)));
  });

  test("the table has the numbers of the present simulator", async () => {
    const cells = [undefined, 2].flatMap((alpha) =>
      [0, 1, 2, 3].map((i) => ({ ...paperCell("computation", 1999 + i), alpha, slotMs: 300_000 })),
    );
    const results = await runCells(cells, { workers: 1 });
    const columns = [results.slice(0, 4), results.slice(4)].flatMap((runs) =>
      (["jobs", "idlePercent"] as const).map((measure) =>
        [0, 1, 2, 3, 4].map((row) => runs.reduce((sum, run) => sum + run[measure][row], 0) / 4),
      ),
    );
    const committed = tableOf("computation").get("slots of 300 s");
    expect(columns.map((column) => column.map((value) => Number(value.toFixed(1))))).toEqual(committed);
  });
});
