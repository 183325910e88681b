/** An executor on four simulated nodes with two CPUs each, driven by hand in virtual time. */
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { AttemptEnd, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { Capabilities, Command, Matrix, Report } from "../executor.ts";
import type { Script } from "./attempts-for-tests.ts";
import { type AllocatedNode, ON_CLUSTER } from "./cluster.ts";
import { ClusterExecutor } from "./cluster-executor.ts";
import { FakeNodes } from "./cluster-for-tests.ts";

const SLOT_MS = 100;
const NODES: readonly AllocatedNode[] = ["n1", "n2", "n3", "n4"].map((node) => ({ node, cpus: [0, 1] }));

export class Bench {
  readonly clock = new FakeClock();
  readonly nodes: FakeNodes;
  readonly scripts = new Map<number, Script>();
  readonly reports: { readonly atMs: number; readonly report: Report }[] = [];
  readonly disconnects: string[] = [];
  executor: ClusterExecutor;
  #sequence = 0;
  readonly #steps: number | undefined;
  readonly #capabilities: Capabilities;

  constructor(
    options: {
      readonly steps?: number;
      readonly delayMs?: number;
      readonly stopAtMs?: number;
      readonly arriveMs?: (node: string) => number;
      readonly groups?: readonly (readonly string[])[];
      readonly offByWord?: true;
    } = {},
  ) {
    const { steps, delayMs, stopAtMs, arriveMs, groups } = options;
    this.#steps = steps;
    this.#capabilities = { ...ON_CLUSTER, ...(options.offByWord && { offByWord: true }) };
    this.nodes = new FakeNodes({
      clock: this.clock,
      seed: 1,
      nodes: NODES,
      scriptOf: ({ job }) => this.scripts.get(job)!,
      ...(delayMs !== undefined && { delayMs }),
      ...(arriveMs !== undefined && { arriveMs }),
      ...(groups !== undefined && { groups }),
      ...(stopAtMs !== undefined && { end: { drainAtMs: stopAtMs - 1000, stopAtMs } }),
    });
    this.executor = this.#open();
    this.pass(1000);
  }

  restart(): void {
    this.executor.close();
    this.executor = this.#open();
    this.pass(1000);
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.nowMs() + ms);
  }

  /** Launches gangs on these nodes, one CPU of each, and gives each a row. */
  run(
    ...gangs: { readonly job: number; readonly on: readonly string[]; readonly script: Script }[]
  ): LaunchSpec[] {
    const specs = gangs.map(({ job, on, script }) => {
      this.scripts.set(job, script);
      return specOf(job, on);
    });
    const launches = specs.map((spec): Command => ({ type: "launch", spec }));
    this.executor.apply([...launches, { type: "matrix", matrix: this.matrix(specs.map((spec) => [spec])) }]);
    return specs;
  }

  matrix(rows: readonly (readonly LaunchSpec[])[]): Matrix {
    return {
      sequence: ++this.#sequence,
      slotMs: SLOT_MS,
      mode: "gang",
      rows: rows.map((gangs) => gangs.map(({ job, attempt, nodes = [] }) => ({ job, attempt, nodes }))),
    };
  }

  of<Type extends Report["type"]>(type: Type) {
    return this.reports.flatMap(({ atMs, report }) =>
      report.type === type ? [{ atMs, ...(report as Extract<Report, { type: Type }>) }] : [],
    );
  }

  ends(): AttemptEnd[] {
    return this.of("ended").map(({ end }) => end);
  }

  notices(): string[] {
    return this.of("notice").map(({ kind, node }) => `${kind} ${node}`);
  }

  #open(): ClusterExecutor {
    const executor = new ClusterExecutor({
      cluster: this.nodes.cluster(),
      clock: this.clock,
      frontEnd: "test",
      owner: "0123456789abcdef",
      capabilities: this.#capabilities,
      claims: {
        isClaimed: ({ identity = "" }) => this.nodes.claims.has(identity),
        block: () => false,
      },
      ...(this.#steps !== undefined && { steps: this.#steps }),
    });
    executor.listen(
      (report) => this.reports.push({ atMs: this.clock.nowMs(), report }),
      (reason) => this.disconnects.push(reason),
    );
    return executor;
  }
}

export function specOf(job: number, on: readonly string[], more: Partial<LaunchSpec> = {}): LaunchSpec {
  return {
    job,
    attempt: 1,
    identity: String(job).padStart(32, "0"),
    folder: `/jobs/${job}/1`,
    command: ["work"],
    cwd: "/",
    env: {},
    stdout: "/dev/null",
    stderr: "/dev/null",
    graceMs: 500,
    nodes: on.map((node) => ({ node, cpus: [0] })),
    tasks: on.length,
    ...more,
  };
}

export const ENDLESS: Script = { computeMs: 1e9, isEverywhere: true };
export const ALL_NODES = NODES.map(({ node }) => node);
