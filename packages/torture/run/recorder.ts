/** Watches a life, and keeps what a timeline and a matrix show of it. It changes nothing in the life. */
import { THIS_NODE } from "@tutti/kernel/core/machine.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import type { Verdict } from "./course.ts";
import { type Life, ROOT } from "./life.ts";
import type { Picture, Recording, Run } from "./recorded.ts";
import { EPOCH_MS } from "./witness.ts";

/** Between two looks. */
const LOOK_US = 50_000;

type Matrix = Picture["matrix"];
type Gang = Matrix["rows"][number][number];

export class Recorder {
  readonly #life: Life;
  readonly #pictures: Picture[] = [];
  /** In the order of their begins; those in the matrix go on. */
  readonly #runs: Omit<Run, "toMs">[] = [];
  readonly #ends = new Map<object, number>();
  readonly #shown = new Map<number, { readonly cpus: string; readonly run: object }>();
  #lookedAtUs = Number.NEGATIVE_INFINITY;
  #text = "";

  constructor(life: Life) {
    this.#life = life;
    life.onStep = () => this.#look();
  }

  /** The last one; undefined: there was none. */
  get picture(): Picture | undefined {
    return this.#pictures.at(-1);
  }

  recording({ seed, hash, problems }: Verdict): Recording {
    const toMs = this.#life.trueMs;
    return {
      ...{ seed, hash, fromMs: EPOCH_MS, toMs, pictures: this.#pictures },
      runs: this.#runs.map((run) => ({ ...run, toMs: this.#ends.get(run) ?? toMs })),
      ...{ faults: this.#life.faults, problems },
    };
  }

  #look(): void {
    const { service, machine, setting, site } = this.#life;
    const { nowUs } = site.timeline;
    if (nowUs < this.#lookedAtUs + LOOK_US) return;
    this.#lookedAtUs = nowUs;
    if (!machine.isOn && setting.cluster === undefined) this.#goOut();
    // While the conductor is not connected, the front end does not know yet what is in the matrix.
    else if (service?.status(ROOT).conductor.connected) this.#show(service.matrix());
  }

  #goOut(): void {
    if (this.picture !== undefined) this.#show({ ...this.picture.matrix, rows: [] });
  }

  #show(matrix: Matrix): void {
    const text = JSON.stringify([matrix.rows, matrix.nodes, matrix.policy]);
    if (text === this.#text) return;
    this.#text = text;
    const atMs = this.#life.trueMs;
    this.#pictures.push({ atMs, matrix });
    const here = new Map<number, readonly [gang: Gang, row: number]>();
    for (const [row, gangs] of matrix.rows.entries())
      for (const gang of gangs) if (!here.has(gang.job)) here.set(gang.job, [gang, row]);
    for (const [job, { cpus, run }] of this.#shown) {
      const gang = here.get(job)?.[0];
      if (gang !== undefined && cpus === cpusText(gang)) continue;
      this.#ends.set(run, atMs);
      this.#shown.delete(job);
    }
    for (const [job, [gang, row]] of here) if (!this.#shown.has(job)) this.#begin(gang, row);
  }

  #begin(gang: Gang, row: number): void {
    const { job, name, cpus, nodes = [{ node: THIS_NODE, cpus }] } = gang;
    const record = this.#life.service?.job(ROOT, job);
    if (record === undefined || isRefusal(record)) return;
    const { attempt, user } = record;
    const run = { job, attempt, name, user, nodes, row, fromMs: this.#life.trueMs };
    this.#runs.push(run);
    this.#shown.set(job, { cpus: cpusText(gang), run });
  }
}

function cpusText({ cpus, nodes }: Gang): string {
  return JSON.stringify(nodes ?? cpus);
}
