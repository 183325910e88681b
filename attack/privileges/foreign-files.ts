/**
 * Finding S3 (docs/security.md): a user moves files that she may rename but not read to paths that root reads
 * for her: logs, `lost`, `exit`, `claim`.
 */
import { chmodSync, chownSync, linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Stage } from "../stage.ts";

const SECRET = "TOP-SECRET-4711";

/** A file of root's in a folder of Eve's, as sudo leaves it. */
function secretIn(folder: string, name: string, text = `${SECRET}\n`): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function allOf(scheduler: Scheduler, user: Stage["users"]["eve"], job: number): Promise<string> {
  const asked = await Promise.all(
    ["", "/why", "/logs/stdout", "/logs/stderr", "/logs/stdout?tail=100"].map((rest) =>
      scheduler.ask(user, `/v1/jobs/${job}${rest}`),
    ),
  );
  const events = await scheduler.ask(user, "/v1/events", { headers: { accept: "application/json" } });
  const typed = await scheduler.tutti(user, "show", String(job));
  return [...asked, events].map(({ text }) => text).join("\n") + typed.stdout;
}

/**
 * The attack exactly as found: a file of root's is moved over the log, and another user's diary over `lost`.
 */
async function renamed(stage: Stage): Promise<Outcome> {
  const { eve, ann } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const group = join(stage.makeFolder("group"), "lab");
  mkdirSync(group);
  chownSync(group, ann.uid, eve.gid);
  chmodSync(group, 0o2775);
  const cases: readonly { readonly over: string; readonly from: string }[] = [
    { over: "out", from: secretIn(eve.home, ".rootfile") },
    { over: "err", from: secretIn(eve.home, ".rootfile2") },
    { over: "lost", from: secretIn(group, "diary") },
    { over: "exit", from: secretIn(group, "pin", "77\n") },
    { over: "../stdout", from: secretIn(eve.home, ".rootfile3") },
  ];
  for (const { over, from } of cases) {
    if (from.startsWith(group)) chownSync(from, ann.uid, ann.gid);
    const script = `mv -f ${from} $(dirname $TUTTI_HOSTFILE)/${over}; sleep 0.3; kill -9 $PPID; sleep 1`;
    const job = await scheduler.submit(eve, script, {
      stdout: `${scheduler.state}/jobs/%j/1/out`,
      stderr: `${scheduler.state}/jobs/%j/1/err`,
    });
    const end = await scheduler.ended(job);
    const text = await allOf(scheduler, eve, job);
    tally.attempt(text.includes(SECRET) && `${over}: ${SECRET} was revealed`);
    if (over === "exit")
      tally.attempt(end?.code === 77 && "exit: the file of another user was read as exit status 77");
  }
  return tally.outcome("nothing of them was revealed");
}

/**
 * Links of every kind, including hard links if the kernel lets root make them, and a pipe that would block
 * the reader.
 */
async function linked(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const secret = secretIn(eve.home, "linked");
  for (const name of ["out", "lost", "exit"]) {
    for (const kind of ["symbolic", "hard", "pipe", "folder-link"]) {
      const script = `cd $(dirname $TUTTI_HOSTFILE); touch ready; until [ -e go ]; do sleep 0.05; done; sleep 0.2; kill -9 $PPID; sleep 1`;
      const job = await scheduler.submit(eve, script, { stdout: `${scheduler.state}/jobs/%j/1/out` });
      await scheduler.running(job);
      const folder = scheduler.folderOf(job);
      const path = join(folder, name);
      const make: Readonly<Record<string, string>> = {
        symbolic: `ln -sf ${secret} ${path}`,
        pipe: `rm -f ${path}; mkfifo ${path}`,
        "folder-link": `mkdir -p ${folder}/d; rm -f ${path}; ln -s ${eve.home} ${path}`,
      };
      // As she could with fs.protected_hardlinks=0.
      if (kind === "hard") {
        await stage.run(eve, ["rm", "-f", path]);
        linkSync(secret, path);
      } else await stage.run(eve, ["bash", "-c", make[kind] ?? ""]);
      await stage.run(eve, ["touch", join(folder, "go")]);
      const end = await scheduler.ended(job);
      const text = await allOf(scheduler, eve, job);
      tally.attempt(text.includes(SECRET) && `${name} by a ${kind} link: ${SECRET} was revealed`);
      tally.attempt(end === undefined && `${name} as a ${kind}: the job never ended`);
    }
  }
  return tally.outcome("nothing of them was revealed");
}

/**
 * The file changes while it is checked: real log, link and foreign file alternate as fast as the user can.
 */
async function raced(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const tally = new Tally();
  const scheduler = await stage.serve();
  const secret = secretIn(eve.home, "raced");
  const script = `cd $(dirname $TUTTI_HOSTFILE)
    echo mine > true; ln -s ${secret} link
    while :; do
      ln -f true out; mv -f link out 2> /dev/null; ln -s ${secret} link
      mv -T ${secret} out 2> /dev/null && mv -T out ${secret}
    done`;
  const job = await scheduler.submit(eve, script, {
    stdout: `${scheduler.state}/jobs/%j/1/out`,
    limitMs: 60_000,
  });
  await scheduler.running(job);
  const rounds = stage.isShort ? 300 : 3000;
  for (let i = 0; i < rounds; i++) {
    const [a, b] = await Promise.all([
      scheduler.ask(eve, `/v1/jobs/${job}/logs/stdout`),
      scheduler.ask(eve, `/v1/jobs/${job}/logs/stdout?tail=64`),
    ]);
    for (const { text } of [a, b])
      tally.attempt(text.includes(SECRET) && `round ${i}: ${SECRET} was revealed`);
  }
  return tally.outcome("the secret was never revealed");
}

export const FOREIGN_FILES: readonly Attack[] = [
  {
    name: "files-renamed",
    finding: "S3",
    about: "files of root and of another user are moved over logs, lost and exit",
    needs: "users",
    run: renamed,
  },
  {
    name: "files-linked",
    finding: "S3",
    about: "symbolic links, hard links and pipes instead of these files",
    needs: "users",
    run: linked,
  },
  {
    name: "files-raced",
    finding: "S3",
    about: "the log alternates between file, link and foreign file while it is read",
    needs: "users",
    run: raced,
  },
];
