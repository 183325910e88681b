/**
 * A life that somebody watches and breaks: machine and nodes are the same each time, the jobs come from the
 * seed, and the faults from who watches. The seed and the list of what was done give the same life again.
 */
import { Draws } from "../world/random.ts";
import { CLUSTER_FAULTS } from "./cluster/faults.ts";
import { CLUSTER_KINDS } from "./cluster/kinds.ts";
import { Course, type Verdict } from "./course.ts";
import {
  type Fault,
  kill,
  pullPlug,
  whileClockIsWrong,
  whileDiskIs,
  whilePowerIsOff,
  whileStopped,
} from "./faults.ts";
import { KINDS } from "./kinds.ts";
import { Life } from "./life.ts";
import { type Deed, type DeedName, LASTING, type Scene } from "./recorded.ts";
import { fixedKind, type Setting } from "./setting.ts";
import type { WorldParts } from "./site.ts";
import type { Kind } from "./story.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A life ends by itself then: its store and its lists grow with its jobs. */
const HOURS = 6;
const NODES = 4;
const CPUS_OF_NODE = 3;
/** Kinds whose signals and ends have exact times, which nobody can keep for as long as a disk is full. */
const EXACT_KINDS: readonly string[] = ["signal before the limit", "time limit"];

/** What somebody may do to the machine on which all runs. */
const TO_MACHINE: Readonly<Partial<Record<DeedName, Fault>>> = {
  conductor: {
    name: "kill -9 of the conductor",
    inflict: (life) => kill(life, "SIGKILL", life.conductors()),
  },
  "front-end": {
    name: "kill -9 of the front end",
    inflict: (life) => kill(life, "SIGKILL", life.frontEnds()),
  },
  stop: {
    name: "conductor stopped",
    inflict: (life, last) => whileStopped(life, life.conductors(), last!),
  },
  power: {
    name: "power cut",
    inflict: (life, last) => {
      pullPlug(life);
      return whilePowerIsOff(life, last!);
    },
  },
  disk: {
    name: "disk full",
    inflict: async (life, last) => {
      await whileDiskIs(life, "full", last!);
      // How attempts have ended in this time could be noted nowhere.
      life.loseMemory();
    },
  },
  clock: {
    name: "clock one hour ahead",
    inflict: (life, last) => whileClockIsWrong(life, HOUR_MS, last!),
  },
};

/** What somebody may do to a Slurm's nodes and the machine of the scheduler. */
const TO_NODES: Readonly<Partial<Record<DeedName, Fault>>> = {
  node: clusterFault("power cut of a node"),
  network: clusterFault("node without network"),
  "node-conductor": clusterFault("kill -9 of a node's conductor"),
  "front-end": clusterFault("kill -9 of the front end"),
};

function clusterFault(name: string): Fault {
  return CLUSTER_FAULTS.find((fault) => fault.name === name)!;
}

function settingOf(seed: number, scene: Scene): Setting {
  return scene === "machine" ? onMachine(seed) : onNodes(seed);
}

/** The nodes that a pilot has, and one that Slurm can give in the place of a lost one. */
function onNodes(seed: number): Setting {
  return {
    ...onMachine(seed),
    ...{ cpus: NODES * CPUS_OF_NODE, isShared: false, users: ["ada"] },
    cluster: {
      nodes: Array<number>(NODES + 1).fill(CPUS_OF_NODE),
      tracksByGroups: true,
      slurmdTimeoutMs: MINUTE_MS,
      pilots: {
        kinds: fixedKind(NODES, 2 * HOURS * HOUR_MS),
        maxNodes: NODES,
        idleMs: undefined,
        drainMs: 2 * MINUTE_MS,
        stopBeforeMs: MINUTE_MS,
        steps: 16,
        sbatch: [],
      },
    },
    kinds: weightsOf(CLUSTER_KINDS),
  };
}

/** All but those with exact times. */
function weightsOf(kinds: readonly Kind[]): Readonly<Record<string, number>> {
  const kept = kinds.filter(({ name }) => !EXACT_KINDS.includes(name));
  return Object.fromEntries(kept.map(({ name, weight = 1 }) => [name, weight]));
}

function onMachine(seed: number): Setting {
  return {
    ...{ seed, hours: HOURS, cpus: 12, groups: "v2", isShared: true, users: ["ada", "bob", "eve"] },
    ...{ policy: "gang", mode: "gang", slotMs: 1000, maxRows: 4, runningJobs: undefined, graceMs: 500 },
    ...{
      arrivalMs: 12_000,
      runMs: [20_000, 4 * MINUTE_MS],
      isLaxDisk: false,
      pidMax: 32_768,
      olderStore: undefined,
    },
    // None is drawn.
    ...{ faultMs: HOURS * HOUR_MS, faults: {} },
    kinds: weightsOf(KINDS),
  };
}

export class WatchedLife {
  readonly life: Life;
  readonly #course: Course;
  readonly #deeds: Readonly<Partial<Record<DeedName, Fault>>>;
  /** What is still to be done again, and what was done. */
  readonly #coming: Deed[];
  readonly #done: Deed[] = [];
  /** Takes back what lasts. */
  readonly #lasting = new Map<DeedName, () => void>();

  /** @param again what was done in another life with this seed */
  constructor(seed: number, again: readonly Deed[], parts: WorldParts, scene: Scene = "machine") {
    this.life = new Life(settingOf(seed, scene), new Draws(seed).fork("life"), parts);
    this.#deeds = scene === "machine" ? TO_MACHINE : TO_NODES;
    this.#course = new Course(this.life);
    this.#coming = [...again];
    this.#course.begin();
  }

  get nowUs(): number {
    return this.life.site.timeline.nowUs;
  }
  get done(): readonly Deed[] {
    return this.#done;
  }
  get lasting(): readonly DeedName[] {
    return this.isClosed ? [] : [...this.#lasting.keys()];
  }
  /** Nobody can do anything from now on. */
  get isClosed(): boolean {
    return this.#course.isClosing;
  }
  /** The judge knows what may be lost in one thing that lasts, with kills in it, but not in two of them. */
  may(name: Deed["name"]): boolean {
    if (this.isClosed || (name !== "end" && this.#deeds[name] === undefined)) return false;
    return (
      name === "end" || !LASTING.includes(name) || [...this.#lasting.keys()].every((one) => one === name)
    );
  }
  get isOver(): boolean {
    return this.#course.isOver;
  }

  /** @param settle returns when no promise has anything left to do */
  async advance(untilUs: number, settle: () => Promise<void>): Promise<void> {
    for (let next = this.#coming[0]; next !== undefined && next.atUs <= untilUs; [next] = this.#coming) {
      await this.#course.advance(next.atUs, settle);
      this.#coming.shift();
      this.#do(next);
    }
    await this.#course.advance(untilUs, settle);
  }

  /** Does something now, instead of what was still to be done again. */
  act(name: Deed["name"]): void {
    this.#coming.length = 0;
    this.#do({ atUs: this.nowUs, name });
  }

  #do(deed: Deed): void {
    const { name } = deed;
    if (!this.may(name)) return;
    this.#done.push(deed);
    const takeBack = name === "end" ? () => this.#course.close() : this.#lasting.get(name);
    if (takeBack !== undefined) takeBack();
    if (name === "end" || this.#lasting.delete(name)) return;
    const fault = this.#deeds[name];
    if (fault === undefined) return;
    const given = this.#course.give(fault);
    if (LASTING.includes(name)) this.#lasting.set(name, given);
  }

  verdict(): Verdict {
    return this.#course.end();
  }
}
