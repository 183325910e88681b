/** The model `phases`: its workload, files of the user's own, measures and explanations. */
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import type { WingFiles } from "../wing.ts";
import { parseWing } from "../wings.ts";
import { instanceOf, phases } from "./wing.ts";

function measuresOf(source: string, policy: string, files: WingFiles = {}): Map<string, number> {
  const { parameters } = parseWing(source)!;
  const run = phases.simulate(parameters, chooseAmong(phases.policies, policy), 1, true, files);
  expect(run.checked).toMatch(/^\d+ turns to their end$/);
  expect(run.left).toBe(0);
  return new Map(run.measures.map(({ name, value }) => [name, value]));
}

describe("measures, by hand", () => {
  /** Two gangs with all units, two turns of 10 s each, 10 s of waiting after each, 2 s to restore. */
  const TWO = "phases:units=4:node=4:sizes=4:gangs=2:rounds=2:hold=10:wait=10:spread=0:restore=2";

  test("exclusive: one gang after the other", () => {
    const measures = measuresOf(TWO, "phases-exclusive");
    expect(measures.get("ratio")).toBe(1);
    // 40 s each; nobody switches but the second gang, whose first turn needs no restore.
    expect(measures.get("rounds-per-hour")).toBeCloseTo(4 / (80 / 3600), 9);
    expect(measures.get("duty")).toBeCloseTo(0.5, 9);
    expect(measures.get("wait")).toBe(0);
    expect(measures.get("worst-slowdown")).toBeCloseTo(2, 9);
    expect(measures.get("pace")).toBe(1);
    expect(measures.get("fairness")).toBe(1);
  });

  test("a lock: each uses the waits of the other", () => {
    const measures = measuresOf(TWO, "phases-lock");
    //   a: 0–10 hold, waits to 20 s, restores 20–22, 22–32 hold, leaves at 42
    //   b: waits 10 s, 10–20 hold, wants at 30, waits until 32, restores to 34, holds to 44, leaves at 54
    expect(measures.get("rounds-per-hour")).toBeCloseTo(4 / (54 / 3600), 9);
    expect(measures.get("ratio")).toBeCloseTo(80 / 54, 9);
    expect(measures.get("duty")).toBeCloseTo(40 / 54, 9);
    expect(measures.get("switching")).toBeCloseTo(4 / 54, 9);
    expect(measures.get("wait")).toBeCloseTo((0 + 10 + 0 + 2) / 4, 9);
    expect(measures.get("longest-wait")).toBe(10);
    expect(measures.get("p95-wait")).toBe(10);
    expect(measures.get("worst-slowdown")).toBeCloseTo(54 / 40, 9);
    const [a, b] = [40 / 42, 40 / 54];
    expect(measures.get("pace")).toBeCloseTo((a + b) / 2, 9);
    expect(measures.get("fairness")).toBeCloseTo((a + b) ** 2 / (2 * (a * a + b * b)), 9);
  });
});

describe("the model", () => {
  test("has the means and spread that it was given, and other parameters leave its numbers as they are", () => {
    const source = "phases:gangs=400:rounds=50:hold=100:wait=50:spread=0.5:interarrival=10";
    const { turns, submitMs, gangs } = instanceOf(parseWing(source)!.parameters, 3);
    const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(turns.holdMs) / 100_000).toBeCloseTo(1, 1);
    expect(mean(turns.waitMs) / 50_000).toBeCloseTo(1, 1);
    const variance = mean(turns.holdMs.map((ms) => (ms / 100_000 - 1) ** 2));
    expect(Math.sqrt(variance)).toBeCloseTo(0.5, 1);
    expect(submitMs.at(-1)! / 1000 / gangs.length).toBeCloseTo(10, 0);
    const other = instanceOf(parseWing(`${source}:sizes=8:units=64:restore=1`)!.parameters, 3);
    expect(other.turns.holdMs).toEqual(turns.holdMs);
    expect(other.submitMs).toEqual(submitMs);
  });

  test("memory ÷ rate is a snapshot, and a host has room for its memory ÷ that of its units", () => {
    // 75 GB at 3 GB/s are 25 s each way; 2,400 GB are four times 8 × 75 GB.
    const own = "phases:save=1:restore=2:memory=75:rate=3:host=2400";
    const residentOf = (source: string) => instanceOf(parseWing(source)!.parameters, 1).resident;
    expect(residentOf(`${own}:resident=9`)).toBe(4);
    expect(residentOf(`${own}:resident=3`)).toBe(3);
    expect(residentOf(own)).toBe(2);
    // A node has no more than all units.
    expect(residentOf("phases:units=4:sizes=2:memory=75:host=450")).toBe(1.5);
    const { turns } = instanceOf(parseWing(own)!.parameters, 1);
    expect(turns.saveMs[0]).toBe(26_000);
    expect(turns.restoreMs[0]).toBe(27_000);
  });

  test("refuses parameters that contradict each other", () => {
    expect(() => measuresOf("phases:sizes=2,32", "phases-pool")).toThrow("expected sizes of at most 16");
    expect(() => measuresOf("phases:rate=4", "phases-pool")).toThrow(
      "without memory=: expected the GB of a unit",
    );
    expect(() => measuresOf("phases:memory=75", "phases-pool")).toThrow("expected host= or rate=, too");
    expect(() => measuresOf("phases:memory=75:host=599", "phases-pool")).toThrow("expected at least 600");
    expect(() => measuresOf("phases:columns=x", "phases-pool")).toThrow("without file=");
    expect(() => measuresOf("phases:file=x:gangs=3", "phases-pool")).toThrow("Cannot use gangs=3 with file=");
    expect(() => measuresOf("phases:node=5", "phases-pool")).toThrow("expected a divisor of 16");
    expect(() => measuresOf("phases", "phases-lock:groups=8,4")).toThrow("expected a sum of 16, not 12");
    expect(() => measuresOf("phases", "phases-lock:groups=4,4,4,4")).toThrow(
      "a group as large as the largest gang",
    );
  });
});

describe("a file of turns", () => {
  const read = (path: string, text: string, more = "", columns = "") =>
    instanceOf(parseWing(`phases:file=${path}:units=8${more}`)!.parameters, 1, {
      [path]: text,
      names: columns,
    });

  test("as CSV with columns of other names, and as JSON Lines, is the same", () => {
    const csv = "exp,gpus,train_s,rollout_s\r\nb,2,4.5,3\r\n\r\na,1,1,2\r\nb,2,5,6\r\n";
    const names = "# mine\ngang=exp\nunits=gpus\nhold=train_s\nwait = rollout_s\n";
    const found = read("a.csv", csv, ":columns=names:restore=7:save=1", names);
    expect(found.gangs).toEqual(["b", "a"]);
    expect([...found.firstTurn]).toEqual([0, 2, 3]);
    expect([...found.turns.holdMs]).toEqual([4500, 5000, 1000]);
    expect([...found.turns.waitMs]).toEqual([3000, 6000, 2000]);
    expect([...found.turns.units]).toEqual([2, 2, 1]);
    expect([...found.turns.restoreMs]).toEqual([7000, 7000, 7000]);
    const lines = [
      { gang: "b", units: 2, hold: 4.5, wait: 3 },
      { gang: "a", hold: 1, wait: 2 },
      { gang: "b", units: 2, hold: 5, wait: 6 },
    ];
    const jsonl = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const { name: _, ...same } = read("a.jsonl", jsonl, ":restore=7:save=1");
    const { name: __, ...expected } = found;
    expect(same).toEqual(expected);
  });

  test("says what is wrong, and where", () => {
    const csv = "job,hold\na,1\na,soon\n";
    expect(() => read("a.csv", csv)).toThrow(
      'a.csv, line 2: it has no "gang", expected one of its columns (job, hold)',
    );
    expect(() => read("a.csv", csv, ":columns=names", "gang=job\nholt=h\n")).toThrow(
      'names, line 2: "holt=h", expected COLUMN=NAME',
    );
    expect(() => read("a.csv", csv, ":columns=names", "gang=job\n")).toThrow(
      'line 3: hold is "soon", expected seconds, 0.001 to 1000000000',
    );
    const mapped = (text: string) => () => read("a.csv", "job,h,w\na,1,2\n", ":columns=names", text);
    expect(mapped("gang=job\nhold=h\nwait=v\n")).toThrow(
      'Cannot use names, line 3: "wait=v", expected a column of a.csv (job, h, w)',
    );
    expect(mapped("gang=job\nhold=h\nhold=w\n")).toThrow('line 3: "hold=w", expected one name for hold');
    expect(() => read("a.csv", "gang,hold,hold\na,1,2\n")).toThrow('the column "hold" twice');
    expect(() => read("a.csv", "gang,hold\na,\n")).toThrow("line 2: hold is empty, expected seconds");
    expect(() => read("a.csv", "gang,hold,wait\na,1,\n")).toThrow("line 2: wait is empty, expected seconds");
    expect(() => read("a.csv", "gang;hold;wait\na;1,5\n")).toThrow(
      "a.csv, line 2: it has 2 values, expected 3",
    );
    expect(() => read("a.csv", "gang;hold\na;1,5\n")).toThrow('line 2: hold is "1,5", expected seconds');
    expect(mapped("gang=job\nhold=h\nwait=h\n")).toThrow("expected another name than that of hold");
    expect(() => read("a.csv", "gang,hold,submit\na,1,2e9\nb,1,5\n")).toThrow(
      "a.csv, line 2: gang a comes 1999999995 s after that of line 3",
    );
    expect(() => read("a.csv", "gang,hold\na,0x10\n")).toThrow('hold is "0x10", expected seconds');
    expect(() => read("a.csv", "gang,hold\na,0\n")).toThrow('hold is "0", expected seconds, 0.001');
    for (const wrong of ["null", "true", "[5]", '{"s":5}', '" "'])
      expect(() => read("a.jsonl", `{"gang":"a","hold":${wrong}}`), wrong).toThrow(
        `line 1: hold is ${wrong}, expected seconds`,
      );
    expect(() => read("a.jsonl", '{"gang":{"id":1},"hold":1}')).toThrow('gang is {"id":1}, expected a name');
    expect(() => read("a.jsonl", '{"gang":"a","hold":1}\n[1]')).toThrow("line 2: [1], expected an object");
    expect(() => read("a.json", '[{"gang":"a","hold":1}]')).toThrow(
      "it is a JSON array, expected JSON Lines",
    );
    expect(() => read("a.csv", "gang\0hold")).toThrow("it is not text");
    expect(() => read("a.csv", "gang,hold,units\na,1,2\nb,1,1\na,1,4\n")).toThrow(
      "a.csv, line 4: gang a has 4 units: expected 2, as in line 2",
    );
    expect(() => read("empty", "gang,hold\n")).toThrow("it has no turn");
    expect(() => read("torn.jsonl", '{"gang":"a","hold":1}\n{"gang"')).toThrow("line 2, as JSON");
    expect(() =>
      measuresOf("phases:file=big.csv:units=8", "phases-pool", { "big.csv": "gang,hold,units\na,1,9\n" }),
    ).toThrow("big.csv, line 2: gang a has 9 units: expected at most 8");
  });

  test("with semicolons or tabs, and with Unix time, is the same", () => {
    const { name: _, ...expected } = read("a", "gang,hold,submit\na,1.5,0\nb,2,60\n");
    // With a byte order mark, and a column that events have, too.
    const json = '\uFEFF{"gang":"a","hold":1.5,"kind":"x"}\n{"gang":"b","hold":2,"submit":60}';
    const { name: ___, ...same } = read("c", json);
    expect(same).toEqual(expected);
    for (const between of [";", "\t"]) {
      const text = `gang,hold,submit\na,1.5,1732970000\nb,2,1732970060\n`.replaceAll(",", between);
      const { name: __, ...found } = read("b", text);
      expect(found).toEqual(expected);
    }
  });

  test("events of a recorded lock are read as they are", () => {
    const events = [
      { t: 0, kind: "acquired", job: "A", pool: "p" },
      { t: 2, kind: "yielded", job: "A", pool: "p" },
    ];
    const jsonl = events.map((event) => JSON.stringify(event)).join("\n");
    expect([...instanceOf(parseWing("phases:file=e")!.parameters, 1, { e: jsonl }).turns.holdMs]).toEqual([
      2000,
    ]);
    expect(() => read("e", jsonl)).toThrow("Cannot use units=8 with the events in e: they say it themselves");
    const wrong = (text: string) => () => instanceOf(parseWing("phases:file=e")!.parameters, 1, { e: text });
    const event = '{"t":0,"kind":"acquired","job":"A","pool":"p"}';
    expect(wrong(`${event}\n${event.replace("0", '"0"')}`)).toThrow('e, line 2: t is "0", expected seconds');
    expect(wrong(`${event}\n{"t":2}`)).toThrow("e, line 2: kind is missing, expected a name");
    expect(wrong(event.replace("}", ',"wait_ms":-1}'))).toThrow(
      "line 1: wait_ms is -1, expected milliseconds",
    );
  });
});

describe("explain()", () => {
  const explain = (policy: string, gang: string) =>
    phases.explain!(
      parseWing("phases:units=4:node=4:sizes=4:gangs=2:rounds=2:hold=10:wait=10:spread=0:restore=2")!
        .parameters,
      chooseAmong(phases.policies, policy),
      1,
      gang,
    );

  test("says when each turn was wanted and came, and who kept it waiting", () => {
    expect(explain("phases-lock", "2")).toEqual([
      "gang 2 under phases-lock: 2 turns",
      "It was submitted at 0 s, resident from 0 s on, on 1 node (0), and left at 54 s.",
      "Turn 1 was wanted at 0 s, got 4 units (0, 1, 2, 3) after 10 s, began at 10 s and was yielded at 20 s.",
      "When it was wanted, 0 units of its nodes were free; the others had gang 1 (4, until 10 s). Meanwhile, 0 turns got units there. The last to give back units there was gang 1, at 10 s.",
      "Turn 2 was wanted at 30 s, got 4 units (0, 1, 2, 3) after 2 s, began at 34 s and was yielded at 44 s.",
      "When it was wanted, 0 units of its nodes were free; the others had gang 1 (4, until 32 s). Meanwhile, 0 turns got units there. The last to give back units there was gang 1, at 32 s.",
    ]);
  });

  test("says that units were free, but the policy let others go first", () => {
    // By hand: gang 2 wants all four units from 1 s on, and its row comes on. Gang 1 has two of them until
    // 10 s. Gang 3 wants the other two at 2 s, but they are kept for gang 2, which has all until 20 s.
    const text = "gang,units,hold,wait,submit\n1,2,10,5,0\n1,2,10,5,0\n2,4,10,5,1\n3,2,2,1,2\n3,2,2,1,2\n";
    const { parameters } = parseWing("phases:file=a:units=4:restore=0")!;
    const policy = chooseAmong(phases.policies, "phases-rows");
    const lines = phases.explain!(parameters, policy, 1, "3", { a: text });
    expect(lines[2]).toContain("wanted at 2 s, got 2 units (2, 3) after 18 s");
    expect(lines[3]).toBe(
      "When it was wanted, 2 units of its nodes were free; the others had gang 1 (2, until 10 s). Those that it got were free, too: the rules of the policy let others go first. Meanwhile, 1 turn got units there. The last to give back units there was gang 2, at 20 s.",
    );
  });

  test("says what a gang waited for before it became resident", () => {
    const source = "phases:units=4:sizes=4:gangs=3:rounds=1:hold=10:wait=10:spread=0:restore=0";
    const policy = chooseAmong(phases.policies, "phases-exclusive");
    expect(phases.explain!(parseWing(source)!.parameters, policy, 1, "3").slice(1, 3)).toEqual([
      "It was submitted at 0 s, resident from 40 s on, on 1 node (0), and left at 60 s.",
      "Before that, 2 other gangs became resident since it came, and gang 2 was the last to make room.",
    ]);
  });

  test("refuses a gang that is not there", () => {
    expect(() => explain("phases-lock", "3")).toThrow(
      'Cannot explain gang "3": expected one of the 2 gangs, 1, 2',
    );
  });
});
