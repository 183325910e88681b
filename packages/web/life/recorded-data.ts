/** What was recorded of a life as the timeline and the matrix show it. */
import { THIS_NODE } from "@tutti/kernel/core/machine.ts";
import type { MatrixSnapshot } from "@tutti/lab/results/matrix-record.ts";
import type { Picture, Recording } from "@tutti/torture/run/recorded.ts";
import { gridOfAnswer } from "../matrix/grid.ts";
import { cpuRanges, type TimelineData } from "../timeline/data.ts";

/** A fault that is over sooner is an instant. */
const INSTANT_MS = 1000;

/** Times are since the beginning of the life. */
export function recordedTimeline({ fromMs, toMs, pictures, runs, faults }: Recording): TimelineData {
  const nodes = nodesOf(pictures);
  const places = new Map(
    nodes.flatMap(({ node, cpus }) => cpus.map((cpu) => `${node}:${cpu}`)).map((key, i) => [key, i]),
  );
  const since = (ms: number) => ms - fromMs;
  return {
    jobs: runs.map((run) => {
      const cpus = run.nodes.flatMap(({ node, cpus: own }) =>
        own.flatMap((cpu) => places.get(`${node}:${cpu}`) ?? []),
      );
      return {
        ...{ job: run.job, name: run.name, user: run.user, state: `attempt ${run.attempt}`, row: run.row },
        ...{ tasks: cpus.length, cpus: cpuRanges(cpus) },
        ...{ startMs: since(run.fromMs), endMs: since(run.toMs) },
      };
    }),
    cpus: places.size,
    ...(nodes.length > 1 && { cpuName: (index: number) => [...places.keys()][index] }),
    clock: "elapsed",
    bands: faults
      .filter((fault) => (fault.toMs ?? toMs) - fault.fromMs > INSTANT_MS)
      .map((fault) => ({
        ...{ fromMs: since(fault.fromMs), toMs: since(fault.toMs ?? toMs), label: fault.name },
      })),
    marks: faults.map((fault) => ({ atMs: since(fault.fromMs), label: fault.name })),
  };
}

/** Those of the picture with the most CPUs: nodes come and go. */
function nodesOf(pictures: readonly Picture[]): NonNullable<Picture["matrix"]["nodes"]> {
  let most: NonNullable<Picture["matrix"]["nodes"]> = [];
  let count = -1;
  for (const { matrix } of pictures) {
    if (matrix.cpus.length <= count) continue;
    count = matrix.cpus.length;
    most = matrix.nodes ?? [{ node: THIS_NODE, cpus: matrix.cpus }];
  }
  return most;
}

interface RecordedMatrix {
  readonly snapshots: readonly MatrixSnapshot[];
  readonly busiest: number;
  readonly processors: number;
}

export function recordedMatrix({ fromMs, pictures }: Recording): RecordedMatrix {
  const done = { placed: 0, ended: 0, extraSlots: 0, released: 0, exchanges: 0, migrations: 0 };
  const rows = { rowsAdded: 0, rowsDeleted: 0 };
  let before = new Set<number>();
  let busiest = 0;
  let processors = 0;
  const snapshots = pictures.map(({ atMs, matrix }, i): MatrixSnapshot => {
    const grid = gridOfAnswer(matrix);
    const jobs = new Set(grid.job);
    for (const job of jobs) if (!before.has(job)) done.placed++;
    for (const job of before) if (!jobs.has(job)) done.ended++;
    before = jobs;
    if (grid.rows > pictures[busiest].matrix.rows.length) busiest = i;
    processors = Math.max(processors, grid.processors);
    const { row, first, end, job } = grid;
    const atS = (atMs - fromMs) / 1000;
    return { atS, rows: grid.rows, row, first, end, job, done: { ...done, ...rows } };
  });
  return { snapshots, busiest, processors };
}
