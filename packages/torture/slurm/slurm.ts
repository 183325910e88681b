/**
 * A small model of Slurm: its controller, and the slurmd of each node. It does what was measured of Slurm
 * 22.05 (docs/slurm.md, "When something fails"), as far as pilots meet it:
 *
 *   sbatch            the job starts 2.5 to 3.1 s later on nodes that nobody else has
 *   srun              a step: slurmstepd and tasks on each node; killed with its srun, kept if that one's
 *                     machine loses power
 *   the time limit    looked at every 30 s; all processes get CONT and TERM, and KILL after `killWaitMs`
 *   a node            that does not answer for `slurmdTimeoutMs` is down: jobs with --no-kill shrink; when it
 *                     is back, what they have left there is killed
 *   the controller    may be away, slow, or do what it is asked for without an answer; jobs go on
 */
import type { Process, Random, Timeline } from "../world/contract.ts";
import type { SimulatedMachine } from "../world/kernel/machine.ts";
import type { Lan } from "../world/lan.ts";
import { Containers } from "./containers.ts";
import { joinHosts } from "./hosts.ts";
import { Stepd } from "./stepd.ts";
import type {
  Launch,
  Refusal,
  Step,
  StepClient,
  StepMaker,
  StepMessage,
  StepPart,
  StepRequest,
} from "./steps.ts";

interface SlurmSetup {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly lan: Lan;
  readonly nodes: readonly SimulatedMachine[];
  readonly slurmdTimeoutMs: number;
  readonly killWaitMs: number;
  readonly trace: (line: string) => void;
}

interface SlurmNode {
  readonly name: string;
  readonly machine: SimulatedMachine;
  readonly containers: Containers;
  readonly stepds: Set<Stepd>;
  isDown: boolean;
  /** Since when it does not answer; −1: it does. */
  silentSinceUs: number;
}

type JobState =
  | "PENDING"
  | "RUNNING"
  | "COMPLETING"
  | "COMPLETED"
  | "FAILED"
  | "CANCELLED"
  | "TIMEOUT"
  | "NODE_FAIL";

export interface Job {
  readonly id: number;
  readonly uid: number;
  readonly count: number;
  minutes: number;
  readonly comment: string;
  readonly script: string;
  readonly output: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly submittedUs: number;
  /** Slurm looks at it from then on. */
  readonly dueUs: number;
  state: JobState;
  /** What it is after COMPLETING. */
  final: JobState;
  startedUs: number;
  endedUs: number;
  nodes: readonly string[];
  batchHost: string;
  readonly steps: Map<string, Step>;
  nextStep: number;
  /** Nodes on which its processes are being ended. */
  readonly cleaning: Set<string>;
}

/** How commands of Slurm fare. */
type Trouble = "away" | "slow" | "mute";

const TICK_MS = 3000;
const LIMIT_US = 30_000_000;
const START_US = [2_500_000, 3_100_000] as const;
/** A node that has not answered for this long gets no job. */
const QUIET_US = 10_000_000;
const LOOK_MS = 1000;
/** srun gives up launching then. */
const LAUNCH_MS = 11_000;
const GONE: ReadonlySet<JobState> = new Set(["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"]);

export class SimulatedSlurm implements StepMaker {
  readonly lan: Lan;
  readonly random: Random;
  readonly nodes: readonly SlurmNode[];
  readonly jobs = new Map<number, Job>();
  trouble: Trouble | undefined;
  readonly #setup: SlurmSetup;
  readonly #timeline: Timeline;
  #lastJob = 0;
  #limitsAtUs = 0;
  /** What the process that is just being started is. */
  #starting: ((process: Process) => Stepd) | undefined;

  constructor(setup: SlurmSetup) {
    this.#setup = setup;
    this.#timeline = setup.timeline;
    this.lan = setup.lan;
    this.random = setup.random;
    this.nodes = setup.nodes.map((machine) => {
      machine.installBody("/usr/sbin/slurmstepd", (process) => this.#starting!(process));
      return {
        ...{ name: machine.name, machine, containers: new Containers(machine) },
        ...{ stepds: new Set<Stepd>(), isDown: false, silentSinceUs: -1 },
      };
    });
    this.#tick();
  }

  get nowUs(): number {
    return this.#timeline.nowUs;
  }

  node(name: string): SlurmNode | undefined {
    return this.nodes.find((node) => node.name === name);
  }

  /** Whether a command on that machine gets an answer. */
  answers(machine: SimulatedMachine): boolean {
    return this.trouble !== "away" && this.lan.reaches(machine);
  }

  isOver({ state }: Job): boolean {
    return GONE.has(state);
  }

  // Jobs ----------------------------------------------------------------------------------------------------

  submit(
    asked: Pick<Job, "uid" | "count" | "minutes" | "comment" | "script" | "output" | "environment">,
  ): Job {
    const job: Job = {
      ...asked,
      id: ++this.#lastJob,
      submittedUs: this.nowUs,
      dueUs: this.nowUs + this.random.between(...START_US),
      ...{ state: "PENDING", final: "PENDING", startedUs: 0, endedUs: 0, nodes: [], batchHost: "" },
      ...{ steps: new Map(), nextStep: 0, cleaning: new Set() },
    };
    this.jobs.set(job.id, job);
    this.#setup.trace(`Slurm has job ${job.id}`);
    this.#later((job.dueUs - this.nowUs) / 1000, () => this.#schedule());
    return job;
  }

  /** @returns false if it has ended already */
  cancel(id: number): boolean {
    const job = this.jobs.get(id);
    if (job === undefined || this.isOver(job) || job.state === "COMPLETING") return false;
    if (job.state === "PENDING") this.#finish(job, "CANCELLED");
    else this.#end(job, "CANCELLED");
    return true;
  }

  #schedule(): void {
    if (this.trouble === "away") return;
    for (const job of this.jobs.values()) {
      if (job.state !== "PENDING" || job.dueUs > this.nowUs) continue;
      const free = this.nodes.filter((node) => this.isFree(node));
      if (free.length < job.count) return;
      this.#start(
        job,
        free.slice(0, job.count).map(({ name }) => name),
      );
    }
  }

  isFree({ name, isDown, silentSinceUs }: SlurmNode): boolean {
    const isQuiet = silentSinceUs >= 0 && this.nowUs - silentSinceUs > QUIET_US;
    return !isDown && !isQuiet && this.jobOn(name) === undefined;
  }

  /** The job that has the node. */
  jobOn(name: string): Job | undefined {
    for (const job of this.jobs.values()) {
      const { state, nodes, cleaning } = job;
      if ((state === "RUNNING" && nodes.includes(name)) || cleaning.has(name)) return job;
    }
    return undefined;
  }

  #start(job: Job, nodes: readonly string[]): void {
    Object.assign(job, { state: "RUNNING", startedUs: this.nowUs, nodes, batchHost: nodes[0] });
    this.#setup.trace(`Slurm starts job ${job.id} on ${joinHosts(nodes)}`);
    this.#startBatch(job);
  }

  /** Again and again until its node answers, or is down. */
  #startBatch(job: Job): void {
    const host = this.node(job.batchHost)!;
    if (job.state !== "RUNNING" || !job.nodes.includes(host.name)) return;
    if (!this.lan.reaches(host.machine)) {
      this.#later(TICK_MS, () => this.#startBatch(job));
      return;
    }
    const path = `/var/spool/slurmd/job${String(job.id).padStart(5, "0")}/slurm_script`;
    host.machine.writeFile(path, job.script, 0o755);
    const environment = {
      ...job.environment,
      SLURM_JOB_ID: String(job.id),
      SLURM_JOBID: String(job.id),
      SLURM_JOB_NODELIST: joinHosts(job.nodes),
      SLURM_NODELIST: joinHosts(job.nodes),
      SLURM_NNODES: String(job.nodes.length),
      SLURM_JOB_NUM_NODES: String(job.nodes.length),
      SLURMD_NODENAME: host.name,
      SLURM_PROCID: "0",
    };
    const part: StepPart = {
      ...{ job: job.id, step: `${job.id}.batch`, uid: job.uid, gid: job.uid, cwd: "/" },
      ...{ argv: ["/bin/sh", path], tasks: new Map([[0, environment]]), carries: [] },
      output: job.output.replaceAll("%j", String(job.id)),
    };
    this.#startStepd(host, part, (isDone) => {
      // What a node reports that the job no longer has does not count.
      if (isDone && job.nodes.includes(host.name)) this.#end(job, "COMPLETED");
    });
  }

  /** All that runs of it is ended. */
  #end(job: Job, final: JobState): void {
    if (job.state !== "RUNNING") return;
    Object.assign(job, { state: "COMPLETING", final, endedUs: this.nowUs });
    this.#setup.trace(`Slurm ends job ${job.id}: ${final}`);
    for (const name of job.nodes) this.#clean(job, this.node(name)!);
  }

  #finish(job: Job, state: JobState): void {
    job.state = state;
    if (job.endedUs === 0) job.endedUs = this.nowUs;
    job.steps.clear();
    for (const { containers, machine } of this.nodes) if (machine.isOn) containers.remove(job.id);
    this.#setup.trace(`Slurm's job ${job.id} is ${state}`);
  }

  /** Ends the processes of a job on a node: with grace, then without. */
  #clean(job: Job, node: SlurmNode): void {
    if (job.cleaning.has(node.name)) return;
    job.cleaning.add(node.name);
    let firstUs = -1;
    const turn = () => {
      const reaches = this.lan.reaches(node.machine);
      if (node.isDown && !reaches) return this.#cleaned(job, node);
      if (reaches) {
        const stepds = stepdsOf(node, job.id);
        const left = node.containers.processes({ job: job.id }, pids(stepds));
        if (left.length === 0 && stepds.length === 0) return this.#cleaned(job, node);
        const isLate = firstUs >= 0 && this.nowUs - firstUs >= this.#setup.killWaitMs * 1000;
        if (firstUs < 0 || isLate)
          node.containers.signal(
            { job: job.id },
            isLate ? ["SIGKILL"] : ["SIGCONT", "SIGTERM"],
            pids(stepds),
          );
        // A slurmstepd whose tasks have ended without it hearing of that.
        if (isLate) for (const { process } of stepds) node.machine.kill(process.pid, "SIGKILL");
        if (firstUs < 0) firstUs = this.nowUs;
      }
      this.#later(LOOK_MS, turn);
    };
    this.#later(this.random.between(2, 100), turn);
  }

  #cleaned(job: Job, node: SlurmNode): void {
    job.cleaning.delete(node.name);
    if (job.state === "COMPLETING" && job.cleaning.size === 0) this.#finish(job, job.final);
  }

  // Steps ---------------------------------------------------------------------------------------------------

  /** @returns why it is refused, and after which time srun says so */
  makeStep(
    { job: id, nodes, tasks, keepsOnFailure, overlaps }: StepRequest,
    srun: StepClient,
  ): Step | Refusal {
    const job = this.jobs.get(id);
    const unconfirmed = (why: string, afterMs: number) => ({
      problem: `Unable to confirm allocation for job ${id}: ${why}`,
      afterMs,
    });
    if (!this.answers(srun.process.machine as SimulatedMachine) || this.trouble !== undefined)
      return unconfirmed(
        "Unable to contact slurm controller (connect failure)",
        this.random.between(1000, 9000),
      );
    if (job === undefined || (job.state !== "RUNNING" && job.state !== "PENDING"))
      return unconfirmed("Invalid job id specified", 10);
    if (job.state === "PENDING") return unconfirmed("Job is pending execution", 10);
    const refused = (why: string) => ({
      problem: `Unable to create step for job ${id}: ${why}`,
      afterMs: 10,
    });
    if (!overlaps) return refused("Requested nodes are busy");
    if (nodes.length === 0 || nodes.some((name) => !job.nodes.includes(name)))
      return refused("Requested node configuration is not available");
    const step: Step = {
      ...{ job: id, id: job.nextStep, name: `${id}.${job.nextStep++}`, nodes, tasks, keepsOnFailure, srun },
    };
    job.steps.set(step.name, step);
    return step;
  }

  /** Starts the part of a step on a node. */
  launch(name: string, { part, srun, onWire, onFailure }: Launch): void {
    const node = this.node(name)!;
    const { process } = srun;
    const failLater = () =>
      process.machine.clock.at(process.machine.clock.monotonicMs() + LAUNCH_MS, () =>
        process.machine.deliver(process, onFailure),
      );
    this.#later(5 + this.random.between(0, 25), () => {
      if (process.end !== undefined) return;
      if (!this.lan.reaches(node.machine) || !this.lan.reaches(process.machine)) return void failLater();
      const step = this.jobs.get(part.job)?.steps.get(part.step);
      const stepd = this.#startStepd(node, part, (isDone) => {
        if (isDone && step?.nodes.every((one) => stepdsOf(this.node(one)!, part.job, part.step).length === 0))
          this.jobs.get(part.job)?.steps.delete(part.step);
      });
      if (stepd === undefined) return void failLater();
      const [near, far] = this.lan.connect<StepMessage>(srun, stepd);
      stepd.join(far);
      onWire(near);
    });
  }

  #startStepd(node: SlurmNode, part: StepPart, onEnd: (isDone: boolean) => void): Stepd | undefined {
    let started: Stepd | undefined;
    this.#starting = (process) => {
      started = new Stepd(process, part, node.containers, (isDone) => {
        node.stepds.delete(started!);
        if (node.machine.isOn) onEnd(isDone);
      });
      return started;
    };
    try {
      node.machine.start(undefined, {
        argv: ["/usr/sbin/slurmstepd", part.step],
        environment: {},
        isDetached: true,
      });
    } catch (error) {
      this.#setup.trace(`Slurm cannot start ${part.step} on ${node.name}: ${(error as Error).message}`);
      return undefined;
    }
    node.stepds.add(started!);
    return started;
  }

  /** Ends a step on all its nodes, as the controller or its srun wishes. */
  killStep(step: Step): void {
    this.#later(this.random.between(20, 300), () => {
      for (const name of step.nodes) {
        const node = this.node(name)!;
        if (!this.lan.reaches(node.machine)) continue;
        const stepds = stepdsOf(node, step.job, step.name);
        const of = { job: step.job, step: step.name };
        node.containers.signal(of, ["SIGKILL"], pids(stepds));
      }
    });
  }

  /** srun was killed, or has ended: a helper of it ends what is left of its step. */
  clientGone(step: Step): void {
    if (this.jobs.get(step.job)?.steps.get(step.name) !== step) return;
    this.#later(this.random.between(100, 600), () => this.killStep(step));
  }

  // Nodes ---------------------------------------------------------------------------------------------------

  #tick(): void {
    this.#later(TICK_MS, () => this.#tick());
    if (this.trouble === "away") return;
    for (const node of this.nodes) this.#lookAt(node);
    this.#schedule();
    if (this.nowUs < this.#limitsAtUs) return;
    this.#limitsAtUs = this.nowUs + LIMIT_US;
    for (const job of this.jobs.values())
      if (job.state === "RUNNING" && this.nowUs >= job.startedUs + job.minutes * 60e6)
        this.#end(job, "TIMEOUT");
  }

  #lookAt(node: SlurmNode): void {
    if (this.lan.reaches(node.machine)) {
      node.silentSinceUs = -1;
      if (node.isDown) this.#isBack(node);
      return;
    }
    if (node.silentSinceUs < 0) node.silentSinceUs = this.nowUs;
    if (!node.isDown && this.nowUs - node.silentSinceUs >= this.#setup.slurmdTimeoutMs * 1000)
      this.#down(node);
  }

  #down(node: SlurmNode): void {
    node.isDown = true;
    this.#setup.trace(`Slurm calls ${node.name} down`);
    const { name } = node;
    for (const job of this.jobs.values()) {
      if (job.state !== "RUNNING" || !job.nodes.includes(name)) continue;
      job.nodes = job.nodes.filter((one) => one !== name);
      for (const step of job.steps.values()) {
        if (!step.nodes.includes(name)) continue;
        if (!step.keepsOnFailure) this.killStep(step);
        if (this.lan.reaches(step.srun.process.machine)) step.srun.nodeFailed(name);
      }
      if (job.nodes.length === 0) this.#finish(job, "NODE_FAIL");
    }
  }

  /** What jobs have left there, which no longer have it, is ended. */
  #isBack(node: SlurmNode): void {
    node.isDown = false;
    this.#setup.trace(`Slurm has ${node.name} back`);
    for (const job of this.jobs.values())
      if (!this.isOver(job) ? !job.nodes.includes(node.name) : stepdsOf(node, job.id).length > 0)
        this.#clean(job, node);
  }

  #later(ms: number, call: () => void): void {
    this.#timeline.at(this.nowUs + Math.ceil(ms * 1000), call);
  }
}

function stepdsOf(node: SlurmNode, job: number, step?: string): Stepd[] {
  return [...node.stepds].filter(
    ({ part }) => part.job === job && (step === undefined || part.step === step),
  );
}

function pids(stepds: readonly Stepd[]): number[] {
  return stepds.map(({ process }) => process.pid);
}
