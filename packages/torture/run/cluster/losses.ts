/**
 * Which attempts may be lost, or stopped and queued again, because their nodes are gone or are taken away:
 * docs/slurm.md, "When something fails". For as long as a loss goes on, these are the attempts with a part on
 * its nodes that have not ended as far as the front end has said.
 */

import { nameOf } from "../../judge/history.ts";
import type { Process } from "../../world/contract.ts";
import type { Life } from "../life.ts";

export interface Loss {
  /** Undefined: all. */
  readonly nodes: readonly string[] | undefined;
  untilMs: number;
}

const LOOK_MS = 1000;
/** A node that does not answer: silent after 3 s, lost after another 20 s; both ends may notice late. */
const NOTICED_MS = 30_000;
/** docs/slurm.md: the keeper starts a conductor again at most three times in ten minutes. */
const STARTS = 3;
const STARTS_MS = 600_000;

export class Losses {
  readonly #life: Life;
  readonly #open: Loss[] = [];
  readonly #killed = new Map<string, number[]>();
  #isLooking = false;
  /** When the last loss ended. */
  lastMs = Number.NEGATIVE_INFINITY;

  constructor(life: Life) {
    this.#life = life;
    life.onKill = (process) => this.#processKilled(process);
  }

  begin(nodes: readonly string[] | undefined): Loss {
    const loss: Loss = { nodes, untilMs: Number.POSITIVE_INFINITY };
    this.#open.push(loss);
    // Attempts of which nobody has seen a start may be lost, too.
    this.#life.wasAway = true;
    this.#note();
    if (!this.#isLooking) void this.#look();
    return loss;
  }

  /** What has caused it is over; its effects will be in a moment. */
  end(loss: Loss, afterMs = NOTICED_MS): void {
    loss.untilMs = this.#life.trueMs + afterMs;
  }

  /** Something that is over in a moment. */
  happened(nodes: readonly string[] | undefined, forMs = 2 * NOTICED_MS): void {
    this.end(this.begin(nodes), forMs);
  }

  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  isOn(node: string): boolean {
    return this.#open.some(({ nodes }) => nodes?.includes(node) !== false);
  }

  async #look(): Promise<void> {
    const life = this.#life;
    this.#isLooking = true;
    while (!life.isOver && this.#open.length > 0) {
      await life.sleep(LOOK_MS);
      this.#note();
      for (const loss of [...this.#open])
        if (life.trueMs > loss.untilMs) this.#open.splice(this.#open.indexOf(loss), 1);
      this.lastMs = life.trueMs;
    }
    this.#isLooking = false;
  }

  #note(): void {
    const { witness, records, lost, evicted } = this.#life;
    for (const start of witness.starts) {
      const name = nameOf(start);
      if (lost.has(name) || !start.nodes.some((node) => this.isOn(node))) continue;
      const record = records.get(start.job);
      if (record !== undefined && (record.attempt > start.attempt || record.endedAtMs !== undefined))
        continue;
      lost.add(name);
      evicted.add(name);
    }
  }

  #processKilled({ machine, argv }: Process): void {
    const life = this.#life;
    if (machine === life.machine || !argv[0].startsWith("tutti-conductor ")) return;
    const nowMs = life.trueMs;
    const times = (this.#killed.get(machine.name) ?? []).filter((atMs) => nowMs - atMs < STARTS_MS);
    this.#killed.set(machine.name, [...times, nowMs]);
    if (times.length >= STARTS) this.happened([machine.name], STARTS_MS);
  }
}
