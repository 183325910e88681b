/**
 * Streams of a simulated program: sockets and pipes. What the live part asks of Node's streams and no more:
 * flowing reads, writes that queue, an end in each direction.
 */
import { EventEmitter } from "./events.ts";

/** The other side of a stream: a pipe or a connection. */
interface Transport {
  /** Takes all bytes. */
  write(bytes: Uint8Array): void;
  /** Bytes that the kernel has not taken yet. */
  readonly waiting: number;
  /** Nothing more will be written, after what waits. */
  finish(): void;
  /** Both directions end now. */
  close(): void;
}

type Callback = (error?: Error | null) => void;

export class Stream extends EventEmitter {
  destroyed = false;
  /** Node's name. */
  fd: number | undefined;
  readonly #toBytes: (chunk: string | Uint8Array) => Uint8Array;
  readonly #soon: (call: () => void) => void;
  protected transport: Transport | undefined;
  #unread: Uint8Array[] = [];
  #flows = false;
  #hasEnd = false;
  #toldEnd = false;
  #finished = false;
  #decoder: TextDecoder | undefined;

  /** @param soon runs a call of the program after the present one */
  constructor(soon: (call: () => void) => void, toBytes: (chunk: string | Uint8Array) => Uint8Array) {
    super();
    this.#soon = soon;
    this.#toBytes = toBytes;
  }

  attach(transport: Transport): void {
    this.transport = transport;
  }

  get writableLength(): number {
    return this.transport?.waiting ?? 0;
  }

  get writable(): boolean {
    return !this.destroyed && !this.#finished;
  }

  write(chunk: string | Uint8Array, encodingOrCall?: string | Callback, call?: Callback): boolean {
    const done = typeof encodingOrCall === "function" ? encodingOrCall : call;
    if (!this.writable || this.transport === undefined) {
      const error = Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
      this.#soon(() => {
        done?.(error);
        if (!this.destroyed) this.emit("error", error);
      });
      return false;
    }
    this.transport.write(this.#toBytes(chunk));
    if (done !== undefined) this.#soon(() => done(null));
    return this.writableLength === 0;
  }

  end(chunk?: string | Uint8Array | Callback, call?: Callback): this {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) this.write(chunk);
    if (this.#finished || this.destroyed) return this;
    this.#finished = true;
    this.transport?.finish();
    this.#soon(() => {
      (typeof chunk === "function" ? chunk : call)?.();
      this.emit("finish");
      this.#closeIfOver();
    });
    return this;
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.transport?.close();
    this.#soon(() => {
      if (error !== undefined) this.emit("error", error);
      this.emit("close", error !== undefined);
    });
    return this;
  }

  destroySoon(): void {
    this.end();
    this.#soon(() => this.destroy());
  }

  override on(event: string | symbol, listener: (...args: never[]) => void): this {
    super.on(event, listener as () => void);
    if (event === "data") this.resume();
    return this;
  }

  override once(event: string | symbol, listener: (...args: never[]) => void): this {
    super.once(event, listener as () => void);
    if (event === "data") this.resume();
    return this;
  }

  resume(): this {
    if (this.#flows) return this;
    this.#flows = true;
    this.#soon(() => this.#flow());
    return this;
  }

  pause(): this {
    this.#flows = false;
    return this;
  }

  pipe(target: Stream, { end = true } = {}): Stream {
    this.on("data", (chunk: Uint8Array) => target.write(chunk));
    if (end) this.once("end", () => target.end());
    return target;
  }

  setEncoding(): this {
    this.#decoder = new TextDecoder();
    return this;
  }

  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }

  // Called by the transport, in the program.

  receive(bytes: Uint8Array): void {
    if (this.destroyed) return;
    this.#unread.push(bytes);
    this.#flow();
  }

  receiveEnd(): void {
    if (this.destroyed || this.#hasEnd) return;
    this.#hasEnd = true;
    this.#flow();
  }

  fail(error: Error): void {
    this.destroy(error);
  }

  #flow(): void {
    while (this.#flows && !this.destroyed) {
      const chunk = this.#unread.shift();
      if (chunk === undefined) break;
      this.emit("data", this.#decoder?.decode(chunk, { stream: true }) ?? chunk);
    }
    if (!this.#hasEnd || this.#unread.length > 0 || this.#toldEnd || this.destroyed) return;
    this.#toldEnd = true;
    this.emit("end");
    // Not half open: the other direction ends, too.
    if (!this.#finished) this.end();
    this.#closeIfOver();
  }

  #closeIfOver(): void {
    if (this.#finished && (this.#toldEnd || this.isOneWay)) this.destroy();
  }

  /** Only writes, or only reads. */
  protected get isOneWay(): boolean {
    return false;
  }
}
