/** Makes Unix sockets that have their final owner and mode from the moment they appear. */
import { once } from "./ports/events.ts";
import { chmodSync, chownSync, renameSync, rmSync, type Stats, statSync } from "./ports/fs.ts";
import type { Server } from "./ports/net.ts";
import { withUmask } from "./umask.ts";

export interface SocketRights {
  readonly mode: number;
  /** Owner; left out: this process's user. */
  readonly uid?: number;
}

/** The temporary name of a socket until it is renamed. */
export function nameBeforeRename(socket: string): string {
  return `${socket}.${process.pid}`;
}

/**
 * Listens on a Unix socket, which is bound under a strict umask and a temporary name, and then renamed. So it
 * has its final mode when it appears, and it replaces a socket that was left behind. Node removes only the
 * name that it bound, so it cannot remove the socket of a later process.
 * @returns the file that other processes now find under that name
 */
export async function listenOnSocket(
  server: Server,
  socket: string,
  { mode, uid }: SocketRights,
  backlog?: number,
): Promise<Stats> {
  const bound = nameBeforeRename(socket);
  rmSync(bound, { force: true });
  await listening(server, () => {
    // listen() makes the file before it returns, so processes started while we wait do not inherit the mask.
    withUmask(0o177, () => server.listen({ path: bound, backlog }));
  });
  if (uid !== undefined) chownSync(bound, uid, -1);
  chmodSync(bound, mode);
  const file = statSync(bound);
  renameSync(bound, socket);
  return file;
}

/** @throws an error if it cannot listen */
export async function listening(server: Server, listen: () => void): Promise<void> {
  const isListening = once(server, "listening");
  listen();
  await isListening;
}
