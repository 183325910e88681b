/**
 * What jobs want, as the pilots see it: which pilots serve nothing, since when, and what to ask Slurm for
 * (kernel/core/node-plan.ts).
 *
 *   no job runs on a pilot, and none that      the pilot goes back after `idleMs`
 *   waits could start there
 *   the same, but jobs wait for others         it goes back at once, so that others can follow
 *   jobs wait for nodes that pilots have       after LOST_PATIENCE_MS nothing else starts on these pilots
 *   lost, and other jobs run there
 *
 * If nothing has started on several pilots in a row, others would not help either.
 */

import { type HeldNodes, type NodeRequest, nextRequest } from "@tutti/kernel/core/node-plan.ts";
import type { Demand } from "@tutti/live/daemon/executor/executor.ts";
import { type NodeKinds, wishOf } from "./node-kinds.ts";

/** Nodes that are lost come back to Slurm, but not to the pilot. */
export const LOST_PATIENCE_MS = 600_000;
const MAX_UNUSED = 3;
/** A pilot whose nodes have not answered for this long is of no use. */
export const UNSERVED_MS = 120_000;
/** A job that pilots in use could take may be about to start there, in its next slot for example. */
const TAKEN_PATIENCE_MS = 3000;

export interface NeedSettings {
  /** A pilot goes back after this time without work; undefined: never, and one is always asked for. */
  readonly idleMs?: number | undefined;
}

/** What a pilot in use does for jobs. */
interface Service {
  /** Jobs can have its nodes: they have answered. */
  isServing: boolean;
  /** Nodes with gangs; undefined: not known yet. */
  busyNodes: number | undefined;
  idleSinceMs: number | undefined;
  hasServed: boolean;
}

export class Need {
  readonly #settings: NeedSettings;
  readonly #kinds: NodeKinds;
  #demand: Demand | undefined;
  /** Of pilots in use, by name. */
  readonly #service = new Map<string, Service>();
  #quietSinceMs: number | undefined;
  #lostSinceMs: number | undefined;
  /** Since when some job waits all the time that pilots in use could take. */
  #takenSinceMs: number | undefined;
  /** Somebody asks for a pilot, whatever waits. */
  #isAsked = false;
  #unused = 0;

  constructor(settings: NeedSettings, kinds: NodeKinds) {
    this.#settings = settings;
    this.#kinds = kinds;
  }

  /** A pilot is in use from now on: it may have gangs. */
  begin(name: string): void {
    this.#service.set(name, {
      ...{ isServing: false, busyNodes: undefined, idleSinceMs: undefined, hasServed: false },
    });
    this.#demand = undefined;
    this.#lostSinceMs = undefined;
  }

  end(name: string): void {
    this.#service.delete(name);
  }

  /** Whether a gang runs or ends on the pilot, as far as known. */
  isBusy(name: string): boolean {
    return this.#service.get(name)?.busyNodes !== 0;
  }

  /** Whether jobs can have the pilot's nodes. */
  isServing(name: string): boolean {
    return this.#service.get(name)?.isServing === true;
  }

  busyNodes(name: string): number | undefined {
    return this.#service.get(name)?.busyNodes;
  }

  /** @param busy nodes with gangs, by pilot */
  setBusy(busy: ReadonlyMap<string, number>): void {
    for (const [name, service] of this.#service) {
      service.busyNodes = busy.get(name) ?? 0;
      if (service.busyNodes === 0 || service.hasServed) continue;
      service.hasServed = true;
      this.#unused = 0;
    }
  }

  /** @returns whether other pilots may be needed than before */
  setDemand(demand: Demand | undefined): boolean {
    const before = keyOf(this.#demand);
    this.#demand = demand;
    if (demand !== undefined) {
      const names = new Set(namesOf(demand));
      for (const [name, service] of this.#service) service.isServing = names.has(name);
    }
    return keyOf(demand) !== before;
  }

  ask(): void {
    this.#isAsked = true;
    this.#unused = 0;
  }

  /** Whether a pilot is wanted although no job needs one: somebody asks, or there must always be one. */
  get #wantsAny(): boolean {
    return this.#isAsked || this.#settings.idleMs === undefined;
  }

  /** What somebody asked for is there. */
  answered(): void {
    this.#isAsked = false;
  }

  /** Whether there may be something to ask for. */
  get wantsPilot(): boolean {
    return this.#wantsAny || (this.#demand?.wishes.length ?? 0) > 0;
  }

  /** What to ask Slurm for now. @param held all pilots @param leftNodeMs infinity: there is no limit */
  request(
    held: readonly HeldNodes[],
    leftNodeMs: number,
    nowMs: number,
  ): NodeRequest | "exhausted" | undefined {
    const isPatient = nowMs < this.#takenPatienceMs;
    const wishes = (this.#demand?.wishes ?? [])
      .map((wish) => wishOf(wish, wish.takenBy.length > 0))
      .filter(({ isTaken }) => !isTaken || !isPatient);
    const left = { leftNodeS: leftNodeMs / 1000, wantsAny: this.#wantsAny };
    return nextRequest(wishes, this.#kinds.all, held, { ...left, ...this.#kinds.bounds });
  }

  /** Whether nothing runs on the pilot, and what waits can only use others. */
  isOfNoUse(name: string): boolean {
    const wishes = this.#demand?.wishes ?? [];
    const isTaken = wishes.some(({ takenBy }) => takenBy.includes(name));
    return (
      this.isServing(name) &&
      !this.isBusy(name) &&
      !isTaken &&
      wishes.some(({ takenBy }) => takenBy.length === 0)
    );
  }

  /** Whether jobs wait for nodes that pilots in use have lost. */
  get isForLost(): boolean {
    return this.#demand?.wishes.some(({ isForLost }) => isForLost) === true;
  }

  /** Whether they have waited for so long that nothing else should start there. */
  hasWaitedForLost(nowMs: number): boolean {
    return nowMs >= (this.#lostSinceMs ?? Number.POSITIVE_INFINITY) + LOST_PATIENCE_MS;
  }

  /** Whether nothing has run on the pilot, and nothing could have, for the idle time. */
  isIdle(name: string, nowMs: number): boolean {
    return nowMs >= this.#idleAtMs(this.#service.get(name)?.idleSinceMs);
  }

  /** Whether nothing has waited or run anywhere for the idle time, so that no pilot need come. */
  isQuiet(nowMs: number): boolean {
    return nowMs >= this.#idleAtMs(this.#quietSinceMs);
  }

  #idleAtMs(sinceMs: number | undefined): number {
    return (sinceMs ?? Number.POSITIVE_INFINITY) + (this.#settings.idleMs ?? Number.POSITIVE_INFINITY);
  }

  get #takenPatienceMs(): number {
    return (this.#takenSinceMs ?? Number.POSITIVE_INFINITY) + TAKEN_PATIENCE_MS;
  }

  /** When one of these becomes true, if nothing else happens. */
  dueMs(nowMs: number): number {
    const idle = [...this.#service.values()].map(({ idleSinceMs }) => this.#idleAtMs(idleSinceMs));
    const lost = (this.#lostSinceMs ?? Number.POSITIVE_INFINITY) + LOST_PATIENCE_MS;
    const dues = [...idle, this.#idleAtMs(this.#quietSinceMs), lost, this.#takenPatienceMs];
    return Math.min(...dues.filter((ms) => ms > nowMs));
  }

  /** Notes what is idle, or waits for lost nodes, from now on. */
  note(nowMs: number): void {
    const wishes = this.#demand?.wishes;
    for (const [name, service] of this.#service) {
      const isTaken = wishes?.some(({ takenBy }) => takenBy.includes(name)) ?? true;
      if (isTaken || this.isBusy(name)) service.idleSinceMs = undefined;
      else if (service.isServing) service.idleSinceMs = Math.min(service.idleSinceMs ?? nowMs, nowMs);
      else service.idleSinceMs ??= nowMs + UNSERVED_MS;
    }
    const isBusy = [...this.#service.keys()].some((name) => this.isBusy(name));
    if (wishes?.length !== 0 || isBusy) this.#quietSinceMs = undefined;
    else this.#quietSinceMs ??= nowMs;
    if (wishes?.some(({ takenBy }) => takenBy.length > 0)) this.#takenSinceMs ??= nowMs;
    else this.#takenSinceMs = undefined;
    if (this.isForLost) this.#lostSinceMs ??= nowMs;
    else this.#lostSinceMs = undefined;
  }

  /** A pilot of no use goes back. @returns why no other one should follow */
  noUse(name: string): string | undefined {
    if (this.#service.get(name)?.hasServed || ++this.#unused < MAX_UNUSED) return undefined;
    return `nothing could start on ${MAX_UNUSED} pilots in a row, although jobs waited`;
  }
}

/** The parts of the machine that jobs have. */
function namesOf(demand: Demand | undefined): readonly string[] {
  const { parts, name } = demand?.of ?? {};
  return parts?.map((part) => part.name) ?? (name === undefined ? [] : [name]);
}

/** What decides about pilots: which jobs wait, and which pilots could take each. */
function keyOf(demand: Demand | undefined): string {
  return JSON.stringify([namesOf(demand), demand?.wishes]);
}
