import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Op, type TaskPrograms } from "./contract.ts";
import { ProgramBuilder } from "./program-builder.ts";
import { type JobKind, makeTaskPrograms, type ProgramsOptions } from "./task-programs.ts";

const KINDS: readonly JobKind[] = ["I/O", "computation", "communication", "synchronisation", "mixed"];
const TIMES = {
  compute: { meanMs: 9000, spread: 0.5 },
  io: { meanMs: 20_000, spread: 0.5 },
  latency: { meanMs: 1200, spread: 0.5 },
};

function options(kinds: readonly JobKind[], seed = 1): ProgramsOptions {
  return {
    seed,
    untilMs: 8_000_000,
    maxSize: 32,
    interarrivalFactor: 0.5,
    serviceFactor: 2,
    kinds: kinds.map((kind) => ({ kind, weight: 1 })),
    times: { "I/O": TIMES, communication: TIMES, synchronisation: TIMES, mixed: TIMES },
  };
}

/**
 * Executes one ready task after the other, chosen by the draws, until none can continue; returns the number
 * of tasks that ended.
 */
function execute(programs: TaskPrograms, draws: readonly number[]): number {
  const { firstStatement, firstTask, op, operand, jobOfTask, size, taskCount } = programs;
  const at = Array.from(firstStatement.slice(0, taskCount));
  const sent = new Set<number>();
  const passed = Array.from({ length: taskCount }, () => 0);
  const canGoOn = (task: number) => {
    const statement = at[task];
    if (statement === firstStatement[task + 1]) return false;
    if (op[statement] === Op.receive) return sent.has(operand[statement]);
    // A task reaches its next barrier at once, and continues when all tasks have reached it as often.
    if (op[statement] !== Op.barrier) return true;
    const job = jobOfTask[task];
    return Array.from({ length: size[job] }, (_, rank) => firstTask[job] + rank).every(
      (other) => passed[other] > passed[task] || op[at[other]] === Op.barrier,
    );
  };
  for (let turn = 0; ; turn++) {
    const ready = Array.from({ length: taskCount }, (_, task) => task).filter(canGoOn);
    if (ready.length === 0) break;
    const task = ready[(draws[turn % draws.length] ?? 0) % ready.length];
    if (op[at[task]] === Op.send) sent.add(operand[at[task]]);
    if (op[at[task]] === Op.barrier) passed[task]++;
    at[task]++;
  }
  return at.filter((statement, task) => statement === firstStatement[task + 1]).length;
}

describe("makeTaskPrograms", () => {
  test("the same seed gives the same programs, another seed others", () => {
    for (const kind of KINDS) {
      expect(makeTaskPrograms("a", options([kind]))).toEqual(makeTaskPrograms("a", options([kind])));
      expect(makeTaskPrograms("a", options([kind], 2)).submitMs).not.toEqual(
        makeTaskPrograms("a", options([kind])).submitMs,
      );
    }
  });

  test("workloads of different kinds have the same jobs: submit times, sizes and dedicated times", () => {
    const [first, ...others] = KINDS.map((kind) => makeTaskPrograms(kind, options([kind])));
    for (const other of others) {
      expect(other.submitMs).toEqual(first.submitMs);
      expect(other.size).toEqual(first.size);
    }
    const computation = makeTaskPrograms("computation", options(["computation"]));
    for (const other of [first, ...others]) {
      for (let job = 0; job < other.jobCount; job++) {
        // A job ends within one message or one barrier of its service time, which a computation job has
        // exactly.
        const beyondMs = other.dedicatedMs[job] - computation.dedicatedMs[job];
        expect(beyondMs).toBeGreaterThanOrEqual(0);
        expect(beyondMs).toBeLessThanOrEqual(1800);
      }
    }
  });

  test("has the statements of its kind only", () => {
    const ops = (kind: JobKind) => [...new Set(makeTaskPrograms(kind, options([kind])).op)].sort();
    expect(ops("computation")).toEqual([Op.compute]);
    expect(ops("I/O")).toEqual([Op.compute, Op.io]);
    expect(ops("communication")).toEqual([Op.compute, Op.send, Op.receive]);
    expect(ops("synchronisation")).toEqual([Op.compute, Op.barrier]);
    expect(ops("mixed")).toEqual([Op.compute, Op.io, Op.send, Op.receive, Op.barrier]);
  });

  test("every message is sent once and received once by its receiver, in another task of the same job", () => {
    const programs = makeTaskPrograms("mixed", options(["mixed"]));
    const senders = new Map<number, number>();
    const receivers = new Map<number, number>();
    for (let task = 0; task < programs.taskCount; task++) {
      for (let at = programs.firstStatement[task]; at < programs.firstStatement[task + 1]; at++) {
        const side =
          programs.op[at] === Op.send ? senders : programs.op[at] === Op.receive ? receivers : undefined;
        if (side === undefined) continue;
        expect(side.has(programs.operand[at])).toBe(false);
        side.set(programs.operand[at], task);
      }
    }
    expect(senders.size).toBe(programs.messageCount);
    expect(receivers.size).toBe(programs.messageCount);
    for (const [message, receiver] of receivers) {
      const sender = senders.get(message) as number;
      expect(programs.receiver[message]).toBe(receiver);
      expect(sender).not.toBe(receiver);
      expect(programs.jobOfTask[sender]).toBe(programs.jobOfTask[receiver]);
    }
  });

  test("durations keep to their distributions, and kinds to their weights", () => {
    const programs = makeTaskPrograms("I/O", { ...options(["I/O"]), untilMs: 30_000_000 });
    const durations = Array.from(programs.operand.filter((_, at) => programs.op[at] === Op.io));
    expect(durations.reduce((a, b) => Math.max(a, b))).toBeLessThanOrEqual(30_000);
    const whole = durations.filter((ms) => ms >= 10_000); // shorter ones are cut off at the service time
    const mean = whole.reduce((sum, ms) => sum + ms, 0) / whole.length;
    // Uniform on 10 … 30 s: standard deviation 5.8 s.
    expect(Math.abs(mean - 20_000)).toBeLessThan((5 * 5800) / Math.sqrt(whole.length));
    const mix = makeTaskPrograms("mix", {
      ...options(KINDS),
      kinds: [
        { kind: "computation", weight: 3 },
        { kind: "I/O", weight: 1 },
      ],
      untilMs: 60_000_000,
    });
    let computations = 0;
    for (let job = 0; job < mix.jobCount; job++) {
      const task = mix.firstTask[job];
      const ops = mix.op.subarray(mix.firstStatement[task], mix.firstStatement[task + 1]);
      if (!ops.includes(Op.io)) computations++;
    }
    // Service times are far longer than a stretch of computing, so a job without I/O is a computation.
    const jobs = mix.jobCount;
    expect(Math.abs(computations - 0.75 * jobs)).toBeLessThan(5 * Math.sqrt(0.75 * 0.25 * jobs));
  });

  test("no program deadlocks, whichever task runs next", () => {
    const short = {
      compute: { meanMs: 900, spread: 0.5 },
      io: { meanMs: 900, spread: 0.5 },
      latency: { meanMs: 5, spread: 1 },
    };
    fc.assert(
      fc.property(fc.nat(1000), fc.array(fc.nat(50), { minLength: 1, maxLength: 40 }), (seed, draws) => {
        const programs = makeTaskPrograms("mix", {
          seed,
          untilMs: 1_500_000,
          maxSize: 8,
          interarrivalFactor: 1,
          serviceFactor: 0.0005,
          kinds: KINDS.map((kind) => ({ kind, weight: 1 })),
          times: { "I/O": short, communication: short, synchronisation: short, mixed: short },
        });
        expect(execute(programs, draws)).toBe(programs.taskCount);
      }),
      { numRuns: 40 },
    );
  });
});

describe("ProgramBuilder", () => {
  test("dedicatedMs and clockMs() follow the longest chain of computing, I/O, messages and barriers", () => {
    const builder = new ProgramBuilder();
    builder.beginJob(7, 3);
    builder.compute(0, 5); // 5
    builder.io(1, 2); // 2
    builder.send(0, 1, 4); // there at 9
    builder.receive(0);
    expect([0, 1, 2].map((rank) => builder.clockMs(rank))).toEqual([5, 9, 0]);
    builder.barrier(); // 9 each
    builder.compute(2, 3);
    expect([0, 1, 2].map((rank) => builder.clockMs(rank))).toEqual([9, 9, 12]);
    expect(builder.dedicatedMs()).toBe(12);
    builder.endJob();
    const programs = builder.build("one");
    expect(programs).toMatchObject({ name: "one", jobCount: 1, taskCount: 3, messageCount: 1 });
    expect([...programs.dedicatedMs]).toEqual([12]);
    expect([...programs.firstStatement]).toEqual([0, 3, 6, 8]);
    expect([...programs.op]).toEqual([
      Op.compute,
      Op.send,
      Op.barrier,
      Op.io,
      Op.receive,
      Op.barrier,
      Op.barrier,
      Op.compute,
    ]);
    expect([...programs.operand]).toEqual([5, 0, 0, 2, 0, 0, 0, 3]);
    expect([programs.receiver[0], programs.latencyMs[0]]).toEqual([1, 4]);
  });
});
