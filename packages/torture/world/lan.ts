/**
 * The network between machines: connections whose messages arrive later and in order. What may go wrong with
 * them, as with TCP:
 *
 *   its process ends            the other end hears of it
 *   the power of a machine      nobody hears of it; once that machine is back, a sender finds out
 *   a machine is cut off        messages wait until it is back; after 15 minutes the sender gives up
 *   connections are broken      both ends hear of it
 */
import type { Machine, Process, Random, Timeline } from "./contract.ts";

/** Who has an end of a connection. All calls are made while the process may run. */
export interface Peer<Message> {
  readonly process: Process;
  receive(message: Message): void;
  /** The other process has closed the connection, or has ended. */
  closed(): void;
  /** The connection is lost. */
  broken(): void;
}

const LEAST_DELAY_US = 60;
const USUAL_DELAY_US = 300;
const SLOW_CHANCE = 0.01;
const SLOW_DELAY_US = 50_000;
const GIVE_UP_US = 900_000_000;

export class Lan {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #cutOff = new Set<Machine>();
  readonly #ends = new Set<LanEnd<never>>();

  constructor(timeline: Timeline, random: Random) {
    this.#timeline = timeline;
    this.#random = random;
  }

  connect<Message>(one: Peer<Message>, other: Peer<Message>): readonly [LanEnd<Message>, LanEnd<Message>] {
    const ends = [new LanEnd(this, one), new LanEnd(this, other)] as const;
    ends[0].other = ends[1];
    ends[1].other = ends[0];
    for (const end of ends) this.#ends.add(end as LanEnd<never>);
    return ends;
  }

  /** The cable of a machine is pulled out, or is back. */
  cutOff(machine: Machine, isCutOff: boolean): void {
    if (isCutOff) this.#cutOff.add(machine);
    else this.#cutOff.delete(machine);
    for (const end of this.#ends) end.flush();
  }

  /** All connections of a machine break. */
  breakAll(machine: Machine): void {
    for (const end of [...this.#ends]) if (end.machine === machine) end.breakOff();
  }

  isCutOff(machine: Machine): boolean {
    return this.#cutOff.has(machine);
  }

  /** Whether somebody else would get an answer of it. */
  reaches(machine: Machine): boolean {
    return machine.isOn && !machine.isSuspended && !this.isCutOff(machine);
  }

  forget(end: LanEnd<never>): void {
    this.#ends.delete(end);
  }

  get nowUs(): number {
    return this.#timeline.nowUs;
  }

  delayUs(): number {
    const most = this.#random.chance(SLOW_CHANCE) ? SLOW_DELAY_US : USUAL_DELAY_US;
    return LEAST_DELAY_US + this.#random.below(most);
  }

  at(atUs: number, call: () => void): void {
    this.#timeline.at(atUs, call);
  }
}

/** One end of a connection. */
export class LanEnd<Message> {
  other!: LanEnd<Message>;
  readonly #lan: Lan;
  readonly #peer: Peer<Message>;
  /** What could not be sent yet. */
  #held: ((peer: Peer<Message>) => void)[] = [];
  #heldSinceUs = 0;
  /** When the last thing sent arrives at the other end. */
  #arrivesUs = 0;
  #isOver = false;
  /** Its machine has lost power since: it knows of no connection. */
  #isGone = false;

  constructor(lan: Lan, peer: Peer<Message>) {
    this.#lan = lan;
    this.#peer = peer;
  }

  get machine(): Machine {
    return this.#peer.process.machine;
  }

  send(message: Message): void {
    if (!this.#isOver) this.#send((peer) => peer.receive(message));
  }

  /** To be called, too, when its process has ended. */
  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.machine.isOn) this.#send((peer) => peer.closed());
    else {
      this.#isGone = true;
      this.#held = [];
    }
    this.#forgetIfDone();
  }

  breakOff(): void {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#held = [];
    this.#lan.forget(this as LanEnd<never>);
    if (wasOver) return;
    this.#lan.at(this.#lan.nowUs + this.#lan.delayUs(), () => this.#run((peer) => peer.broken()));
    this.other.breakOff();
  }

  /** Sends what waits, if it can be sent now. */
  flush(): void {
    if (this.#held.length === 0 || this.#isBlocked()) return;
    for (const event of this.#held.splice(0)) this.#send(event);
    this.#forgetIfDone();
  }

  #forgetIfDone(): void {
    if (this.#isOver && this.#held.length === 0) this.#lan.forget(this as LanEnd<never>);
  }

  #send(event: (peer: Peer<Message>) => void): void {
    const { nowUs } = this.#lan;
    if (this.#isBlocked()) {
      if (this.#held.length === 0) this.#heldSinceUs = nowUs;
      this.#held.push(event);
      if (nowUs - this.#heldSinceUs > GIVE_UP_US) this.breakOff();
    } else if (this.other.#isGone) this.breakOff();
    else {
      this.#arrivesUs = Math.max(this.#arrivesUs, nowUs + this.#lan.delayUs());
      this.#lan.at(this.#arrivesUs, () => this.other.#run(event));
    }
  }

  #isBlocked(): boolean {
    const { machine } = this.other;
    return !machine.isOn || this.#lan.isCutOff(machine) || this.#lan.isCutOff(this.machine);
  }

  #run(event: (peer: Peer<Message>) => void): void {
    const { process } = this.#peer;
    process.machine.deliver(process, () => event(this.#peer));
  }
}
