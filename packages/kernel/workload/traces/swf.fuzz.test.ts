/**
 * Tests the reader with 100,000 mutated traces: it neither throws nor hangs, loses no line, and agrees with
 * its naive twin.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import { Random } from "../../core/random.ts";
import { DEFAULT_RULES, type Rules } from "../../core/rules.ts";
import { SIZES } from "../../core/sizes-for-tests.ts";
import { prepare } from "../prepare.ts";
import { auditInstance } from "../prepare-for-tests.ts";
import { readNaively } from "./naive-swf-for-tests.ts";
import { SwfReader } from "./swf.ts";
import { requireJobs, SWF_RULES } from "./swf-rules.ts";

const INPUTS = SIZES.brokenTraces;
const INPUTS_PER_RUN = 200;

/**
 * Lines that resemble the archive's logs: header, padded columns, decimals, cancelled jobs, parts of jobs,
 * serial and huge jobs.
 */
const LINES: readonly string[] = makeLines(new Random(1, "lines"), 200);

function makeLines(random: Random, count: number): string[] {
  const lines = ["; Version: 2.2", "; Computer: IBM SP2", ";", "; MaxProcs: 128 (batch)", "; Note: größer"];
  let submit = 0;
  for (let job = 1; job <= count; job++) {
    submit += random.below(1000);
    const cancelled = random.below(10) === 0;
    const size = 2 ** random.below(8);
    const cpu = random.below(3) === 0 ? `${random.below(1000)}.${random.below(100)}` : "-1";
    const fields = [
      job,
      submit,
      random.below(5) === 0 ? -1 : random.below(10_000),
      cancelled ? -1 : random.below(50_000),
      cancelled || random.below(20) === 0 ? -1 : size,
      cpu,
      -1,
      random.below(10) === 0 ? -1 : size,
      random.below(5) === 0 ? -1 : random.below(90_000),
      -1,
      random.below(6),
      1 + random.below(50),
      1,
      random.below(9),
      1,
      -1,
      -1,
      -1,
    ];
    lines.push(fields.map((field) => String(field).padStart(random.below(2) === 0 ? 6 : 1)).join(" "));
  }
  return lines;
}

const TOKENS = [
  "NaN",
  "-1",
  "0",
  "-0",
  "1e999",
  "-1e999",
  "Infinity",
  "99999999999999999999",
  "2147483647",
  "2147483648",
  "1e12",
  "1e-320",
  "-2",
  "3.5",
  "abc",
  "--5",
  "+5",
  "5.",
  ".",
  "-",
  "0x1F",
  "1e5",
  "",
  ";",
  "\u0000",
  "\uFEFF",
  "計",
  "-1 -1",
  "4294967296",
];
const SEPARATORS = [" ", "\t", "\r", "\n", "\r\n", "  ", "\v", "\f", "\u00a0", ","];

/** Some lines with up to four mutations of bytes, fields, lines and order. */
function mutant(random: Random): Uint8Array {
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)];
  const lines = Array.from({ length: 1 + random.below(6) }, () => pick(LINES));
  const mutations = random.below(5);
  let cut = -1;
  for (let i = 0; i < mutations; i++) {
    const at = random.below(lines.length);
    const words = lines[at].split(" ");
    const word = random.below(words.length);
    switch (random.below(8)) {
      case 0:
        words[word] = pick(TOKENS);
        lines[at] = words.join(" ");
        break;
      case 1:
        words.splice(word, 1);
        lines[at] = words.join(" ");
        break;
      case 2:
        words.splice(word, 0, pick(TOKENS), String(random.below(100)));
        lines[at] = words.join(" ");
        break;
      case 3:
        lines.splice(at, 0, lines[at]);
        break;
      case 4:
        lines.reverse();
        break;
      case 5:
        lines.splice(
          at,
          0,
          Array.from({ length: random.below(30) }, () => String.fromCharCode(random.below(300))).join(""),
        );
        break;
      case 6:
        lines[at] = words.join(pick(SEPARATORS));
        break;
      default:
        cut = random.below(200);
    }
  }
  const bytes = new TextEncoder().encode(
    lines.join(random.below(4) === 0 ? "\r\n" : "\n") + (random.below(2) === 0 ? "\n" : ""),
  );
  if (bytes.length > 0)
    for (let i = random.below(4); i > 0; i--) bytes[random.below(bytes.length)] = random.below(256);
  return cut < 0 ? bytes : bytes.subarray(0, Math.min(cut, bytes.length));
}

/** @param seen takes the codes that occurred */
function check(bytes: Uint8Array, random: Random, seen: Set<string>): boolean {
  const reader = new SwfReader("mutant");
  const split = random.below(bytes.length + 1);
  reader.push(bytes.subarray(0, split));
  reader.push(bytes.subarray(split));
  const workload = reader.end();
  const expected = readNaively(bytes);

  const { count, jobs, diagnostics, header } = workload;
  const codes: Record<string, number> = {};
  let dropped = 0;
  for (const diagnostic of diagnostics) {
    codes[diagnostic.code] = diagnostic.count;
    seen.add(diagnostic.code);
    if (diagnostic.action === "dropped") dropped += diagnostic.count;
  }
  const sorted = (object: object) => JSON.stringify(Object.entries(object).sort());
  const rows = Array.from(jobs.id, (id, i) => [
    id,
    jobs.submitS[i],
    jobs.runS[i],
    jobs.size[i],
    jobs.estimateS[i],
  ]);
  const same =
    count + dropped === expected.jobLines &&
    sorted(codes) === sorted(expected.codes) &&
    JSON.stringify(rows) === JSON.stringify(expected.rows.map((row) => row.slice(0, 5))) &&
    JSON.stringify(header) === JSON.stringify(expected.header);
  if (!same) return false;
  if (count === 0) {
    seen.add("no jobs");
    try {
      requireJobs(workload);
      return false;
    } catch (error) {
      return error instanceof InputError;
    }
  }
  const rules: Rules =
    random.below(2) === 0
      ? DEFAULT_RULES
      : { overrun: "kill", missingEstimate: { seconds: 60 }, oversize: "clip" };
  auditInstance(prepare(workload, workload.processors ?? 64, rules));
  return true;
}

describe("SwfReader on mutated traces", () => {
  test(`${INPUTS} of them agree with the naive twin, every line is a job or counted as dropped, nothing throws`, () => {
    let inputs = 0;
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        for (let i = 0; i < INPUTS_PER_RUN; i++) {
          const random = new Random(seed, String(i));
          const bytes = mutant(random);
          inputs++;
          if (!check(bytes, random, seen))
            throw new Error(`Differs on ${JSON.stringify(Buffer.from(bytes).toString("latin1"))}`);
        }
      }),
      { numRuns: INPUTS / INPUTS_PER_RUN, endOnFailure: true },
    );
    expect(inputs).toBeGreaterThanOrEqual(INPUTS);
    // The mutants reach every rule except the two about lengths, which swf.test.ts covers, and the one of
    // --size-from, which size-from.test.ts covers.
    const others = ["long-line", "header-cut", "no-declared-size"];
    const rules = Object.keys(SWF_RULES).filter((code) => !others.includes(code));
    expect([...seen].sort()).toEqual(["no jobs", ...rules].sort());
  });
});
