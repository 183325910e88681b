/**
 * Findings R5 and R7 (docs/security.md): the state folder or the socket is removed while the scheduler runs.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { StatusAnswer } from "@tutti/protocol/schema.ts";
import { describeProcess } from "../../test/leftovers.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { type Scheduler, ServeFailed, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

/** The scheduler checks once a second, so this is generous. */
const NOTICE_MS = 5000;
const END_MS = 20_000;

const REMOVALS: Readonly<Record<string, (scheduler: Scheduler) => void>> = {
  "rm -rf of the state": ({ state }) => rmSync(state, { recursive: true, force: true }),
  "the state renamed": ({ state }) => renameSync(state, `${state}.away`),
  "tutti.db* removed": ({ state }) => {
    for (const rest of ["", "-wal", "-shm"]) rmSync(join(state, `tutti.db${rest}`), { force: true });
  },
};

async function removedState(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  for (const { name, options, what } of stage.withModes(Object.entries(REMOVALS))) {
    const [how, remove] = what;
    const scheduler = await stage.serve(options);
    const long = await scheduler.submit(options.as, "sleep 5000");
    await scheduler.running(long);
    remove(scheduler);
    const where = `${name}, ${how}`;
    const trouble = await troubleOf(scheduler, NOTICE_MS);
    tally.attempt(trouble === undefined && `${where}: status reports no trouble`);
    const answer = await scheduler.post(options.as, [{ command: ["true"] }]).catch(() => undefined);
    tally.attempt(
      answer?.status === 201 && `${where}: a submit is acknowledged, but nothing of it is on disk`,
    );
    await scheduler.stop("SIGKILL");
    let said: string;
    try {
      await scheduler.start();
      const { status, stdout, stderr } = await scheduler.tutti(options.as, "down", "--kill");
      said = `down ended with ${status}: ${stdout}${stderr}`;
    } catch (error) {
      if (!(error instanceof ServeFailed)) throw error;
      said = error.message;
    }
    const lastMs = Date.now() + END_MS;
    while (scheduler.leftovers.processes().length > 0 && Date.now() < lastMs) await sleep(100);
    const left = scheduler.leftovers.processes().map(describeProcess);
    tally.attempt(
      left.length > 0 && `${where}: tutti down --kill leaves these running: ${left.join(", ")}; ${said}`,
    );
    await stage.clear();
    rmSync(`${scheduler.state}.away`, { recursive: true, force: true });
  }
  return tally.outcome("the scheduler notices it and refuses submits; no process is left");
}

async function troubleOf(scheduler: Scheduler, withinMs: number): Promise<string | undefined> {
  const lastMs = Date.now() + withinMs;
  while (Date.now() < lastMs) {
    const status = await scheduler.status().catch((): StatusAnswer | undefined => undefined);
    // A scheduler that has ended with a message has noticed it, too.
    if (status === undefined) return "it has ended";
    if (status.trouble !== undefined) return status.trouble;
    await sleep(100);
  }
  return undefined;
}

async function removedSocket(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  for (const { name, options } of stage.modes) {
    const scheduler = await stage.serve(options);
    const folder = join(scheduler.folder, "run");
    const token = scheduler.token();
    for (const path of [scheduler.socket, folder]) {
      rmSync(path, { recursive: true, force: true });
      const lastMs = Date.now() + NOTICE_MS;
      while (!existsSync(scheduler.socket) && Date.now() < lastMs) await sleep(100);
      const { status } = await scheduler.tutti(options.as, "status");
      tally.attempt(
        status !== 0 &&
          `${name}: ${path === folder ? "folder" : "socket"} removed: tutti status ends with ${status}`,
      );
      if (status !== 0) break;
    }
    tally.attempt(
      existsSync(folder) && token !== scheduler.token() && `${name}: the token is not the same as before`,
    );
    await stage.clear();
  }
  return tally.outcome("socket and folder come back");
}

export const REMOVED: readonly Attack[] = [
  {
    name: "state-removed",
    finding: "R5",
    about: "while a job runs, the state folder is removed or renamed, or the database is removed",
    needs: "nothing",
    run: removedState,
  },
  {
    name: "socket-removed",
    finding: "R7",
    about: "the socket is removed, and then its folder",
    needs: "nothing",
    run: removedSocket,
  },
];
