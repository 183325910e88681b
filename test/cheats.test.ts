/** No policy can cheat: each of cheats.ts is caught, refused, or gains nothing by it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { DEFAULT_METRIC_PARAMETERS } from "@tutti/kernel/metrics/registry.ts";
import { WHOLE_RUN } from "@tutti/kernel/metrics/window.ts";
import { auditLines } from "@tutti/lab/audit/audit.ts";
import { runCells } from "@tutti/lab/experiments/run-cells.ts";
import { openSource } from "@tutti/lab/experiments/source.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHEATS, moduleOf } from "./cheats.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-cheats-"));
  for (const jobs of [SIZES.cheatedJobs, MANY_JOBS]) await writeTrace(jobs);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** With fewer jobs, EASY without spare processors never delays a head. */
const MANY_JOBS = 600;
const traceOf = (jobs: number) => join(folder, `users-${jobs}.swf`);

/** Jobs of a few users, who submit several jobs in a row. */
async function writeTrace(wanted: number): Promise<void> {
  const { count, jobs } = await openSource(
    `lublin:jobs=${wanted}:processors=64:load=1.2:estimates=factor`,
    1,
  );
  const random = new Random(1, "users");
  let user = 0;
  const lines = Array.from({ length: count }, (_, job) => {
    if (random.uniform() < 0.4) user = random.below(12);
    const { size, submitS, runS, estimateS } = jobs;
    const requested = `${size[job]} ${estimateS[job]}`;
    return `${job + 1} ${submitS[job]} -1 ${runS[job]} ${size[job]} -1 -1 ${requested} -1 1 ${user} -1 -1 -1 -1 -1 -1`;
  });
  writeFileSync(traceOf(wanted), `${lines.join("\n")}\n`);
}

const machineWith = (jobs: number) => ({
  source: { jobs: traceOf(jobs), seed: 1 },
  processors: 100,
  rules: DEFAULT_RULES,
  slotS: 60,
  switchS: 0,
});
const audited = async (policy: string, jobs = SIZES.cheatedJobs) =>
  (await runCells([{ kind: "audit", ...machineWith(jobs), policy }], { workers: 1 }))[0];
const hashes = new Map<string, Promise<string>>();
/** The runs of one policy are the same; an audit, which looks at them, is made each time. */
function hashOf(policy: string): Promise<string> {
  const known = hashes.get(policy) ?? computeHash(policy);
  hashes.set(policy, known);
  return known;
}
const computeHash = async (policy: string) => {
  const measured = { window: WHOLE_RUN, parameters: DEFAULT_METRIC_PARAMETERS };
  const [run] = await runCells(
    [{ kind: "summary", ...machineWith(SIZES.cheatedJobs), ...measured, policy }],
    { workers: 1 },
  );
  return run.scheduleHash;
};

function fileOf(name: string, text: string): string {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, text);
  return file;
}

test("there are at least eighteen cheats, and the policy without one is fcfs", async () => {
  expect(Object.keys(CHEATS).length).toBeGreaterThanOrEqual(18);
  const honest = fileOf("honest", moduleOf({ does: "", outcome: ["in vain"], decide: "fcfs();" }));
  expect((await audited(honest)).ok).toBe(true);
  expect(await hashOf(honest)).toBe(await hashOf("fcfs"));
});

describe.each(Object.entries(CHEATS))("%s", (name, cheat) => {
  const [kind, words = ""] = cheat.outcome;
  test(`a policy that ${cheat.does}: ${kind} ${words}`, async () => {
    const file = fileOf(name, moduleOf(cheat));
    if (kind === "refused") {
      await expect(audited(file)).rejects.toThrow(words);
      return;
    }
    const breaksRule = kind === "rule" && words !== "other-run";
    const result = await audited(file, breaksRule ? MANY_JOBS : SIZES.cheatedJobs);
    const lines = auditLines(name, result);
    if (kind === "in vain") {
      expect(lines[0]).toContain("no rule is broken");
      expect(await hashOf(file)).toBe(await hashOf("fcfs"));
    } else if (words === "other-run") {
      expect(result.scheduleHash).toBe(await hashOf("fcfs"));
      expect(await hashOf(file)).not.toBe(result.scheduleHash);
    } else if (breaksRule) expect(result).toMatchObject({ ok: false, violation: { rule: words } });
    else expect(lines.filter((line) => line.startsWith(`  ${kind}: `)).join("\n")).toContain(words);
  });
});
