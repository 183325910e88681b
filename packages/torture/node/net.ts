/**
 * Unix sockets of simulated programs. Bytes arrive after a delay, in order, and may come in pieces. A
 * connection ends with the process of either side.
 */
import type { Files, Inode, Process, Random, Timeline } from "../world/contract.ts";
import { EventEmitter } from "./events.ts";
import type { Stepper } from "./steps.ts";
import { Stream } from "./streams.ts";

/** What the network needs of a program that uses it. */
export interface NetUser {
  readonly process: Process;
  /** Runs a call in the program, once its process may run. */
  run(call: () => void): void;
  soon(call: () => void): void;
  readonly step: Stepper;
  toBytes(chunk: string | Uint8Array): Uint8Array;
  /** Calls when the process has ended. */
  onEnd(call: () => void): void;
}

/** Bytes that the kernel takes before a writer has to wait. */
const KERNEL_BYTES = 200_000;
const LEAST_DELAY_US = 15;
const USUAL_DELAY_US = 120;
const SLOW_CHANCE = 0.01;
const SLOW_DELAY_US = 20_000;
const PIECES_CHANCE = 0.05;

/** All sockets of a world. */
export class Network {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #listening = new Map<Inode, Server>();

  constructor(timeline: Timeline, random: Random) {
    this.#timeline = timeline;
    this.#random = random;
  }

  /** `node:net` of a program. */
  portFor(user: NetUser) {
    return {
      Socket: Stream,
      Server,
      createServer: (onConnection?: (socket: Stream) => void) => new Server(this, user, onConnection),
      createConnection: (to: string | { readonly path: string }) =>
        this.#connect(user, typeof to === "string" ? to : to.path),
      connect: (to: string | { readonly path: string }) =>
        this.#connect(user, typeof to === "string" ? to : to.path),
    };
  }

  listen(server: Server, inode: Inode): void {
    this.#listening.set(inode, server);
  }

  stopListening(inode: Inode): void {
    this.#listening.delete(inode);
  }

  #connect(user: NetUser, path: string): Stream {
    const stream = new Stream(user.soon, user.toBytes);
    const { files } = user.process.machine;
    const fail = (code: string) => {
      const error = Object.assign(new Error(`connect ${code} ${path}`), {
        code,
        syscall: "connect",
        address: path,
      });
      user.soon(() => stream.fail(error));
    };
    let inode: Inode;
    try {
      inode = files.find(user.process, path);
      files.access(user.process, path, 2);
    } catch (error) {
      fail((error as { code?: string }).code ?? "ENOENT");
      return stream;
    }
    const server = this.#listening.get(inode);
    if (server === undefined) {
      fail(inode.kind === "socket" ? "ECONNREFUSED" : "ENOTSOCK");
      return stream;
    }
    const [near, far] = this.#ends(user, server.user);
    near.attachTo(stream);
    this.#after(() => {
      if (!server.listening) return near.breakOff("ECONNREFUSED");
      user.run(() => stream.emit("connect"));
      server.user.run(() => {
        if (!server.listening) return far.close();
        const accepted = new Stream(server.user.soon, server.user.toBytes);
        far.attachTo(accepted);
        server.emit("connection", accepted);
      });
    });
    return stream;
  }

  /** A channel between two programs that has no name. */
  pair(one: NetUser, other: NetUser): [Stream, Stream] {
    const ends = this.#ends(one, other);
    const streams = [one, other].map((user) => new Stream(user.soon, user.toBytes)) as [Stream, Stream];
    for (const [i, end] of ends.entries()) end.attachTo(streams[i]);
    return streams;
  }

  #ends(one: NetUser, other: NetUser): [End, End] {
    const near = new End(this, one);
    const far = new End(this, other);
    near.other = far;
    far.other = near;
    return [near, far];
  }

  delayUs(): number {
    const random = this.#random;
    const most = random.chance(SLOW_CHANCE) ? SLOW_DELAY_US : USUAL_DELAY_US;
    return LEAST_DELAY_US + random.below(most);
  }

  /** Where a chunk of that many bytes is cut in two; 0: nowhere. */
  cut(bytes: number): number {
    return bytes > 1 && this.#random.chance(PIECES_CHANCE) ? this.#random.between(1, bytes - 1) : 0;
  }

  get nowUs(): number {
    return this.#timeline.nowUs;
  }

  at(atUs: number, call: () => void): void {
    this.#timeline.at(atUs, call);
  }

  #after(call: () => void): void {
    this.at(this.nowUs + this.delayUs(), call);
  }
}

/** One end of a connection. */
class End {
  other!: End;
  readonly #network: Network;
  readonly #user: NetUser;
  #stream: Stream | undefined;
  /** Came before somebody was there to take it. */
  readonly #early: ((stream: Stream) => void)[] = [];
  /** When the last thing sent arrives at the other end. */
  #arrivesUs = 0;
  /** Bytes sent that the other program has not received. */
  waiting = 0;
  #isOver = false;
  #isFinished = false;

  constructor(network: Network, user: NetUser) {
    this.#network = network;
    this.#user = user;
    user.onEnd(() => this.close());
  }

  attachTo(stream: Stream): void {
    this.#stream = stream;
    const end = this;
    stream.attach({
      write: (bytes) => this.#user.step("send", () => this.#send(bytes)),
      get waiting() {
        return Math.max(0, end.waiting - KERNEL_BYTES);
      },
      finish: () => this.#finish(),
      close: () => this.close(),
    });
    for (const event of this.#early.splice(0)) event(stream);
  }

  #send(bytes: Uint8Array): void {
    if (this.#isFinished || bytes.length === 0) return;
    const at = this.#network.cut(bytes.length);
    for (const piece of at === 0 ? [bytes] : [bytes.subarray(0, at), bytes.subarray(at)]) {
      this.waiting += piece.length;
      this.#toOther((stream) => {
        this.waiting -= piece.length;
        stream.receive(piece);
      });
    }
  }

  #finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#toOther((stream) => stream.receiveEnd());
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#finish();
  }

  /** The connection fails here with that error, and ends there. */
  breakOff(code: string): void {
    const stream = this.#stream;
    this.#user.run(() => stream?.fail(Object.assign(new Error(`read ${code}`), { code, syscall: "read" })));
    this.close();
  }

  #toOther(event: (stream: Stream) => void): void {
    this.#arrivesUs = Math.max(this.#arrivesUs, this.#network.nowUs + this.#network.delayUs());
    const { other } = this;
    this.#network.at(this.#arrivesUs, () => other.#user.run(() => other.#take(event)));
  }

  #take(event: (stream: Stream) => void): void {
    if (this.#stream === undefined) this.#early.push(event);
    else event(this.#stream);
  }
}

/** A server on a Unix socket. */
class Server extends EventEmitter {
  listening = false;
  readonly user: NetUser;
  readonly #network: Network;
  #inode: Inode | undefined;
  #path = "";

  constructor(network: Network, user: NetUser, onConnection?: (socket: Stream) => void) {
    super();
    this.#network = network;
    this.user = user;
    if (onConnection !== undefined) this.on("connection", onConnection);
    user.onEnd(() => this.#stop());
  }

  listen(at: string | { readonly path: string }, call?: () => void): this {
    this.#path = typeof at === "string" ? at : at.path;
    if (call !== undefined) this.once("listening", call);
    try {
      this.#inode = this.user.process.machine.files.makeSocket(this.user.process, this.#path);
    } catch (error) {
      this.user.soon(() => this.emit("error", error));
      return this;
    }
    this.listening = true;
    this.#network.listen(this, this.#inode);
    this.user.soon(() => this.emit("listening"));
    return this;
  }

  close(call?: (error?: Error) => void): this {
    if (this.listening) {
      // As Node does: the name that it was bound to goes, whatever is there now.
      const { files }: { files: Files } = this.user.process.machine;
      try {
        files.unlink(this.user.process, this.#path);
      } catch {}
    }
    this.#stop();
    this.user.soon(() => {
      call?.();
      this.emit("close");
    });
    return this;
  }

  #stop(): void {
    if (this.#inode !== undefined) this.#network.stopListening(this.#inode);
    this.#inode = undefined;
    this.listening = false;
  }

  address(): string {
    return this.#path;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
