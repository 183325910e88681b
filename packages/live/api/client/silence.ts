/**
 * Tells a scheduler that hangs from a request that takes long, such as `wait`: a second, cheap request is
 * answered at once unless the whole process is stopped, out of memory or waits for a disk.
 */
import { request } from "node:http";

/** When a request without an answer makes us ask, and how long that answer may take until we say so. */
const ASK_AFTER_MS = 2500;
/** A scheduler that has not even answered this for so long is given up. */
const GIVE_UP_AFTER_MS = 60_000;

interface Watcher {
  /** It has been silent for twice ASK_AFTER_MS. Called once. */
  readonly onSilence: () => void;
  readonly onGivenUp: () => void;
}

/** Watches the scheduler behind a socket until the returned function is called. */
export function watchSilence(socketPath: string, { onSilence, onGivenUp }: Watcher): () => void {
  let isSaid = false;
  let stop = askLater();

  function askLater(): () => void {
    const timer = setTimeout(() => {
      stop = ask();
    }, ASK_AFTER_MS);
    return () => clearTimeout(timer);
  }

  function ask(): () => void {
    const sayTimer = setTimeout(() => {
      if (!isSaid) onSilence();
      isSaid = true;
    }, ASK_AFTER_MS);
    const giveUpTimer = setTimeout(onGivenUp, GIVE_UP_AFTER_MS);
    const clear = () => {
      clearTimeout(sayTimer);
      clearTimeout(giveUpTimer);
      outgoing.destroy();
    };
    // Any answer will do. An error is that of the watched request, too.
    const outgoing = request({ socketPath, agent: false, path: "/", headers: { host: "localhost" } }, () => {
      clear();
      stop = askLater();
    });
    outgoing.on("error", () => {});
    outgoing.end();
    return clear;
  }

  return () => stop();
}
