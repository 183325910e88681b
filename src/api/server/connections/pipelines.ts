/**
 * One request of a connection at a time: a client may send the next ones before it has the answer (pipelining), but they wait in
 * their connection, unread and undone, in order. While some wait, nothing more is read from the connection, so these are at most what one read
 * has brought; and no client may have us keep many.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** That wait in one connection, and in all of them; each takes some kB. The connection that brings more is closed. */
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

  /** Whether an answer is under way, so that nothing may be written between. */
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

  /** The answer is out, or its client has left. */
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
