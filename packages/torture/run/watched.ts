/**
 * A life that somebody watches and breaks: the machine is the same each time, the jobs come from the seed,
 * and the faults from who watches. The seed and the list of what was done give the same life again.
 */
import { Draws } from "../world/random.ts";
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
import { type Deed, type DeedName, LASTING } from "./recorded.ts";
import type { Setting } from "./setting.ts";
import type { WorldParts } from "./site.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A life ends by itself then: its store and its lists grow with its jobs. */
const HOURS = 6;
/** Kinds whose signals and ends have exact times, which nobody can keep for as long as a disk is full. */
const EXACT_KINDS: readonly string[] = ["signal before the limit", "time limit"];

/** What somebody may do. */
const DEEDS: Readonly<Record<DeedName, Fault>> = {
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

function watchedSetting(seed: number): Setting {
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
    kinds: Object.fromEntries(
      KINDS.filter(({ name }) => !EXACT_KINDS.includes(name)).map(({ name, weight = 1 }) => [name, weight]),
    ),
  };
}

export class WatchedLife {
  readonly life: Life;
  readonly #course: Course;
  /** What is still to be done again, and what was done. */
  readonly #coming: Deed[];
  readonly #done: Deed[] = [];
  /** Takes back what lasts. */
  readonly #lasting = new Map<DeedName, () => void>();

  /** @param again what was done in another life with this seed */
  constructor(seed: number, again: readonly Deed[], parts: WorldParts) {
    this.life = new Life(watchedSetting(seed), new Draws(seed).fork("life"), parts);
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
    if (this.isClosed) return false;
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
    const given = this.#course.give(DEEDS[name]);
    if (LASTING.includes(name)) this.#lasting.set(name, given);
  }

  verdict(): Verdict {
    return this.#course.end();
  }
}
