/** Starts a front end whose store, folders, file of numbers and conductor do not agree. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import { FakeMachine } from "../front-end/fake-machine-for-tests.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";
import { lineFile, NumbersFile } from "../state/numbers.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-past-"));
afterAll(() => rmSync(folder, { recursive: true }));
let states = 0;

/** A state folder as front ends leave it, and a machine that outlives them. */
class Lives {
  readonly clock = new FakeClock();
  readonly machine = new FakeMachine({ clock: this.clock, runMs: () => 1000 });
  boot = "first";
  readonly state = join(folder, String(++states));
  readonly database = join(this.state, "tutti.db");
  readonly numbers = join(this.state, "numbers");
  readonly jobsFolder = join(this.state, "jobs");

  constructor() {
    mkdirSync(this.jobsFolder, { recursive: true });
  }

  start(connected = true): Bench {
    const { clock, machine, database: path, jobsFolder } = this;
    const numbers = new NumbersFile(lineFile(this.numbers), this.boot);
    return makeBench({ config: { policy: "fcfs" }, clock, machine, path, jobsFolder, numbers, connected });
  }

  /** Runs jobs to their ends, then ends the front end. Each job leaves a file in its folder. */
  async run(count: number): Promise<void> {
    const bench = this.start();
    for (let i = 0; i < count; i++) await submit(bench);
    runToEnd(this.clock);
    for (const name of this.machine.launched) {
      const attempt = join(this.jobsFolder, name);
      if (existsSync(attempt)) writeFileSync(join(attempt, "exit"), "0\n");
    }
    bench.kill();
  }

  copy(to: string): void {
    for (const part of ["", "-wal"]) {
      rmSync(`${to}${part}`, { force: true });
      if (existsSync(`${this.database}${part}`)) copyFileSync(`${this.database}${part}`, `${to}${part}`);
    }
  }

  putBack(from: string): void {
    this.removeStore();
    for (const part of ["", "-wal"]) {
      if (existsSync(`${from}${part}`)) copyFileSync(`${from}${part}`, `${this.database}${part}`);
    }
  }

  removeStore(): void {
    for (const part of ["", "-wal", "-shm"]) rmSync(`${this.database}${part}`, { force: true });
  }
}

async function submit({ clock, frontEnd }: Bench, fields: Partial<SubmitJob> = {}): Promise<number> {
  const answer = await answerOf(clock, frontEnd.submit(ANNA, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0].job;
}

function recovered({ frontEnd }: Bench): DaemonEvent[] {
  const events: DaemonEvent[] = [];
  frontEnd.listen(ANNA, 0, (event) => {
    if (event.kind === "recovered") events.push(event);
  })();
  return events;
}

const OLDER = /^the store is out of date: its last job is \d+ and its last event \d+/;

describe("a store that is older", () => {
  test("because it was removed: numbers go on, users are warned, and no job ends well that did not run", async () => {
    const lives = new Lives();
    await lives.run(3);
    lives.removeStore();
    const bench = lives.start();
    expect(bench.frontEnd.status().trouble).toMatch(OLDER);
    expect(bench.frontEnd.status().trouble).toMatch(/Jobs 1 to 3 are unknown/);
    expect(bench.frontEnd.warnings).toEqual([bench.frontEnd.status().trouble]);
    expect(recovered(bench)).toMatchObject([{ data: { because: bench.frontEnd.status().trouble } }]);
    // Followers that have seen the old events receive the new ones.
    expect(recovered(bench)[0].sequence).toBeGreaterThan(10);
    expect(await submit(bench)).toBe(4);
    expect(lives.machine.launched).toEqual(["1/1", "2/1", "3/1", "4/1"]);
  });

  test("because a backup was restored: jobs that it does not have are reported as unknown, not as ended", async () => {
    const lives = new Lives();
    await lives.run(2);
    lives.copy(`${lives.state}/backup`);
    await lives.run(3);
    lives.putBack(`${lives.state}/backup`);
    const bench = lives.start();
    expect(bench.frontEnd.status().trouble).toMatch(/Jobs 3 to 5 are unknown/);
    expect(bench.frontEnd.job(ROOT, 2)).toMatchObject({ state: "done" });
    expect(bench.frontEnd.job(ROOT, 4)).toMatchObject({
      refused: "not-found",
      message: expect.stringMatching(
        /the store is older than this job, so it is unknown whether and how it ended/,
      ),
    });
    for (const ok of [true, false]) {
      const after = request({ after: [{ job: 4, ok }] });
      expect(await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [after]))).toMatchObject({
        refused: "invalid",
        message: expect.stringMatching(/^Cannot wait for job 4: the store is older/),
      });
    }
    expect(await submit(bench)).toBe(6);
  });

  test("is reported once; at the next start everything agrees, and the lost numbers stay unknown", async () => {
    const lives = new Lives();
    await lives.run(2);
    lives.removeStore();
    await lives.run(1);
    const bench = lives.start();
    expect(bench.frontEnd.warnings).toEqual([]);
    expect(bench.frontEnd.status().trouble).toBeUndefined();
    expect(bench.frontEnd.job(ROOT, 1)).toMatchObject({
      message: expect.stringMatching(/it is unknown whether and how it ended/),
    });
    expect(bench.frontEnd.job(ROOT, 3)).toMatchObject({ state: "done" });
    expect(recovered(bench)).toHaveLength(1);
  });

  test("is reported again if the warning could not be stored", async () => {
    const lives = new Lives();
    await lives.run(2);
    lives.removeStore();
    // Without a request and a conductor, there is no cycle.
    lives.start(false).kill();
    expect(lives.start().frontEnd.status().trouble).toMatch(OLDER);
  });

  test("by events alone: jobs that run according to it may have ended", async () => {
    const lives = new Lives();
    const bench = lives.start();
    await submit(bench);
    bench.kill();
    lives.copy(`${lives.state}/backup`);
    await lives.run(0);
    lives.putBack(`${lives.state}/backup`);
    expect(lives.start().frontEnd.status().trouble).toMatch(
      /What happened to its jobs afterwards is unknown/,
    );
  });

  test("is noticed from the folders if the file of numbers is gone, too", async () => {
    const lives = new Lives();
    await lives.run(3);
    lives.removeStore();
    rmSync(lives.numbers);
    const bench = lives.start();
    expect(bench.frontEnd.status().trouble).toMatch(/jobs up to 3 have folders/);
    expect(await submit(bench)).toBe(4);
  });

  test("is noticed from the conductor if folders and numbers are gone, too", async () => {
    const lives = new Lives();
    const first = lives.start();
    await submit(first);
    await submit(first);
    first.kill();
    lives.removeStore();
    rmSync(lives.numbers);
    rmSync(lives.jobsFolder, { recursive: true });
    const bench = lives.start();
    expect(bench.frontEnd.status().trouble).toMatch(/the conductor runs job 2/);
    expect(bench.frontEnd.strays(ROOT)).toHaveLength(2);
    expect(await submit(bench)).toBe(3);
  });
});

describe("a store that is not older", () => {
  test("is not reported after a kill at any instant, or after the first release", async () => {
    const lives = new Lives();
    await lives.run(2);
    // The first release has no file of numbers.
    const first = new Lives();
    const { clock, machine, jobsFolder, database: path } = first;
    const early = makeBench({ config: { policy: "fcfs" }, clock, machine, jobsFolder, path });
    await submit(early);
    early.kill();
    for (const one of [lives, first]) {
      const bench = one.start();
      expect(bench.frontEnd.warnings).toEqual([]);
      expect(bench.frontEnd.status().trouble).toBeUndefined();
      bench.kill();
    }
    expect(await submit(first.start())).toBe(2);
  });

  test("reserved numbers are skipped only after a reboot, without a warning", async () => {
    const lives = new Lives();
    await lives.run(2);
    const bench = lives.start();
    expect(await submit(bench)).toBe(3);
    bench.kill();
    lives.boot = "second";
    const next = lives.start();
    expect(next.frontEnd.warnings).toEqual([]);
    expect(next.frontEnd.job(ROOT, 5)).toMatchObject({
      message: expect.stringMatching(/there is no such job/),
    });
    expect(await submit(next)).toBe(1004);
  });

  test("a front end that ends properly returns its reserved numbers", async () => {
    const lives = new Lives();
    const numbers = new NumbersFile(lineFile(lives.numbers), "first");
    numbers.begin({ reserved: 0, job: 0, event: 0 });
    numbers.give(5);
    numbers.committed(5, 9);
    numbers.close();
    expect(new NumbersFile(lineFile(lives.numbers), "second").givenAtMost).toBe(5);
  });
});

test.each(["missing", "damaged"] as const)(
  "a file of numbers that is %s is reported and made again",
  async (how) => {
    const lives = new Lives();
    await lives.run(2);
    if (how === "missing") rmSync(lives.numbers);
    else writeFileSync(lives.numbers, "tutti numbers 1 reserved 00");
    const bench = lives.start();
    expect(bench.frontEnd.warnings).toEqual([
      `the file "numbers" in the state folder is ${how}; it was rebuilt from the store and the folders in jobs/, and new jobs get numbers above 2`,
    ]);
    expect(bench.frontEnd.status().trouble).toBeUndefined();
    expect(await submit(bench)).toBe(3);
    bench.kill();
    expect(lives.start().frontEnd.warnings).toEqual([]);
  },
);
