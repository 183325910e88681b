/**
 * A real scheduler in its own folder, whose front end and conductor are killed with kill -9. Collects
 * descriptions of everything that went wrong.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "../src/api/client/client.ts";
import type { Random } from "../src/core/random.ts";
import { signal } from "../src/host/processes.ts";
import type { Job } from "../src/protocol/schema.ts";
import { describeProcess, Leftovers } from "./leftovers.ts";
import { type Started, startTutti } from "./live-command.ts";

export interface Kills {
  /** How often the front end, the conductor and both are killed. */
  readonly frontEnd: number;
  readonly conductor: number;
  readonly both: number;
}

export type Victim = keyof Kills;

const THAW_MS = 2000;
const STOPPED_WAIT_MS = 1000;
/** Longest wait for a front end or conductor, on a busy machine. */
const START_MS = 60_000;
/** More jobs than any of these tests has. */
const ALL = 1000;

export class KilledScheduler {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-faults-"));
  readonly problems: string[] = [];
  readonly kills: Record<Victim, number> = { frontEnd: 0, conductor: 0, both: 0 };
  /** Gangs and processes that were stopped just before both were killed, summed over all such kills. */
  foundStopped = 0;
  /** Longest time from the death of both until nothing was stopped, in ms. */
  slowestThawMs = 0;
  readonly #random: Random;
  readonly #socket = join(this.folder, "run", "tutti.sock");
  readonly #state = join(this.folder, "state");
  readonly #leftovers = new Leftovers(this.folder, this.#state);
  readonly #mayStayStopped: (job: number) => boolean;
  readonly #words: readonly string[];
  #frontEnd: Started;

  /**
   * @param mayStayStopped whether nobody has to continue this job now, because it was paused
   * @param words further arguments of `tutti serve`
   */
  constructor(
    random: Random,
    mayStayStopped: (job: number) => boolean = () => false,
    words: readonly string[] = [],
  ) {
    this.#random = random;
    this.#mayStayStopped = mayStayStopped;
    this.#words = words;
    this.#frontEnd = this.#serve();
  }

  get client(): Client {
    return new Client({ TUTTI_SOCKET: this.#socket });
  }

  /** Whether the front end that was started last accepts requests. */
  get isThere(): boolean {
    return this.#frontEnd.stdout().includes("next");
  }

  async jobs(): Promise<readonly Job[]> {
    return (await this.client.jobs({ last: ALL })).jobs;
  }

  /** Who is killed, in random order. */
  victims({ frontEnd, conductor, both }: Kills): Victim[] {
    const counts = { frontEnd, conductor, both };
    const victims = (Object.keys(counts) as Victim[]).flatMap((one) => Array<Victim>(counts[one]).fill(one));
    for (let i = victims.length - 1; i > 0; i--) {
      const j = this.#random.below(i + 1);
      [victims[i], victims[j]] = [victims[j], victims[i]];
    }
    return victims;
  }

  async kill(victim: Victim): Promise<void> {
    if (victim !== "frontEnd") await this.#conductorIsThere();
    if (victim === "both") this.foundStopped += await this.#stoppedNow();
    if (victim !== "conductor") {
      if (this.#frontEnd.child.exitCode !== null) {
        this.problems.push(`the front end ended by itself: ${this.#frontEnd.stderr()}`);
      }
      this.#frontEnd.child.kill("SIGKILL");
      await this.#frontEnd.result;
    }
    if (victim !== "frontEnd") for (const pid of this.#leftovers.conductors()) signal(pid, "SIGKILL");
    this.kills[victim]++;
    if (victim === "both") await this.#waitForThaw();
    if (victim !== "conductor") this.#frontEnd = this.#serve();
  }

  /** Nothing is left of jobs that have ended, and no kill made the store older, or an attempt a stray. */
  async checkEnd(): Promise<void> {
    const untilMs = performance.now() + THAW_MS;
    let left: string[];
    do {
      left = [...this.#leftovers.stopped(), ...this.#leftovers.ofJobs().map(describeProcess)];
      if (left.length > 0) await sleep(20);
    } while (left.length > 0 && performance.now() < untilMs);
    this.problems.push(...left.map((one) => `${one} is left ${THAW_MS} ms after the last job`));
    const { stdout } = await startTutti(this.#socket, ["events", "--json"]).result;
    const told = stdout.split("\n").filter((line) => /"kind":"recovered".*"(because|stray)":/.test(line));
    this.problems.push(...told.map((line) => `without a reason the front end reported: ${line}`));
  }

  async shutDown(): Promise<void> {
    const { status, stderr } = await startTutti(this.#socket, ["down"]).result;
    if (status !== 0) this.problems.push(`tutti down ended with ${status}: ${stderr}`);
    const untilMs = performance.now() + 5000;
    const left = () => [...this.#leftovers.processes().map(describeProcess), ...this.#leftovers.groups()];
    while (left().length > 0 && performance.now() < untilMs) await sleep(20);
    this.problems.push(...left().map((one) => `${one} is left after tutti down`));
  }

  /** Ends everything and removes the folder. */
  async clear(): Promise<void> {
    this.#frontEnd.child.kill("SIGKILL");
    await this.#leftovers.clear();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /** The value; undefined, with a problem recorded, if it takes too long. */
  async within<Value>(ms: number, what: string, value: Promise<Value>): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.problems.push(`Waited ${ms} ms in vain until ${what}`);
        resolve(undefined);
      }, ms);
    });
    return Promise.race([value, late]).finally(() => clearTimeout(timer));
  }

  #serve(): Started {
    const parameters = ["serve", "--private", "--no-http", "--slot", "20ms", "--state", this.#state];
    return startTutti(this.#socket, [...parameters, ...this.#words]);
  }

  /** Waits for a conductor; the front end may not have started one since the last kill. */
  async #conductorIsThere(): Promise<void> {
    const untilMs = performance.now() + START_MS;
    while (this.#leftovers.conductors().length === 0) {
      await sleep(this.#random.below(50));
      if (performance.now() < untilMs) continue;
      this.problems.push(`no conductor was started within ${START_MS} ms`);
      return;
    }
  }

  /** Waits briefly for a moment at which something is stopped. Returns how much is stopped. */
  async #stoppedNow(): Promise<number> {
    const untilMs = performance.now() + STOPPED_WAIT_MS;
    for (;;) {
      const count = this.#leftovers.stopped(this.#mayStayStopped).length;
      if (count > 0 || performance.now() > untilMs) return count;
      await sleep(5);
    }
  }

  /** Now no process could stop anything, and only the guardian could continue it. */
  async #waitForThaw(): Promise<void> {
    const sinceMs = performance.now();
    let stopped: string[] = [];
    do {
      // A conductor that the front end had just started.
      for (const pid of this.#leftovers.conductors()) signal(pid, "SIGKILL");
      stopped = this.#leftovers.stopped(this.#mayStayStopped);
      const tookMs = Math.round(performance.now() - sinceMs);
      this.slowestThawMs = Math.max(this.slowestThawMs, tookMs);
      if (tookMs >= THAW_MS) break;
    } while (stopped.length > 0);
    this.problems.push(...stopped.map((one) => `${one} is stopped ${THAW_MS} ms after the kills`));
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
