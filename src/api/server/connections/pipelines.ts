/**
 * Handles one request per connection at a time. A client may send more requests before it has the answer
 * (pipelining). These requests wait in order, and no work is done for them. While any of them wait, nothing
 * more is read from the connection, so only requests that arrived in one read can wait. Their number is
 * limited per connection and in total.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Waiting requests per connection and in total; each takes a few kB. Above the limit, the connection is
 * closed.
 */
const MAX_WAITING = 512;
const MAX_WAITING_OF_ALL = 8192;

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Line {
  isBusy: boolean;
  waiting: (readonly [IncomingMessage, ServerResponse])[];
}

export class Pipelines {
  readonly #answer: Answer;
  readonly #lines = new WeakMap<Socket, Line>();
  #waiting = 0;

  constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** Whether an answer is being sent, so that nothing else may be written. */
  isBusy(socket: Socket): boolean {
    return this.#lines.get(socket)?.isBusy === true;
  }

  arrived(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { socket } = incoming;
    const line = this.#lineOf(socket);
    if (!line.isBusy) {
      this.#begin(socket, line, incoming, outgoing);
      return;
    }
    if (socket.destroyed) return;
    if (line.waiting.length >= MAX_WAITING || this.#waiting >= MAX_WAITING_OF_ALL) {
      socket.destroy();
      return;
    }
    line.waiting.push([incoming, outgoing]);
    this.#waiting++;
    socket.pause();
  }

  #begin(socket: Socket, line: Line, incoming: IncomingMessage, outgoing: ServerResponse): void {
    line.isBusy = true;
    outgoing.once("close", () => this.#answered(socket, line));
    this.#answer(incoming, outgoing);
  }

  /** Called when the answer is sent or its client has left. */
  #answered(socket: Socket, line: Line): void {
    line.isBusy = false;
    const next = line.waiting.shift();
    if (next === undefined) return;
    this.#waiting--;
    if (socket.destroyed) return;
    if (line.waiting.length === 0) socket.resume();
    this.#begin(socket, line, ...next);
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket);
    if (known !== undefined) return known;
    const line: Line = { isBusy: false, waiting: [] };
    this.#lines.set(socket, line);
    socket.once("close", () => {
      this.#waiting -= line.waiting.length;
      line.waiting = [];
    });
    return line;
  }
}
