/**
 * Finding S7 (docs/security.md): strangers hold as many connections as possible, over the socket and the
 * loopback port. Root and users must still get in.
 */
import { type Attack, type Outcome, Tally } from "../attack.ts";
import { ask, type Where } from "../http.ts";
import { type Scheduler, sleep } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const NOBODY = { user: "nobody", uid: 65534, gid: 65534, home: "/" };
/** More than the first release accepted from all users together. */
const CONNECTIONS = 4500;
const ANSWER_MS = 10_000;
const TRIES = { short: 5, long: 20 };

async function lockedOut(stage: Stage): Promise<Outcome> {
  const { ann } = stage.users;
  const tally = new Tally();
  const program = stage.program("connections.ts");
  for (const door of ["socket", "port"] as const) {
    const scheduler = await stage.serve({ http: true });
    const where = door === "socket" ? { socketPath: scheduler.socketOf(ann) } : scheduler.port;
    // Strangers cannot connect to Ann's own socket.
    const address = "port" in where ? String(where.port) : scheduler.socket;
    // Each connection sends half a head, nothing, or a request whose body never comes.
    for (const kind of stage.isShort ? ["half"] : ["half", "nothing", "body"]) {
      const words = [process.execPath, program, address, String(CONNECTIONS), kind];
      const flood = stage.start(NOBODY, ["bash", "-c", 'ulimit -n 8192; exec "$@"', "bash", ...words], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await new Promise((resolve) => flood.stdout?.once("data", resolve));
      for (let i = 0; i < (stage.isShort ? TRIES.short : TRIES.long); i++) {
        const got = await outcomeOf(scheduler, where, scheduler.token(ann));
        tally.attempt(got !== 200 && `${door}, ${kind}: a user's request: ${got}`);
        await sleep(100);
      }
      const root = await scheduler.tutti(undefined, "jobs");
      tally.attempt(root.status !== 0 && `${door}, ${kind}: root's tutti jobs: ${root.stderr}`);
      flood.kill("SIGKILL");
      await sleep(500);
    }
    await stage.clear();
  }
  return tally.outcome(`all requests were answered despite ${CONNECTIONS} connections of user nobody`);
}

/** The status of the answer, or why there is none. */
async function outcomeOf(_: Scheduler, where: Where, token: string): Promise<number | string> {
  try {
    const { status } = await ask(where, token, "/v1/status", { signal: AbortSignal.timeout(ANSWER_MS) });
    return status;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

export const LOCK_OUT: readonly Attack[] = [
  {
    name: "lock-out",
    finding: "S7",
    about: `${CONNECTIONS} connections of user nobody, reopened when they are closed`,
    needs: "users",
    run: lockedOut,
  },
];
