/** The stage of the executor's conformance suite for simulated nodes in virtual time. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { type Config, DEFAULT_CONFIG } from "@tutti/live/daemon/config/config.ts";
import type { Caller, Change } from "@tutti/live/daemon/contract/service.ts";
import { ClusterExecutor } from "@tutti/live/daemon/executor/cluster/cluster-executor.ts";
import { FakeNodes } from "@tutti/live/daemon/executor/cluster/cluster-for-tests.ts";
import { Launcher } from "@tutti/live/daemon/executor/launcher.ts";
import { FrontEnd } from "@tutti/live/daemon/front-end/front-end.ts";
import { MortalClock } from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { Store } from "@tutti/live/daemon/store/store.ts";
import { type Answer, isRefusal } from "@tutti/protocol/refusal.ts";
import type { Event, Job, SubmitJob } from "@tutti/protocol/schema.ts";
import type { Capability, ExecutorStage, StageOptions } from "./executor-conformance.ts";
import { type Work, type WorkRecord, workCommand, workOf } from "./executor-work.ts";

const ME: Caller = { uid: process.getuid!(), user: "me", isAdministrator: true };
/** All nodes answer and their clocks are known within this time. */
const START_MS = 2000;

interface VirtualOptions extends StageOptions {
  readonly seed: number;
  /** CPUs of each node. */
  readonly cpus: readonly number[];
  readonly onRecord?: ConstructorParameters<typeof FakeNodes>[0]["onRecord"];
}

export async function openVirtualStage(options: VirtualOptions): Promise<VirtualStage> {
  const stage = new VirtualStage(options);
  await stage.startFrontEnd();
  return stage;
}

/** A front end over simulated nodes. Time passes only by `pass`. */
export class VirtualStage implements ExecutorStage {
  readonly processors: number;
  readonly slotMs: number;
  readonly graceMs: number;
  readonly toleranceMs = 0;
  readonly rows = 8;
  readonly lacks: ReadonlySet<Capability> = new Set(["mode concurrent"]);
  readonly clock = new FakeClock();
  readonly nodes: FakeNodes;
  readonly #folder = mkdtempSync(join(tmpdir(), "tutti-virtual-"));
  #executor: ClusterExecutor | undefined;
  #frontEnd: FrontEnd | undefined;
  #store: Store | undefined;
  #mortal: MortalClock | undefined;

  constructor({ slotMs, graceMs, seed, cpus, onRecord }: VirtualOptions) {
    this.slotMs = slotMs;
    this.graceMs = graceMs;
    this.processors = cpus.reduce((sum, count) => sum + count, 0);
    this.nodes = new FakeNodes({
      clock: this.clock,
      seed,
      nodes: cpus.map((count, i) => ({
        node: `n${i + 1}`,
        cpus: Array.from({ length: count }, (_, c) => c),
      })),
      scriptOf: ({ command }) => ({ ...workOf(command), isEverywhere: true }),
      ...(onRecord !== undefined && { onRecord }),
    });
  }

  get frontEnd(): FrontEnd {
    return this.#frontEnd!;
  }

  async memoryBytes(): Promise<number> {
    return this.#executor!.capacity.memoryBytes;
  }

  nowMs(): number {
    return this.clock.unixMs();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advanceTo(this.clock.nowMs() + ms);
    // Answers of the front end are promises.
    await Promise.resolve();
  }

  async submit(work: Work, fields: Partial<SubmitJob> = {}): Promise<Answer<readonly number[]>> {
    const job = { command: workCommand(work, ""), cwd: "/", env: {}, ...fields };
    const answer = await this.#answer(this.frontEnd.submit(ME, [job]));
    return isRefusal(answer) ? answer : answer.jobs.map(({ job }) => job);
  }

  async job(job: number): Promise<Job> {
    const answer = this.frontEnd.job(ME, job);
    if (isRefusal(answer)) throw new Error(answer.message);
    return answer;
  }

  async change(job: number, change: Change): Promise<Answer<Job>> {
    const answer = await this.#answer(this.frontEnd.change(ME, change, [job]));
    return isRefusal(answer) ? answer : answer[0];
  }

  async killFrontEnd(): Promise<void> {
    this.#mortal!.isDead = true;
    this.#executor?.close();
    this.#store?.close();
  }

  async startFrontEnd(): Promise<void> {
    this.#mortal = new MortalClock(this.clock);
    this.#store = new Store(join(this.#folder, "store.sqlite"), 0);
    this.#executor = new ClusterExecutor({
      cluster: this.nodes.cluster(),
      clock: this.#mortal,
      frontEnd: "virtual",
      owner: "0123456789abcdef",
      claims: {
        isClaimed: ({ identity = "" }) => this.nodes.claims.has(identity),
        block: ({ identity = "" }) => {
          const claim = this.nodes.claims.get(identity) ?? "nobody";
          this.nodes.claims.set(identity, claim);
          return claim === "nobody";
        },
      },
    });
    // Its capacity is known when all nodes have answered.
    await this.pass(START_MS);
    mkdirSync(join(this.#folder, "jobs"), { recursive: true });
    this.#frontEnd = this.#makeFrontEnd({});
    this.clock.settle();
  }

  #makeFrontEnd(config: Partial<Config>): FrontEnd {
    return new FrontEnd({
      store: this.#store!,
      executor: this.#executor!,
      clock: this.#mortal!,
      config: {
        ...DEFAULT_CONFIG,
        slotMs: this.slotMs,
        graceMs: this.graceMs,
        maxRows: this.rows,
        ...config,
      },
      bootId: "boot",
      launcher: new Launcher({
        jobsFolder: join(this.#folder, "jobs"),
        graceMs: this.graceMs,
        accounts: () => ({ uid: process.getuid!(), gid: process.getgid!() }),
      }),
    });
  }

  records(job: number): readonly WorkRecord[] {
    return this.nodes.recordsOf(job);
  }

  /** All events so far. */
  events(): readonly Event[] {
    const events: Event[] = [];
    this.frontEnd.listen(ME, 0, (event) => events.push(event))();
    return events;
  }

  processes(job: number): number {
    return this.nodes.processesOf(job);
  }

  output(job: number) {
    const lines = this.nodes.said.get(job) ?? [];
    const stdout = lines.map((line) => `${line}\n`).join("");
    return { stdout, stderr: stdout.toUpperCase() };
  }

  async refusalOf(): Promise<string> {
    try {
      this.#makeFrontEnd({ mode: "concurrent" });
    } catch (error) {
      return String(error);
    }
    return "";
  }

  async close(): Promise<readonly string[]> {
    // Jobs of the last test may still be ending.
    await this.pass(2 * this.graceMs);
    const living = this.nodes.living().map(({ node, key }) => `job ${key.job}.${key.attempt} on ${node}`);
    await this.killFrontEnd();
    rmSync(this.#folder, { recursive: true });
    return living;
  }

  async #answer<Value>(promise: Promise<Value>): Promise<Value> {
    this.clock.settle();
    return await promise;
  }
}
