/** Workflows of 50 steps for the tests of workflow tools, in which each step says when it starts. */
import { join } from "node:path";

/** The largest number that a step counts to; one more step makes a table of all. */
const STEPS = 49;
export const JOBS = STEPS + 1;
/** The numbers 1 to 49 together, as the file of the last step says. */
export const TOTAL = `${(STEPS * (STEPS + 1)) / 2}\n`;

export interface Workflow {
  readonly program: string;
  /** What a user types. */
  readonly command: readonly [string, ...string[]];
  /** What a user types after an interrupt to cancel the jobs that the tool leaves. */
  readonly cancel?: string;
  /** What a user types then. */
  readonly resume: readonly [string, ...string[]];
  readonly files: Readonly<Record<string, string>>;
  /** File with the total. */
  readonly result: string;
}

/** The first line of a step. */
const says = (folder: string, step: string) => `echo ${step} >> ${join(folder, "starts")}`;
/** The steps of larger numbers end only when the file `go` is there, so that some run at an interrupt. */
const waitsForGo = (folder: string, number: string) =>
  `until test ${number} -le 25 -o -e ${join(folder, "go")}; do sleep 0.2; done`;
/** The last step fails at its first attempt. */
const failsOnce = (folder: string) =>
  `test -e ${join(folder, "tried")} || { touch ${join(folder, "tried")}; exit 3; }`;

export function snakemake(folder: string): Workflow {
  const snakefile = `
rule total:
    input: expand("counts/{n}", n=range(1, ${STEPS + 1}))
    output: "total"
    resources: runtime=5, mem_mb=500
    shell: ${python(`${says(folder, "total")}; ${failsOnce(folder)}; cat {input} | awk '{s+=$1} END {print s}' > {output}`)}

rule count:
    output: "counts/{n}"
    resources: runtime=5, mem_mb=500
    shell: ${python(`${says(folder, "count-{wildcards.n}")}; ${waitsForGo(folder, "{wildcards.n}")}; seq {wildcards.n} | wc -l > {output}`)}
`;
  const command = [
    "snakemake",
    "--slurm",
    "--jobs",
    "50",
    "--retries",
    "1",
    "--max-status-checks-per-second",
    "1",
  ] as const;
  return {
    program: "snakemake",
    command: [...command],
    // Snakemake cancels none of the jobs whose states it is just asking for: slurm_submit.py of 7.21, lines
    // 137 and 359 to 381.
    cancel: "scancel --me",
    resume: [...command, "--rerun-incomplete"],
    files: { Snakefile: snakefile },
    result: join(folder, "total"),
  };
}

/** A text of Python, in whose shell lines only the names of Snakemake are in single braces. */
function python(line: string): string {
  const names = /\{(?:wildcards\.n|input|output)\}/g;
  const kept = [...line.matchAll(names)].map(([name]) => name);
  const doubled = line.split(names).map((part) => part.replaceAll("{", "{{").replaceAll("}", "}}"));
  return JSON.stringify(doubled.map((part, i) => part + (kept[i] ?? "")).join(""));
}

/** A workflow in the Common Workflow Language. */
export function toil(folder: string): Workflow {
  const tool = (line: string, input: string, result: string) => `cwlVersion: v1.2
class: CommandLineTool
requirements:
  ResourceRequirement: {coresMin: 1, ramMin: 500}
baseCommand: [sh, -c]
arguments: [${JSON.stringify(line)}, sh]
inputs:
  in: {type: ${JSON.stringify(input)}, inputBinding: {position: 1}}
stdout: ${result}
outputs:
  out: {type: stdout}
`;
  const command = [
    "toil-cwl-runner",
    "--batchSystem",
    "slurm",
    "--maxLocalJobs",
    "50",
    "--coalesceStatusCalls",
    "--retryCount",
    "1",
    "--jobStore",
    join(folder, "store"),
    "--outdir",
    join(folder, "out"),
  ] as const;
  const inputs = ["workflow.cwl", "numbers.yml"];
  return {
    program: "toil-cwl-runner",
    command: [...command, ...inputs],
    // Toil cancels no job of Slurm when it is interrupted, also with Slurm itself.
    cancel: "scancel --me",
    resume: [...command, "--restart", ...inputs],
    files: {
      "count.cwl": tool(
        `${says(folder, "count-$1")}; ${waitsForGo(folder, "$1")}; seq $1 | wc -l`,
        "int",
        "count",
      ),
      "total.cwl": tool(
        `${says(folder, "total")}; ${failsOnce(folder)}; cat "$@" | awk '{s+=$1} END {print s}'`,
        "File[]",
        "total",
      ),
      "workflow.cwl": `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}}
inputs: {numbers: 'int[]'}
outputs: {total: {type: File, outputSource: total/out}}
steps:
  count: {run: count.cwl, scatter: in, in: {in: numbers}, out: [out]}
  total: {run: total.cwl, in: {in: count/out}, out: [out]}
`,
      "numbers.yml": `numbers: [${Array.from({ length: STEPS }, (_, i) => i + 1).join(", ")}]\n`,
    },
    result: join(folder, "out", "total"),
  };
}
