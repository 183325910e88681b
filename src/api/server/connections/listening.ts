/** Listeners: Unix sockets, and a port of the loopback address. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { InputError } from "../../../core/errors.ts";
import { listening, listenOnSocket, nameBeforeRename, type SocketRights } from "../../../host/unix-socket.ts";

/** Bytes of sun_path, less the NUL. */
const MAX_SOCKET_PATH = 107;
/** Connections that wait until they are taken; the kernel takes no more than net.core.somaxconn, which is 4096. */
const BACKLOG = 4096;

/** A listener that gives its connections away, as an HTTP server wants them. */
export function makeListener(take: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, take);
}

/** Listens on a Unix socket that clients find by its path. @returns its inode */
export async function listenForClients(
  server: Server,
  socket: string,
  rights: SocketRights,
): Promise<number> {
  if (Buffer.byteLength(nameBeforeRename(socket)) > MAX_SOCKET_PATH) {
    throw new InputError(
      `Cannot listen on "${socket}": the path is too long for a socket, expected at most ${MAX_SOCKET_PATH - 9} bytes; set TUTTI_SOCKET`,
    );
  }
  return (await listenOnSocket(server, socket, rights, BACKLOG)).ino;
}

/** @returns the port: the first of these that is free */
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
    `Cannot listen on port ${ports.at(-1)} of 127.0.0.1: another program does, expected a free one; choose another with --port, or 0 for any`,
  );
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
