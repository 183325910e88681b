/**
 * Writes docs/golden.md from docs/golden.tsv: the rules in words, then the mean and the longest wait under
 * every policy.
 */
import { DEFAULT_RULES, describeRules } from "@tutti/kernel/core/rules.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { SIZE_RULE } from "@tutti/kernel/workload/traces/swf.ts";
import { GOLDEN_SEED, GOLDEN_SLOT_S, GOLDEN_SWITCH_S, goldenKeys, goldenSources } from "./cells.ts";
import type { GoldenResult } from "./run.ts";
import { type GoldenTable, keyOf } from "./table.ts";

/** The page of a whole table. */
export function goldenPage(table: GoldenTable): string {
  return [
    "# Golden schedules",
    "",
    `What every policy does with ${goldenSources().length} workloads, ${table.size} schedules in all: the hash of all starts and ends, the mean and the longest wait.`,
    "It shows when a change of Tutti's code changes a schedule, and other simulators can be checked against it. This page is generated",
    "from [golden.tsv](golden.tsv), which has every setting and every digit:",
    "",
    "```sh",
    "npm run golden              # runs all and compares, to the last digit",
    "npm run golden -- lublin    # only sources whose names begin with this",
    "npm run golden -- --write   # after an intended change: writes table and page",
    "```",
    "",
    "The whole table takes about an hour of CPU time. `npm test` checks a sixteenth of the models, NASA iPSC and KTH SP2, chosen by the sources of the schedules; `npm run soak` checks the whole table.",
    "",
    "## How to check another simulator",
    "",
    "* **Traces** are the cleaned logs of the Parallel Workloads Archive under these file names. `tutti workload info TRACE` shows what is read, repaired and dropped.",
    `* **Models** have their default parameters and seed ${GOLDEN_SEED}; \`tutti workload generate NAME -o FILE\` writes the jobs.`,
    "* **Machine**: as many processors as the source names; golden.tsv has the number.",
    ...[...describeRules(DEFAULT_RULES), SIZE_RULE].map((rule) => `* ${rule}.`),
    `* **Gangs**: slots of ${GOLDEN_SLOT_S} s; a change of slot costs ${GOLDEN_SWITCH_S} s.`,
    "* **Wait** is the first start minus the submit time, in seconds, over all jobs, each counted once.",
    "* **Order of events at one instant**: ends, arrivals in the order of the file, then one decision.",
    "* `tutti policies NAME` gives the rules of a policy in words; `tutti simulate SOURCE --policy POLICY --swf FILE` writes the schedule itself and prints its hash.",
    "",
    "If a policy cannot run on a machine, the table gives the reason.",
    "",
    ...goldenSources().flatMap((source) => sourceLines(source, table)),
  ].join("\n");
}

function sourceLines(source: string, table: GoldenTable): string[] {
  const defaults = POLICIES.map(({ name }) => name);
  const results = defaults.map((policy) => ({ policy, result: table.get(keyOf({ source, policy })) }));
  const ran = results.find(({ result }) => result !== undefined && !("refused" in result))?.result;
  if (ran === undefined || "refused" in ran) return [];
  return [
    `## ${source}`,
    "",
    `${grouped(ran.jobs)} jobs on ${grouped(ran.processors)} processors; ${goldenKeys([source]).length} settings are in golden.tsv; these are the defaults.`,
    "",
    "| policy | mean wait (s) | longest wait (s) | hash |",
    "| --- | ---: | ---: | --- |",
    ...results.map(({ policy, result }) => `| ${policy} | ${cellsOf(result)} |`),
    "",
  ];
}

function cellsOf(result: GoldenResult | undefined): string {
  if (result === undefined) return " | | ";
  if ("refused" in result) return ` | | ${result.refused.replaceAll("|", "\\|")}`;
  return `${rounded(result.meanWaitS)} | ${rounded(result.maxWaitS)} | \`${result.hash}\``;
}

function rounded(seconds: number): string {
  const [whole, decimals] = seconds.toFixed(3).split(".");
  return `${grouped(Number(whole))}.${decimals}`;
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
