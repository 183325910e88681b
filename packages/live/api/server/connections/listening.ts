/** Listens on Unix sockets and on a port of the loopback address. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { listening, listenOnSocket, nameBeforeRename, type SocketRights } from "@tutti/host/unix-socket.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";

/** Size of sun_path in bytes, without the NUL. */
const MAX_SOCKET_PATH = 107;
/** Connections that wait to be accepted; the kernel's own limit, net.core.somaxconn, is 4096. */
const BACKLOG = 4096;

/** A listener that passes its connections on, with the options that an HTTP server needs. */
export function makeListener(take: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, take);
}

/** @throws InputError if the path is too long for a socket */
export function checkSocketPath(socket: string): void {
  if (Buffer.byteLength(nameBeforeRename(socket)) <= MAX_SOCKET_PATH) return;
  throw new InputError(
    `Cannot listen on "${socket}": the path is too long for a socket, expected at most ${MAX_SOCKET_PATH - 9} bytes; set TUTTI_SOCKET to a shorter path`,
  );
}

/** Listens on a Unix socket that clients find by its path. @returns its inode */
export async function listenForClients(
  server: Server,
  socket: string,
  rights: SocketRights,
): Promise<number> {
  checkSocketPath(socket);
  return (await listenOnSocket(server, socket, rights, BACKLOG)).ino;
}

/** @returns the first of these ports that is free */
export async function listenOnLoopback(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    try {
      await listening(server, () => server.listen({ host: "127.0.0.1", port, backlog: BACKLOG }));
      return (server.address() as AddressInfo).port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  throw new InputError(
    `Cannot listen on port ${ports.at(-1)} of 127.0.0.1: another program uses it, expected a free port; choose another with --port, or 0 for any`,
  );
}

/** Whether a process listens on a socket. If no process does, a killed front end left the file behind. */
export function isAnswered(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve(true);
    });
    // EAGAIN: a process listens, but its queue of connections is full.
    connection.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "EAGAIN"));
  });
}

/** Closes a listener; resolves when its connections are closed. */
export function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
