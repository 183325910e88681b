/** Unix sockets that have their final owner and mode when they appear. */
import { once } from "node:events";
import { chmodSync, chownSync, renameSync, rmSync, type Stats, statSync } from "node:fs";
import type { Server } from "node:net";
import { withUmask } from "./umask.ts";

export interface SocketRights {
  readonly mode: number;
  /** Whose it is; left out: ours. */
  readonly uid?: number;
}

/** The name that a socket has until it is in place. */
export function nameBeforeRename(socket: string): string {
  return `${socket}.${process.pid}`;
}

/**
 * Listens on a Unix socket: bind makes it under a mask and another name, and it is renamed. So it has its final mode when it appears, it
 * takes the place of one that was left behind, and Node, which removes the name it bound, cannot remove that of a later process.
 * @returns the file that others now find at that name
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
    // The name is made within this call: what is started while we wait does not inherit the mask.
    withUmask(0o177, () => server.listen({ path: bound, ...(backlog !== undefined && { backlog }) }));
  });
  if (uid !== undefined) chownSync(bound, uid, -1);
  chmodSync(bound, mode);
  const file = statSync(bound);
  renameSync(bound, socket);
  return file;
}

/** @throws Error when it cannot listen */
export async function listening(server: Server, listen: () => void): Promise<void> {
  const isListening = once(server, "listening");
  listen();
  await isListening;
}
