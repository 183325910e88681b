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

/** What is in an archive of schedules: its README, and a section of the page. */
const ARCHIVE = [
  "Every schedule is a table in the form of Batsim's `jobs.csv`, in `SOURCE/POLICY.csv` (with commas for the colons of a policy's",
  "settings): one line for each job, with its submit time, size, estimate, start, run time and end, in seconds.",
  "",
  "* **Space sharing**: `allocated_resources` has the job's processors (`0-3 7`). The policies only count processors; Tutti dealt",
  "  these numbers afterwards, the lowest free ones first. A job that runs 0 s keeps no processor from others.",
  "* **Gangs**: the start is the first slot, and `execution_time` is the time from it to the end. `SOURCE/POLICY.places.csv` has the",
  "  matrix: which job was in which row, from when until when, and on which processors. Rows take turns; a job may be in several.",
  "  `brms` without a limit on rows has no such table: it would be too large.",
  "* `SOURCE.swf` has the jobs of a model. Traces are not in the archive.",
  "* `golden.tsv` has the rows of these schedules in the table; `SHA256SUMS` has a hash of every file.",
];

/** The README of an archive. */
export function archiveNotes(): string {
  return ["# Golden schedules of Tutti", "", ...ARCHIVE, ""].join("\n");
}

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
    "npm run golden -- --defaults --archive FOLDER   # writes the schedules, of policies without settings",
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
    "* `tutti list policies NAME` gives the rules of a policy in words; `tutti simulate SOURCE --policy POLICY --swf FILE` writes the schedule itself and prints its hash.",
    "* [The schedules](#the-schedules-themselves) show the first job that differs, and a checker judges those of another simulator.",
    "",
    "If a policy cannot run on a machine, the table gives the reason.",
    "",
    "## The schedules themselves",
    "",
    "`npm run golden -- --archive FOLDER` writes them, the same bytes each time, and compares them with the table.",
    "The schedules of policies without settings (`--defaults`) take 0.8 GB; to write and to check them takes four minutes of CPU time each.",
    ...ARCHIVE,
    "",
    "`python/check_swf.py` has no code of Tutti. It recomputes every start of `fcfs`, `first-fit` and `easy`; of the other policies only",
    "arrivals and capacity, with the processors or the matrix, and says so. The waits must be those of the table.",
    "",
    "```sh",
    "python3 python/check_swf.py --archive FOLDER --traces $TUTTI_TRACES",
    "python3 python/check_swf.py out_jobs.csv --processors 128 --policy easy   # one of another simulator, here Batsim's",
    "```",
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
