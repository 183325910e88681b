/**
 * Passes on messages between a front end and other conductors, for one connection of a front end. It knows
 * links by the names of their nodes and nothing about what is in the messages, so links of links need no
 * table: each relay takes off one name, and puts it back on the way up.
 *
 *   from the front end:   @n5 +              connects to the conductor of n5
 *                         @n5 {"type": … }   a message for it
 *                         @n5,n6 {…}         the same for several
 *                         @n5 @n9 +          for n5, a relay itself
 *                         @n5 -              ends that connection
 *   to the front end:     @n5 +              it is connected
 *                         @n5 {"type": … }   a message of it
 *                         @n5 -REASON        it is not, or no longer
 */
import type { TLSSocket } from "@tutti/host/ports/tls.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { dialPeer } from "./peers.ts";

/** A conductor that does not read is disconnected, so that its messages do not fill the memory. */
const MAX_UNREAD_BYTES = 64 * 2 ** 20;
/**
 * Reports on slots wait for others for this time, and go with whatever goes earlier: a front end that wakes
 * up for each of a thousand nodes has nothing else to do.
 */
const REPORTS_MS = 50;
const REPORT = /^(?:@\S+ )*\{"type":"slots"/;
const LINE = /^@([A-Za-z0-9._,-]+) (.*)$/s;

interface RelayOptions {
  readonly key: string;
  /** Sends text with whole lines to the front end. */
  readonly send: (text: string) => void;
}

export class Relay {
  readonly #options: RelayOptions;
  #reports = "";
  #timer: NodeJS.Timeout | undefined;
  readonly #links = new Map<string, { readonly close: () => void; socket?: TLSSocket }>();

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  /** @returns false if the line is not for another conductor */
  receive(line: string): boolean {
    const [, nodes, rest] = LINE.exec(line) ?? [];
    if (nodes === undefined || rest === undefined) return false;
    for (const node of nodes.split(",")) {
      if (rest === "+") this.#open(node);
      else if (rest === "-") this.#close(node);
      else this.#pass(node, rest);
    }
    return true;
  }

  /** The front end is gone. */
  close(): void {
    clearTimeout(this.#timer);
    for (const node of [...this.#links.keys()]) this.#close(node);
  }

  #open(node: string): void {
    this.#close(node);
    const link: { readonly close: () => void; socket?: TLSSocket } = {
      close: dialPeer(this.#options.key, node, (result) => {
        if ("because" in result) this.#lost(node, result.because);
        else {
          link.socket = result;
          this.#sendAll(node, ["+"]);
          this.#read(node, result);
        }
      }),
    };
    this.#links.set(node, link);
  }

  #read(node: string, socket: TLSSocket): void {
    const lines = new LineReader();
    const isPresent = () => this.#links.get(node)?.socket === socket;
    let problem = "its conductor has closed the connection";
    socket.on("error", (error) => {
      problem = error.message;
    });
    socket.on("close", () => {
      if (isPresent()) this.#lost(node, problem);
    });
    socket.on("data", (chunk: Buffer) => {
      if (!isPresent()) return;
      const complete = lines.push(chunk);
      if (complete === undefined) socket.destroy();
      else if (complete.length > 0) this.#sendAll(node, complete);
    });
  }

  #sendAll(node: string, lines: readonly string[]): void {
    this.#reports += lines.map((line) => `@${node} ${line}\n`).join("");
    if (!lines.every((line) => REPORT.test(line))) this.#sendReports();
    else this.#timer ??= setTimeout(() => this.#sendReports(), REPORTS_MS);
  }

  /** With all that has waited. */
  #sendReports(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#reports;
    this.#reports = "";
    if (text !== "") this.#options.send(text);
  }

  #pass(node: string, line: string): void {
    const socket = this.#links.get(node)?.socket;
    if (socket === undefined) return;
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
    else socket.write(`${line}\n`);
  }

  #close(node: string): void {
    const link = this.#links.get(node);
    this.#links.delete(node);
    link?.close();
  }

  #lost(node: string, because: string): void {
    this.#links.delete(node);
    this.#sendAll(node, [`-${because.replace(/\s+/g, " ").trim()}`]);
  }
}
