/**
 * A naive twin of the task simulator: it steps through time ms by ms over plain objects, with its own front
 * end, grades and messages.
 */
import { Op, type TaskPrograms } from "./contract.ts";

export interface TwinOptions {
  readonly processors: number;
  readonly slotMs: number;
  readonly switchMs: number;
  readonly ownReturns: boolean;
  /** Undefined: conventional gang scheduling. */
  readonly alpha: number | undefined;
  readonly untilMs: number;
}

interface TwinTask {
  readonly index: number;
  readonly job: TwinJob;
  readonly program: { op: number; operand: number }[];
  pc: number;
  left: number;
  state: "ready" | "running" | "blocked" | "ended";
  /** I/O: when it is over. */
  until: number;
  grades: { compute: number; io: number }[];
  lastPick: number;
}
interface TwinJob {
  readonly index: number;
  readonly submit: number;
  tasks: TwinTask[];
  barrier: number;
  end: number;
}
interface TwinProcessor {
  running: TwinTask | undefined;
  own: TwinTask | undefined;
  last: TwinTask | undefined;
  switchLeft: number;
  spent: { compute: number; io: number };
}

/**
 * One letter per ms and processor: the job that computes (A, B …), `~` for a switch, `.` for idle; and the ms
 * of all processors by use, named as in the totals of a run.
 */
export function twin(
  programs: TaskPrograms,
  options: TwinOptions,
): { rows: string[]; endMs: number[]; uses: Record<string, number> } {
  const { processors, slotMs, switchMs, alpha } = options;
  const jobs = twinJobs(programs);
  const all = jobs.flatMap((job) => job.tasks);
  const messageAt = new Map<number, number>();
  const machine = Array.from(
    { length: processors },
    (): TwinProcessor => ({
      running: undefined,
      own: undefined,
      last: undefined,
      switchLeft: 0,
      spent: { compute: 0, io: 0 },
    }),
  );
  const lines = machine.map(() => "");
  const uses = { busyMs: 0, switchMs: 0, ioMs: 0, messageMs: 0, barrierMs: 0, emptyMs: 0 };
  /** Row: job by processor. */
  let rows: (TwinJob | undefined)[][] = [];
  const placed = new Map<TwinJob, number>();
  const waiting = [...jobs];
  let position = -1;
  let picks = 0;
  let t = 0;

  const isWhole = (job: TwinJob) => job.tasks.every((task) => task.state === "ended");
  const frontEnd = () => {
    const before = rows.map((row) => row.map((job) => (job !== undefined && isWhole(job) ? undefined : job)));
    for (const job of placed.keys()) if (isWhole(job)) placed.delete(job);
    rows = before.filter((row) => row.some((job) => job !== undefined));
    if (rows.length === 0 && before.length > 0) rows = [before[0]];
    while (waiting.length > 0 && waiting[0].submit <= t) {
      const job = waiting.shift() as TwinJob;
      const size = job.tasks.length;
      let row = rows.find((cells) => gapIn(cells, size) >= 0);
      if (row === undefined) {
        row = new Array(processors).fill(undefined);
        rows.push(row);
      }
      const first = gapIn(row, size);
      row.fill(job, first, first + size);
      placed.set(job, first);
    }
  };

  /** Runs statements of the processor's task until it computes, blocks or ends. */
  const proceed = (p: TwinProcessor) => {
    const task = p.running as TwinTask;
    const block = (until: number) => {
      task.state = "blocked";
      task.until = until;
      p.running = undefined;
    };
    for (; task.pc < task.program.length; task.pc++) {
      const { op, operand } = task.program[task.pc];
      if (op === Op.compute) {
        if (task.left === 0) task.left = operand;
        return;
      }
      if (op === Op.io) return block(t + operand);
      if (op === Op.send) messageAt.set(operand, t + programs.latencyMs[operand]);
      if (op === Op.send) wake();
      if (op === Op.receive && !((messageAt.get(operand) ?? Infinity) <= t)) return block(Infinity);
      if (op === Op.barrier) {
        task.job.barrier++;
        if (task.job.barrier < task.job.tasks.length) return block(Infinity);
        task.job.barrier = 0;
        for (const other of task.job.tasks) {
          if (other === task) continue;
          other.state = "ready";
          other.pc++;
        }
      }
    }
    task.state = "ended";
    p.running = undefined;
    if (isWhole(task.job)) task.job.end = t;
  };
  const wake = () => {
    for (const task of all) {
      if (task.state !== "blocked") continue;
      const { op, operand } = task.program[task.pc];
      const over =
        op === Op.io ? task.until <= t : op === Op.receive && (messageAt.get(operand) ?? Infinity) <= t;
      if (!over) continue;
      task.state = "ready";
      task.pc++;
    }
  };
  const leave = (p: TwinProcessor) => {
    if (p.running !== undefined) p.running.state = "ready";
    p.running = undefined;
    p.switchLeft = 0;
  };
  const priority = ({ grades }: TwinTask) => {
    if (grades.length === 0) return 0;
    const mean = (of: "compute" | "io") => grades.reduce((sum, g) => sum + g[of], 0) / grades.length;
    return Math.max((alpha as number) * mean("io"), mean("compute"));
  };
  const pick = (p: number): TwinTask | undefined => {
    if (alpha === undefined) return undefined;
    const here = [...placed]
      .map(([job, first]) => job.tasks[p - first])
      .filter((task) => task?.state === "ready");
    here.sort((a, b) => priority(b) - priority(a) || a.lastPick - b.lastPick);
    if (here.length > 0) here[0].lastPick = ++picks;
    return here[0];
  };
  /** Whether anything changed. */
  const dispatch = (index: number): boolean => {
    const p = machine[index];
    const ownReady = p.own?.state === "ready";
    if (p.running !== undefined && !(ownReady && options.ownReturns)) return false;
    if (p.running !== undefined) leave(p);
    const task = ownReady ? p.own : pick(index);
    if (task === undefined) return false;
    p.running = task;
    task.state = "running";
    p.switchLeft = p.last === task ? 0 : switchMs;
    p.last = task;
    if (p.switchLeft === 0) proceed(p);
    return true;
  };

  for (; t < options.untilMs; t++) {
    wake();
    for (const p of machine) {
      if (p.running === undefined || p.switchLeft > 0) continue;
      const computed = p.running.program[p.running.pc]?.op === Op.compute && p.running.left === -1;
      if (computed) {
        p.running.left = 0;
        p.running.pc++;
        proceed(p);
      } else if (p.running.left === 0) proceed(p); // a switch has just ended
    }
    if (t % slotMs === 0) {
      for (const p of machine) {
        leave(p);
        if (p.own !== undefined && p.own.state !== "ended") {
          p.own.grades.push({ compute: p.spent.compute / slotMs, io: p.spent.io / slotMs });
          if (p.own.grades.length > 5) p.own.grades.shift();
        }
        p.own = undefined;
        p.spent = { compute: 0, io: 0 };
      }
      position++;
      if (position >= rows.length) {
        frontEnd();
        position = rows.length > 0 ? 0 : -1;
      }
      if (position >= 0) {
        for (const [index, job] of rows[position].entries()) {
          if (job !== undefined) machine[index].own = job.tasks[index - (placed.get(job) as number)];
        }
      }
    }
    for (let changed = true; changed; ) {
      changed = false;
      for (let index = 0; index < processors; index++) while (dispatch(index)) changed = true;
    }
    for (const [index, p] of machine.entries()) {
      const { running, own } = p;
      if (own?.state === "blocked" && own.program[own.pc].op === Op.io) p.spent.io++;
      if (running === undefined) {
        lines[index] += ".";
        if (own?.state !== "blocked") uses.emptyMs++;
        else if (own.program[own.pc].op === Op.io) uses.ioMs++;
        else if (own.program[own.pc].op === Op.receive) uses.messageMs++;
        else uses.barrierMs++;
      } else if (p.switchLeft > 0) {
        lines[index] += "~";
        uses.switchMs++;
        p.switchLeft--;
      } else {
        lines[index] += String.fromCharCode(65 + running.job.index);
        uses.busyMs++;
        if (running === own) p.spent.compute++;
        if (--running.left === 0) running.left = -1; // over at the next instant
      }
    }
  }
  return { rows: lines, endMs: jobs.map((job) => job.end), uses };
}

function twinJobs(programs: TaskPrograms): TwinJob[] {
  const { jobCount, firstTask, firstStatement, op, operand, submitMs } = programs;
  const statements = (task: number) =>
    Array.from({ length: firstStatement[task + 1] - firstStatement[task] }, (_, i) => ({
      op: op[firstStatement[task] + i],
      operand: operand[firstStatement[task] + i],
    }));
  return Array.from({ length: jobCount }, (_, index) => {
    const job: TwinJob = { index, submit: submitMs[index], tasks: [], barrier: 0, end: Number.NaN };
    for (let task = firstTask[index]; task < firstTask[index + 1]; task++) {
      job.tasks.push({
        index: task,
        job,
        program: statements(task),
        pc: 0,
        left: 0,
        state: "ready",
        until: 0,
        grades: [],
        lastPick: 0,
      });
    }
    return job;
  });
}

/** First processor of the leftmost gap of the size, or −1. */
function gapIn(cells: readonly unknown[], size: number): number {
  for (let first = 0; first + size <= cells.length; first++) {
    if (cells.slice(first, first + size).every((cell) => cell === undefined)) return first;
  }
  return -1;
}
