/** Listeners: Unix sockets that have their final owner and mode when they appear, and a port of the loopback address. */
import { chmodSync, chownSync, lstatSync, renameSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { InputError } from "../core/errors.ts";
import { withUmask } from "./places.ts";

/** Bytes of sun_path, less the NUL. */
const LONGEST_SOCKET = 107;
/** Connections that wait until they are taken; the kernel takes no more than net.core.somaxconn, which is 4096. */
const BACKLOG = 4096;

export interface SocketRights {
  readonly mode: number;
  /** Whose it is; left out: ours. */
  readonly uid?: number;
}

/** A listener that gives its connections away, as an HTTP server wants them. */
export function makeListener(take: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, take);
}

/**
 * Listens on a Unix socket. It has its final mode when it appears: bind makes it under the umask, with another name, and it is renamed. So it also takes
 * the place of one that was left behind, and Node, which takes away the name it bound, cannot take that of a later front end.
 * @returns its inode
 */
export async function listenOnSocket(
  server: Server,
  socket: string,
  { mode, uid }: SocketRights,
): Promise<number> {
  const bound = `${socket}.${process.pid}`;
  if (Buffer.byteLength(bound) > LONGEST_SOCKET) {
    throw new InputError(
      `Cannot listen on "${socket}": the path is too long for a socket, expected at most ${LONGEST_SOCKET - 9} bytes; set TUTTI_SOCKET`,
    );
  }
  rmSync(bound, { force: true });
  await listening(server, () => {
    withUmask(0o177, () => server.listen({ path: bound, backlog: BACKLOG }));
  });
  if (uid !== undefined) chownSync(bound, uid, -1);
  chmodSync(bound, mode);
  const { ino } = lstatSync(bound);
  renameSync(bound, socket);
  return ino;
}

/** @returns the port */
export async function listenOnLoopback(server: Server, ports: readonly number[]): Promise<number> {
  for (const [i, port] of ports.entries()) {
    try {
      await listening(server, () => server.listen({ host: "127.0.0.1", port, backlog: BACKLOG }));
      return (server.address() as AddressInfo).port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
      if (i === ports.length - 1) {
        throw new InputError(
          `Cannot listen on port ${port} of 127.0.0.1: another program does, expected a free one; choose another with --port, or 0 for any`,
        );
      }
    }
  }
  throw new Error("Broken invariant: there is no port to listen on");
}

/** Whether somebody answers at a socket; one that nobody answers at was left by a front end that was killed. */
export function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    // Somebody listens there, and many ask.
    connection.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
}

/** Ends a listener; resolves when its connections are closed. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => {
      server.off("listening", onListening);
      reject(error);
    };
    const onListening = () => {
      server.off("error", onError);
      resolve();
    };
    server.once("error", onError).once("listening", onListening);
    listen();
  });
}
