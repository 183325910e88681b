/**
 * Findings S10, R4 and S11 (docs/security.md): whether jobs get the open files of the user who starts the
 * scheduler, and whether they get the umask of the user who submits.
 */
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const NUMBERS = [3, 9, 10, 16, 17, 18, 31, 63, 77, 200, 251, 1000];

async function inherited(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const folder = stage.makeFolder("root", 0o700);
  const opens = NUMBERS.map((number) => {
    const path = join(folder, `secret${number}`);
    writeFileSync(path, "SECRET\n", { mode: 0o600 });
    return `exec ${number}<>${path}`;
  });
  const scheduler = await stage.serve({ shell: `${opens.join("; ")}; exec "$@"` });
  const script = `for n in ${NUMBERS.join(" ")}; do
      { read -r line <&$n; echo "read $n $line"; echo stolen >&$n; } 2> /dev/null; done; ls -l /proc/self/fd; true`;
  const job = await scheduler.submit(eve, script);
  await scheduler.ended(job);
  const { text } = await scheduler.ask(eve, `/v1/jobs/${job}/logs/stdout`);
  for (const number of NUMBERS) {
    const changed = readFileSync(join(folder, `secret${number}`), "utf8") !== "SECRET\n";
    tally.attempt(changed && `the job wrote to root's file by descriptor ${number}`);
    tally.attempt(
      text.includes(`read ${number} SECRET`) && `the job read root's file by descriptor ${number}`,
    );
  }
  const pids = [...(await pidsOf(scheduler)), ...scheduler.leftovers.processes()];
  for (const pid of new Set(pids)) {
    if (pid === scheduler.frontEndPid) continue;
    tally.attempt(
      openFilesOf(pid).some((path) => path.startsWith(folder)) && `process ${pid} holds root's file`,
    );
  }
  return tally.outcome("no open file reached a job, conductor or guardian");
}

/** Locks, sockets and folders instead of files. The lock must be free when the front end has ended. */
async function lockKept(stage: Stage): Promise<Outcome> {
  const tally = new Tally();
  const folder = stage.makeFolder("locks", 0o700);
  const lock = join(folder, "lock");
  for (const isPrivate of [false, true]) {
    const scheduler = await stage.serve({
      isPrivate,
      shell: `exec 200> ${lock} 201< ${folder} 202<> /dev/tcp/127.0.0.1/1 2> /dev/null; exec 200> ${lock}; flock 200; exec "$@"`,
    });
    const job = await scheduler.submit(undefined, "sleep 600");
    await scheduler.running(job);
    await scheduler.stop();
    const { status } = await stage.run(undefined, ["flock", "--nonblock", lock, "true"]);
    tally.attempt(status !== 0 && "the conductor or a job still holds the starter's lock");
    await stage.clear();
  }
  return tally.outcome("the lock was released with the end of the front end");
}

async function umasks(stage: Stage): Promise<Outcome> {
  const { ann } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  for (const umask of ["077", "027", "002"]) {
    const folder = join(ann.home, `umask${umask}`);
    const words = `umask ${umask}; mkdir -p ${folder}; TUTTI_SOCKET=${scheduler.socket} "$@"`;
    const script = `touch ${folder}/key; mkdir ${folder}/folder`;
    await stage.run(ann, [
      ...["bash", "-c", words, "bash", ...stage.tutti, "run", "-o", `${folder}/out`],
      ...["-e", `${folder}/err`, "--", "sh", "-c", script],
    ]);
    for (const name of ["key", "folder", "out", "err"]) {
      const stats = statSync(join(folder, name), { throwIfNoEntry: false });
      if (stats === undefined) throw new Error(`The job has not made ${name}`);
      const tooMuch = stats.mode & Number.parseInt(umask, 8) & 0o777;
      tally.attempt(tooMuch !== 0 && `umask ${umask}: ${name} has mode ${(stats.mode & 0o777).toString(8)}`);
    }
  }
  // A submit without a umask must not get wider permissions than usual.
  const bare = join(ann.home, "bare");
  const job = await scheduler.submit(ann, `touch ${bare}`);
  await scheduler.ended(job);
  tally.attempt((statSync(bare).mode & 0o022) !== 0 && "without a umask, others may write");
  return tally.outcome("files have the submitter's umask");
}

async function pidsOf(scheduler: Scheduler): Promise<number[]> {
  return [await scheduler.conductorPid()];
}

function openFilesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return "";
      }
    });
  } catch {
    return [];
  }
}

export const DESCRIPTORS: readonly Attack[] = [
  {
    name: "descriptors",
    finding: "S10",
    about: `files that root's shell has open as ${NUMBERS.join(", ")} when it starts the scheduler`,
    needs: "users",
    run: inherited,
  },
  {
    name: "descriptors-lock",
    finding: "R4",
    about: "exec 200> lock; flock 200; tutti serve, then the front end ends",
    needs: "root",
    run: lockKept,
  },
  { name: "umask", finding: "S11", about: "a submit under umask 077, 027, 002", needs: "users", run: umasks },
];
