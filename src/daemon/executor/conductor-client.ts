/**
 * The front end's end of the wire to the conductor, as an interface: conductor/client.ts speaks it over the Unix socket, the
 * fake below lets tests play the conductor without a process.
 *
 * `send` never throws and never blocks. What is sent while there is no connection is dropped: after each `state` (the answer to the
 * hello that a client sends by itself on every connection) the front end says again what it wants, which the protocol allows.
 */
import type { FromConductor, ToConductor } from "../../protocol/conductor.ts";

/** Takes a listener away again. */
export type Unlisten = () => void;

export interface ConductorClient {
  /** True from the conductor's `state` until the connection is lost. */
  readonly connected: boolean;
  send(message: ToConductor): void;
  /** Called for every message, beginning with the `state` of each connection. */
  onMessage(listener: (message: FromConductor) => void): Unlisten;
  /** Called when the connection is lost, with a reason for people; the client connects again by itself. */
  onDisconnect(listener: (reason: string) => void): Unlisten;
  /** Lets go of the connection, not of the conductor, which goes on. */
  close(): void;
}

/** A conductor played by a test: keeps what was sent, says what the test tells it to. */
export class FakeConductorClient implements ConductorClient {
  connected = false;
  /** What the front end sent while connected, oldest first. */
  readonly sent: ToConductor[] = [];
  readonly #onMessage = new Set<(message: FromConductor) => void>();
  readonly #onDisconnect = new Set<(reason: string) => void>();

  send(message: ToConductor): void {
    if (this.connected) this.sent.push(message);
  }

  onMessage(listener: (message: FromConductor) => void): Unlisten {
    this.#onMessage.add(listener);
    return () => this.#onMessage.delete(listener);
  }

  onDisconnect(listener: (reason: string) => void): Unlisten {
    this.#onDisconnect.add(listener);
    return () => this.#onDisconnect.delete(listener);
  }

  close(): void {
    this.connected = false;
  }

  /** The conductor says this to the front end; a `state` opens the connection. */
  say(message: FromConductor): void {
    if (message.type === "state") this.connected = true;
    for (const listener of [...this.#onMessage]) listener(message);
  }

  /** The connection breaks. */
  drop(reason: string): void {
    this.connected = false;
    for (const listener of [...this.#onDisconnect]) listener(reason);
  }
}
