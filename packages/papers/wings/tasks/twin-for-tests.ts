/**
 * Simulates tasks a second time, plainly, for comparison (a naive twin): it steps through time ms by ms over
 * plain objects, with its own front end, grades and messages.
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
  readonly place?: string | undefined;
  readonly fit?: string | undefined;
  readonly moldable?: boolean | undefined;
  readonly classes?: string | undefined;
}

interface TwinTask {
  readonly index: number;
  readonly job: TwinJob;
  readonly program: { op: number; operand: number }[];
  pc: number;
  left: number;
  state: "unborn" | "ready" | "running" | "blocked" | "ended";
  processor: number;
  /** I/O: when it is over. */
  until: number;
  grades: Shares[];
  lastPick: number;
}
type Shares = Record<"compute" | "io" | "message" | "barrier", number>;
type TwinRow = (TwinJob | undefined)[];
interface TwinJob {
  readonly index: number;
  readonly submit: number;
  readonly home: number;
  readonly isGang: boolean;
  tasks: TwinTask[];
  /** Tasks that were created and have no processor yet. */
  created: TwinTask[];
  barrier: number;
  end: number;
}
interface TwinProcessor {
  running: TwinTask | undefined;
  own: TwinTask | undefined;
  last: TwinTask | undefined;
  switchLeft: number;
  spent: Shares;
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
      spent: { compute: 0, io: 0, message: 0, barrier: 0 },
    }),
  );
  /** Tasks of each processor, in order of placement. */
  const here: TwinTask[][] = machine.map(() => []);
  const lines = machine.map(() => "");
  const uses = { busyMs: 0, switchMs: 0, ioMs: 0, messageMs: 0, barrierMs: 0, emptyMs: 0 };
  /** Row: job by processor. */
  let rows: TwinRow[] = [];
  const waiting = [...jobs];
  let position = -1;
  let picks = 0;
  let t = 0;

  const isWhole = (job: TwinJob) => job.tasks.every((task) => task.state === "ended");
  const living = (job: TwinJob) =>
    job.tasks.filter((task) => task.state !== "ended" && task.state !== "unborn").length;
  const idleIn = (row: readonly unknown[]) => row.flatMap((job, p) => (job === undefined ? [p] : []));
  const put = (task: TwinTask, p: number) => {
    task.processor = p;
    here[p].push(task);
  };
  const takeAway = (task: TwinTask) => {
    if (task.processor < 0) return;
    here[task.processor] = here[task.processor].filter((other) => other !== task);
    task.processor = -1;
  };
  const dropEmptyRows = () => {
    const kept = rows.filter((row) => row.some((job) => job !== undefined));
    rows = kept.length > 0 ? kept : rows.slice(0, 1);
  };
  const addRow = () => {
    rows.push(new Array(processors).fill(undefined));
    return rows[rows.length - 1];
  };
  /** The processors where an arrival could be, row by row: each gap, or all idle processors of the row. */
  const roomsIn = (row: TwinRow) => {
    const idle = idleIn(row);
    if (options.place === "any") return [{ row, idle }];
    const starts = idle.filter((p) => p === 0 || row[p - 1] !== undefined);
    return starts.map((first, i) => ({
      row,
      idle: idle.filter((p) => p >= first && !(p >= starts[i + 1])),
    }));
  };
  const chosen = (rooms: { row: TwinRow; idle: number[] }[], size: number) => {
    const fitting = rooms.filter(({ idle }) => idle.length >= size);
    if (options.fit === "best") fitting.sort((a, b) => a.idle.length - b.idle.length);
    return fitting[0];
  };
  const placeNew = (job: TwinJob, tasks: readonly TwinTask[]) => {
    const { row, idle } = chosen(rows.flatMap(roomsIn), tasks.length) ?? roomsIn(addRow())[0];
    for (const [i, task] of tasks.entries()) {
      row[idle[i]] = job;
      put(task, idle[i]);
    }
  };
  const growJob = (job: TwinJob, tasks: readonly TwinTask[]) => {
    dropEmptyRows();
    let row = rows.find((cells) => cells.includes(job)) as TwinRow;
    if (idleIn(row).length < tasks.length) {
      const own = row.flatMap((one, p) => (one === job ? [p] : []));
      const others = rows.filter((other) => own.every((p) => other[p] === undefined)).flatMap(roomsIn);
      const next = chosen(others, own.length + tasks.length)?.row ?? addRow();
      for (const p of own) {
        row[p] = undefined;
        next[p] = job;
      }
      row = next;
    }
    const idle = idleIn(row);
    for (const [i, task] of tasks.entries()) {
      row[idle[i]] = job;
      put(task, idle[i]);
    }
  };
  const frontEnd = () => {
    for (const job of jobs) {
      for (const task of job.tasks) {
        if (task.state !== "ended" || !(options.moldable || isWhole(job))) continue;
        for (const row of rows) if (row[task.processor] === job) row[task.processor] = undefined;
        takeAway(task);
      }
    }
    const again: TwinJob[] = [];
    for (const job of jobs) {
      const width = rows.flat().filter((one) => one === job).length;
      job.created = job.created.filter((task) => task.processor < 0 && task.state !== "ended");
      if (width === 0 && job.created.length > 0) again.push(job);
      else if (width > 0 && job.created.length > 0) {
        const count = Math.min(job.created.length, processors - width);
        if (count > 0) growJob(job, job.created.slice(0, count));
      }
    }
    dropEmptyRows();
    for (const job of again) placeNew(job, job.created.slice(0, processors));
    while (waiting.length > 0 && waiting[0].submit <= t) {
      const job = waiting.shift() as TwinJob;
      if (job.home < 0)
        placeNew(
          job,
          job.tasks.filter((task) => task.state !== "unborn"),
        );
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
        if (task.job.barrier < living(task.job)) return block(Infinity);
        passBarrier(task.job);
      }
      if (op === Op.create) {
        const made = all[operand];
        made.state = "ready";
        made.job.created.push(made);
      }
    }
    task.state = "ended";
    p.running = undefined;
    if (task.job.barrier > 0 && task.job.barrier === living(task.job)) passBarrier(task.job);
    if (isWhole(task.job)) task.job.end = t;
    if (task.job.home >= 0) takeAway(task);
  };
  const passBarrier = (job: TwinJob) => {
    job.barrier = 0;
    for (const other of job.tasks) {
      if (other.state !== "blocked" || other.program[other.pc].op !== Op.barrier) continue;
      other.state = "ready";
      other.pc++;
    }
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
  const grade = ({ grades }: TwinTask, of: keyof Shares) =>
    grades.length === 0 ? 0 : grades.reduce((sum, g) => sum + g[of], 0) / grades.length;
  const priority = (task: TwinTask) =>
    Math.max((alpha as number) * grade(task, "io"), grade(task, "compute"));
  const needsGang = (task: TwinTask) =>
    (options.classes === "user" && task.job.isGang) ||
    (options.classes === "grade" &&
      grade(task, "message") + grade(task, "barrier") > grade(task, "compute") + grade(task, "io"));
  const pick = (p: number): TwinTask | undefined => {
    if (alpha === undefined) return undefined;
    const ready = here[p].filter((task) => task.state === "ready" && !needsGang(task));
    ready.sort((a, b) => priority(b) - priority(a) || a.lastPick - b.lastPick);
    if (ready.length > 0) ready[0].lastPick = ++picks;
    return ready[0];
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
    for (const job of jobs) if (job.home >= 0 && job.submit === t) put(job.tasks[0], job.home);
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
          const share = (of: keyof Shares) => p.spent[of] / slotMs;
          p.own.grades.push({
            compute: share("compute"),
            io: share("io"),
            message: share("message"),
            barrier: share("barrier"),
          });
          if (p.own.grades.length > 5) p.own.grades.shift();
        }
        p.own = undefined;
        p.spent = { compute: 0, io: 0, message: 0, barrier: 0 };
      }
      position++;
      if (position >= rows.length) {
        frontEnd();
        position = rows.length > 0 ? 0 : -1;
      }
      if (position >= 0) {
        for (const [index, job] of rows[position].entries()) {
          machine[index].own = job?.tasks.find((task) => task.processor === index);
        }
      }
    }
    for (let changed = true; changed; ) {
      changed = false;
      for (let index = 0; index < processors; index++) while (dispatch(index)) changed = true;
    }
    for (const [index, p] of machine.entries()) {
      const { running, own } = p;
      if (own?.state === "blocked") {
        const { op } = own.program[own.pc];
        p.spent[op === Op.io ? "io" : op === Op.receive ? "message" : "barrier"]++;
      }
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
  const { jobCount, firstTask, firstStatement, op, operand, submitMs, size, home, isGang } = programs;
  const statements = (task: number) =>
    Array.from({ length: firstStatement[task + 1] - firstStatement[task] }, (_, i) => ({
      op: op[firstStatement[task] + i],
      operand: operand[firstStatement[task] + i],
    }));
  return Array.from({ length: jobCount }, (_, index) => {
    const job: TwinJob = {
      index,
      submit: submitMs[index],
      home: home[index],
      isGang: isGang[index] === 1,
      tasks: [],
      created: [],
      barrier: 0,
      end: Number.NaN,
    };
    for (let task = firstTask[index]; task < firstTask[index + 1]; task++) {
      job.tasks.push({
        index: task,
        job,
        program: statements(task),
        pc: 0,
        left: 0,
        state: task < firstTask[index] + size[index] ? "ready" : "unborn",
        processor: -1,
        until: 0,
        grades: [],
        lastPick: 0,
      });
    }
    return job;
  });
}
