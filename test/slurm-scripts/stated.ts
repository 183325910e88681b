/** Where Tutti differs from a real Slurm on purpose: each line of a difference, and why. */

import type { Outcome, SlurmScript } from "./list.ts";
import { differencesOf } from "./outcome.ts";

interface Stated {
  readonly why: string;
  readonly differences: readonly string[];
}

const NO_GPUS =
  "a job without GPUs sees none: the list is there and empty, where a Slurm that does not constrain devices shows all";

const STATED: Readonly<Record<string, Stated>> = {
  "10-array-one-fails.sh": {
    why: "a job whose dependency can no longer be fulfilled is cancelled, as with Slurm's kill_invalid_depend; otherwise it waits for good",
    differences: [
      'jobs: lacks {"job":"job2","name":"all","state":"PENDING DependencyNeverSatisfied","exitCode":"0:0","restarts":0}',
      'jobs: has {"job":"job2","name":"all","state":"CANCELLED","exitCode":"0:0","restarts":0}',
    ],
  },
  "26-mpirun.sh": {
    why: NO_GPUS,
    differences: ['files: omd.<job1>: text: has "CUDA_VISIBLE_DEVICES="'],
  },
  "28-two-nodes-srun.sh": {
    why: `on a pilot, SLURM_JOB_ID is the pilot's number, which srun needs; and ${NO_GPUS}`,
    differences: [
      'files: two.out: text: lacks "SLURM_JOBID=<job1>"',
      'files: two.out: text: lacks "SLURM_JOB_ID=<job1>"',
      'files: two.out: text: has "CUDA_VISIBLE_DEVICES="',
      'files: two.out: text: has "SLURM_JOBID=1"',
      'files: two.out: text: has "SLURM_JOB_ID=1"',
    ],
  },
  "35-exit-codes.sh": {
    why: "a partition that is no queue is left out with a warning, since other sites have other partitions",
    differences: [
      'jobs: lacks {"job":"job11","name":"unknown","state":"COMPLETED","exitCode":"0:0","restarts":0}',
      'jobs: has {"job":"job11","name":"nopartition","state":"COMPLETED","exitCode":"0:0","restarts":0}',
      'jobs: has {"job":"job12","name":"unknown","state":"COMPLETED","exitCode":"0:0","restarts":0}',
      'files: stdout: text: has "Submitted batch job <job12>"',
      'files: slurm-<job11>.out: expected undefined, got {"text":[]}',
    ],
  },
};

/** Differences of an outcome from Slurm's, without those that are stated here. A stated one must be there. */
export function unstated(one: SlurmScript, got: Outcome | undefined): readonly string[] {
  const found = differencesOf(withoutSaid(one.outcome), got && withoutSaid(got));
  const { differences: stated = [] } = STATED[one.script] ?? {};
  return [
    ...found.filter((line) => !stated.includes(line)),
    ...stated.filter((line) => !found.includes(line)).map((line) => `no longer: ${line}`),
  ];
}

/** What commands and daemons of Slurm say has other words here. */
function withoutSaid({ status, jobs, files }: Outcome): Outcome {
  const plain = Object.entries(files).map(([name, { text }]) => [name, { text }] as const);
  return { status, jobs, files: Object.fromEntries(plain) };
}
