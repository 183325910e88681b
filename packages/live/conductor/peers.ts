/**
 * Connections between the conductors of a pilot, over the cluster's network: TLS 1.3 with a key that both
 * know beforehand and no certificates. Nobody without the key gets further than the handshake, and what is
 * sent is encrypted. Each conductor has a key of its own, derived from the pilot's by the name of its node,
 * so who has dialled a wrong one notices it.
 *
 * The port follows from key and node, so nobody has to be asked for it, and a conductor that was started
 * again has the same one. If another program has taken it, the next one is used.
 */
import { readText } from "@tutti/host/files.ts";
import { createHash } from "@tutti/host/ports/crypto.ts";
import type { Socket } from "@tutti/host/ports/net.ts";
import { join } from "@tutti/host/ports/path.ts";
import { connect, createServer, type Server, type TLSSocket } from "@tutti/host/ports/tls.ts";

/** File in a conductor's folder, written by the keeper. Without it, there are no connections. */
const KEY_FILE = "key";
const KEY = /^[0-9a-f]{64}$/;
/** Below the ports that systems give to connections (32,768 and more). */
const FIRST_PORT = 20_480;
const PORTS = 10_240;
const CANDIDATES = 4;
/** Strangers who only connect keep others out for no longer than this. */
const HANDSHAKE_MS = 3000;
const MAX_HANDSHAKES = 16;
const DIAL_MS = 3000;
const LISTEN_AGAIN_MS = 5000;
const TLS = {
  ciphers: "TLS_AES_128_GCM_SHA256",
  minVersion: "TLSv1.3",
  maxVersion: "TLSv1.3",
} as const;

/** The key of a pilot, in hexadecimal digits. */
export function pilotKeyIn(home: string): string | undefined {
  const key = readText(join(home, KEY_FILE), "latin1")?.trim();
  return key !== undefined && KEY.test(key) ? key : undefined;
}

/** A digest that only those can compute who have the key. The key's length is fixed. */
function derived(key: string, what: string, node: string): Buffer {
  return createHash("sha256").update(`${key} ${what} ${node}`).digest();
}

function portsOf(key: string, node: string): number[] {
  return Array.from(
    { length: CANDIDATES },
    (_, i) => FIRST_PORT + (derived(key, `port ${i}`, node).readUInt32BE() % PORTS),
  );
}

/** Where the conductor of a node accepts others of its pilot. */
export class PeerDoor {
  readonly #key: string;
  readonly #node: string;
  readonly #accept: (socket: TLSSocket) => void;
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Who has connected and has not shown the key yet. */
  readonly #handshakes = new Set<string>();

  constructor(key: string, node: string, accept: (socket: TLSSocket) => void) {
    this.#key = key;
    this.#node = node;
    this.#accept = accept;
    this.#listen(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#server?.close();
  }

  #listen(candidate: number): void {
    const psk = derived(this.#key, "psk", this.#node);
    const options = { ...TLS, handshakeTimeout: HANDSHAKE_MS, pskCallback: () => psk };
    const server = createServer(options, (socket) => {
      this.#handshakes.delete(addressOf(socket));
      socket.setNoDelay();
      this.#accept(socket);
    });
    server.on("connection", (socket) => {
      const address = addressOf(socket);
      if (this.#handshakes.size >= MAX_HANDSHAKES) socket.destroy();
      else this.#handshakes.add(address);
      socket.once("close", () => this.#handshakes.delete(address));
    });
    server.on("tlsClientError", (_error, socket) => socket.destroy());
    server.on("error", () => {
      // Another program has the port, perhaps only for a while.
      const next = (candidate + 1) % CANDIDATES;
      this.#timer = setTimeout(() => this.#listen(next), next === 0 ? LISTEN_AGAIN_MS : 0);
    });
    server.listen(portsOf(this.#key, this.#node)[candidate]);
    this.#server = server;
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * Connects to the conductor of another node.
 * @param onOpen called once with the connection, or with why there is none
 * @returns a function that ends the connection, or the attempt
 */
export function dialPeer(
  key: string,
  node: string,
  onOpen: (result: TLSSocket | { readonly because: string }) => void,
): () => void {
  const psk = derived(key, "psk", node);
  let socket: TLSSocket | undefined;
  let isOver = false;
  const finish = (result: TLSSocket | { readonly because: string }) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    onOpen(result);
  };
  const timer = setTimeout(() => {
    socket?.destroy();
    finish({ because: `no answer from ${node} for ${DIAL_MS / 1000} s` });
  }, DIAL_MS);
  const tryNext = ([port, ...others]: readonly number[], problem: string) => {
    if (isOver) return;
    if (port === undefined) {
      finish({ because: problem });
      return;
    }
    const options = {
      ...TLS,
      host: node,
      port,
      pskCallback: () => ({ psk, identity: "tutti" }),
      // There are no certificates: the key proves who it is.
      checkServerIdentity: () => undefined,
    };
    const present = connect(options, () => {
      present.removeAllListeners("error");
      present.setNoDelay();
      finish(present);
    });
    socket = present;
    present.once("error", (error) => {
      present.destroy();
      tryNext(others, error.message);
    });
  };
  tryNext(portsOf(key, node), "");
  return () => {
    // What was written is sent first.
    if (isOver) socket?.destroySoon();
    else socket?.destroy();
    isOver = true;
    clearTimeout(timer);
  };
}
