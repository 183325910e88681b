/**
 * srun: makes a step in an allocation, and joins its own standard streams with those of the tasks. If it is
 * killed, its step ends within a second; if its machine loses power, the step goes on.
 */

import { signalNumber } from "../shell/signals.ts";
import type { Body, Process, ProcessEnd } from "../world/contract.ts";
import type { LanEnd, Peer } from "../world/lan.ts";
import { expandHosts } from "./hosts.ts";
import type { Step, StepClient, StepMaker, StepMessage, StepRequest } from "./steps.ts";
import { readAll, soon, Writer } from "./streams.ts";

const KILLED = 137;

export class Srun implements Body, StepClient {
  readonly process: Process;
  readonly #slurm: StepMaker;
  readonly #errors: Writer;
  readonly #output: Writer;
  readonly #wires = new Map<string, LanEnd<StepMessage>>();
  /** Nodes whose tasks have not ended. */
  readonly #open = new Set<string>();
  #sent: StepMessage[] = [];
  #step: Step | undefined;
  #code = 0;
  #isAsked = false;
  #isOver = false;

  constructor(slurm: StepMaker, process: Process) {
    this.process = process;
    this.#slurm = slurm;
    this.#output = new Writer(process, 1);
    this.#errors = new Writer(process, 2);
    soon(process, () => this.#ask(), 5 + 20 * process.machine.random.unit());
  }

  signal(name: string): boolean {
    if (name !== "SIGTERM" && name !== "SIGINT" && name !== "SIGHUP") return false;
    this.#isAsked = true;
    if (this.#step === undefined) return false;
    this.#slurm.killStep(this.#step);
    soon(this.process, () => this.#exit(KILLED), 1000);
    return true;
  }

  ended(): void {
    this.#isOver = true;
    for (const wire of this.#wires.values()) wire.close();
    if (this.#step !== undefined && this.process.machine.isOn) this.#slurm.clientGone(this.#step);
  }

  /** Slurm has given the node up. */
  nodeFailed(node: string): void {
    soon(this.process, () => {
      this.#say(`Node failure on ${node}`);
      this.#nodeDone(node);
    });
  }

  #ask(): void {
    const asked = requestOf(this.process);
    const found = this.#slurm.makeStep(asked, this);
    if ("problem" in found) {
      soon(
        this.process,
        () => {
          this.#say(`error: ${found.problem}`);
          this.#exit(1);
        },
        found.afterMs,
      );
      return;
    }
    this.#step = found;
    if (this.#isOver) return;
    for (const node of found.nodes) this.#open.add(node);
    const { command, carries } = asked;
    let rank = 0;
    for (const [i, node] of found.nodes.entries()) {
      const tasks = new Map<number, Readonly<Record<string, string>>>();
      for (let local = 0; local < found.tasks[i]; local++, rank++)
        tasks.set(rank, this.#variables(found, i, rank, local));
      this.#slurm.launch(node, {
        part: {
          ...{ job: found.job, step: found.name, uid: this.process.uid, gid: this.process.gid },
          ...{ argv: command, cwd: asked.cwd, tasks, carries },
        },
        srun: this.#peerOf(node),
        onWire: (wire) => {
          this.#wires.set(node, wire);
          for (const message of this.#sent) wire.send(message);
        },
        onFailure: () => {
          this.#say(
            `error: Task launch for StepId=${found.name} failed on node ${node}: Communication connection failure`,
          );
          this.#slurm.killStep(found);
          this.#exit(1);
        },
      });
    }
    if (carries.includes(0))
      readAll(
        this.process,
        0,
        (bytes) => this.#send({ type: "input", bytes }),
        () => this.#send({ type: "end of input" }),
      );
  }

  #variables({ job, id, nodes, tasks }: Step, at: number, rank: number, local: number) {
    return {
      ...this.process.environment,
      SLURM_JOB_ID: String(job),
      SLURM_JOBID: String(job),
      SLURM_STEP_ID: String(id),
      SLURM_STEPID: String(id),
      SLURM_STEP_NODELIST: nodes.join(","),
      SLURM_STEP_NUM_TASKS: String(tasks.reduce((sum, count) => sum + count, 0)),
      SLURM_PROCID: String(rank),
      SLURM_LOCALID: String(local),
      SLURM_NODEID: String(at),
      SLURMD_NODENAME: nodes[at],
    };
  }

  #send(message: StepMessage): void {
    // A task that has not started yet gets it then.
    this.#sent.push(message);
    for (const wire of this.#wires.values()) wire.send(message);
    if (this.#wires.size === this.#step?.nodes.length) this.#sent = [];
  }

  #peerOf(node: string): Peer<StepMessage> {
    return {
      process: this.process,
      receive: (message) => this.#receive(node, message),
      // Without a word, its slurmstepd was killed; its tasks may go on.
      closed: () => {},
      broken: () => {
        this.#say(`error: Aborting, io error with slurmstepd on node ${node}`);
        if (this.#step !== undefined) this.#slurm.killStep(this.#step);
        this.#exit(1);
      },
    };
  }

  #receive(node: string, message: StepMessage): void {
    if (message.type === "output") {
      (message.descriptor === 1 ? this.#output : this.#errors).write(message.bytes);
    } else if (message.type === "ended") this.#taskEnded(node, message.rank, message.end);
    else if (message.type === "done") this.#nodeDone(node);
  }

  #taskEnded(node: string, rank: number, end: ProcessEnd): void {
    const code = end.code ?? 128 + signalNumber(end.signal);
    if (code !== 0) {
      const how =
        end.signal === undefined
          ? `Exited with exit code ${code}`
          : end.signal === "SIGKILL"
            ? "Killed"
            : "Terminated";
      this.#say(`error: ${node}: task ${rank}: ${how}`);
    }
    this.#code = Math.max(this.#code, code);
  }

  #nodeDone(node: string): void {
    this.#open.delete(node);
    if (this.#open.size === 0) this.#exit(this.#isAsked ? KILLED : this.#code);
  }

  #say(text: string): void {
    this.#errors.write(new TextEncoder().encode(`srun: ${text}\n`));
  }

  #exit(code: number): void {
    if (this.#isOver) return;
    this.process.machine.exit(this.process, code);
  }
}

/** What it was asked for: by options, or by the variables of the job that it runs in. */
function requestOf({ argv, environment: env, machine, cwd }: Process): StepRequest {
  const at = argv.findIndex((word, i) => i > 0 && !word.startsWith("--"));
  const words = argv.slice(1, at < 0 ? undefined : at);
  const options = new Map(
    words.map((word) => [/^--([^=]+)/.exec(word)?.[1] ?? word, word.split("=").slice(1).join("=")]),
  );
  const streams = [
    ["input", 0],
    ["output", 1],
    ["error", 2],
  ] as const;
  const list = expandHosts(options.get("nodelist") ?? env.SLURM_JOB_NODELIST ?? "");
  const most = Number(options.get("nodes") ?? list.length);
  const nodes = [...new Set(list)].slice(0, most);
  const isArbitrary = options.get("distribution") === "arbitrary";
  const perNode = isArbitrary
    ? nodes.map((node) => list.filter((one) => one === node).length)
    : expandCounts(env.SLURM_TASKS_PER_NODE ?? "1", nodes.length);
  return {
    job: Number(options.get("jobid") ?? env.SLURM_JOB_ID),
    nodes,
    tasks: options.get("ntasks") === "1" ? nodes.map((_, i) => Number(i === 0)) : perNode,
    keepsOnFailure: options.has("no-kill") || env.SLURM_NO_KILL !== undefined,
    overlaps: options.has("overlap") || env.SLURM_OVERLAP !== undefined,
    command: argv.slice(at < 0 ? argv.length : at),
    cwd: options.get("chdir") ?? machine.files.pathOf(cwd),
    carries: streams.flatMap(([name, descriptor]) => (options.get(name) === "none" ? [] : [descriptor])),
  };
}

/** Such as 2(x3),1. */
function expandCounts(text: string, nodes: number): number[] {
  const counts = text.split(",").flatMap((part) => {
    const [, count = "1", times = "1"] = /^(\d+)(?:\(x(\d+)\))?$/.exec(part) ?? [];
    return Array<number>(Number(times)).fill(Number(count));
  });
  return Array.from({ length: nodes }, (_, i) => counts[i] ?? 1);
}
