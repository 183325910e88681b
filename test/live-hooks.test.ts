/**
 * Tests hooks, webhooks and signals before the limit with a real scheduler: while its front end is killed,
 * and with real users whose hooks hang, flood, fork and kill.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { allPids, hasEnded, hasOnlyRightsOf, readStat, signal } from "@tutti/host/processes.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { SIZES, SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMakeAccounts, makeAccount, removeAccounts, type TestAccount } from "./accounts.ts";
import { startTutti } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";
import { MailProgram } from "./mail-program.ts";

const KILLS = SIZES.hookKills;
const JOBS_PER_KILL = 3;
const LONG_MS = SOAK ? 900_000 : 120_000;

const pause = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause();
}
const hasRun = ({ news = [] }: Job) => news.length > 0 && news.every(({ state }) => state !== "waiting");

describe("one user", () => {
  let scheduler: LiveScheduler;
  let mail: MailProgram;
  beforeAll(async () => {
    scheduler = new LiveScheduler();
    mail = new MailProgram(join(scheduler.folder, "mail"));
    scheduler.env.PATH = `${mail.folder}:${process.env.PATH}`;
    await scheduler.start();
  });
  afterAll(() => scheduler.clear());

  const tutti = (...words: string[]) => startTutti(scheduler.socket, words, { cwd: scheduler.folder }).result;
  /** Ids of the mails about a job. */
  const mailsAbout = (job: number) =>
    mail
      .taken()
      .filter(({ headers }) => headers.get("Subject")?.includes(`job ${job} `))
      .map(({ headers }) => headers.get("Message-ID"));
  async function told(job: number): Promise<Job> {
    await until(async () => hasRun(await scheduler.job(job)));
    return scheduler.job(job);
  }

  /** Waits for news about the end. */
  async function toldEnd(number: number): Promise<Job> {
    await until(async () => (await told(number)).news?.some(({ event }) => event === "end") === true);
    return scheduler.job(number);
  }

  test("hooks of a script run in its folder, with data in variables; show names the outcomes", async () => {
    const report =
      'printf "%s|" "$TUTTI_JOB" "$TUTTI_EVENT" "$TUTTI_EXIT_CODE" "$TUTTI_JOB_NAME" "$SECRET"; pwd';
    const options = ["--on-end", report, "--on-fail", "exit 3", "-J", "a $(touch pwned)"];
    const words = ["submit", "--parsable", "--env", "SECRET=x", ...options, "--", "sh", "-c", "exit 7"];
    const job = Number((await tutti(...words)).stdout);
    await told(job);
    const { stdout } = await tutti("show", String(job));
    expect(stdout.replace(/\s+/g, " ")).toMatch(/at end .*exit code 0 at .*output in .*onEnd\.log/);
    expect(stdout).toMatch(/if failed exit 3: failed, exit code 3 at/);
    const output = join(scheduler.state, "jobs", String(job), "onEnd.log");
    expect(readFileSync(output, "utf8")).toBe(`${job}|end|7|a $(touch pwned)||${scheduler.folder}\n`);
  });

  test("--mail gives sendmail a message, whatever the name of the job; show names the outcome", async () => {
    const name = "a\nBcc: eve@example.org\n\n$(touch pwned)";
    const options = ["--mail", "ada@example.org, bob", "--notify", "start,end,fail", "-J", name];
    const { stdout: number, stderr } = await tutti("submit", ...options, "--", "sh", "-c", "exit 7");
    expect(stderr).not.toContain("no mail");
    const { job, news } = await toldEnd(Number(/\d+/.exec(number)![0]));
    expect(news).toMatchObject([{ hook: "mail", event: "end", state: "done" }]);
    expect((await tutti("show", String(job))).stdout).toMatch(
      /mail +ada@example\.org,bob \(start, end, fail\): exit code 0 at/,
    );
    const mails = mail.taken().filter(({ headers }) => headers.get("Subject")?.includes(`job ${job} `));
    // One about the start, and one about the end, which also says that it failed.
    expect(mails.map(({ headers }) => headers.get("Subject")).sort()).toEqual([
      `Tutti: job ${job} (a?Bcc: eve@example.org??$(touch pwned)) has failed: exit code 7`,
      `Tutti: job ${job} (a?Bcc: eve@example.org??$(touch pwned)) has started`,
    ]);
    for (const { words, uid, variables, headers, body } of mails) {
      expect([words, uid]).toEqual(["-t -i", process.getuid!()]);
      expect(variables).toContain("TUTTI_EVENT_ID");
      expect(variables.filter((variable) => /MESSAGE|SENDMAIL|SECRET/.test(variable))).toEqual([]);
      expect(headers.get("To")).toBe("ada@example.org,bob");
      expect(headers.has("Bcc")).toBe(false);
      expect(headers.get("Message-ID")).toContain(headers.get("Tutti-Event-Id"));
      expect(body).toContain("\nName:    a?Bcc: eve@example.org??$(touch pwned)\n");
    }
    expect(mails.map(({ headers }) => headers.get("Tutti-Event-Id"))).toContain(news![0].id);
    expect(existsSync(join(scheduler.folder, "pwned"))).toBe(false);
  });

  test("#SBATCH --mail-type sends a mail to the user, one for an array", async () => {
    const text = "#!/bin/sh\n#SBATCH --mail-type=END,TIME_LIMIT -J slurm -a 1-3\nexit 0\n";
    writeFileSync(join(scheduler.folder, "mailed.sh"), text);
    const { stdout, stderr } = await tutti("submit", "--parsable", "mailed.sh");
    expect(stderr).toMatch(/TIME_LIMIT is ignored/);
    const array = Number.parseInt(stdout, 10);
    await toldEnd(array);
    const mails = mail.taken().filter(({ headers }) => headers.get("Subject")?.includes("(slurm)"));
    expect(mails.map(({ headers }) => [headers.get("Subject"), headers.get("To")])).toEqual([
      [`Tutti: array ${array} (slurm) has ended: 3 done`, userInfo().username],
    ]);
  });

  test("a signal comes once before the limit, to the first process alone, and not while it is paused", async () => {
    const trap = 'trap "echo outer" USR1; sh -c \'trap "echo inner" USR1; while :; do sleep 0.05; done\' & ';
    const script = `${trap} while :; do sleep 0.05; done`;
    const limit = { limitMs: 1_000_000, stdout: "out.%j", stderr: "out.%j" };
    const wanted = { name: "SIGUSR1", beforeMs: 999_000 } as const;
    const first = await scheduler.submit(script, { ...limit, limitSignal: { ...wanted, batchOnly: true } });
    await scheduler.running(first);
    await scheduler.client.ask(`/v1/jobs/${first}/pause`, { method: "POST" });
    const { ranMs } = await scheduler.job(first);
    await pause(1500);
    const out = (job: number) => {
      const path = join(scheduler.folder, `out.${job}`);
      // Shells also report that their sleep was ended by the signal.
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
      return lines.filter((line) => line === "inner" || line === "outer").sort();
    };
    if (ranMs < 900) expect(out(first)).toEqual([]);
    await scheduler.client.ask(`/v1/jobs/${first}/resume`, { method: "POST" });
    await until(() => out(first).length > 0);
    expect((await scheduler.job(first)).ranMs).toBeGreaterThanOrEqual(1000);
    const all = await scheduler.submit(script, { ...limit, limitSignal: wanted });
    await until(() => out(all).includes("inner") && out(all).includes("outer"));
    await Promise.all([scheduler.cancel(first), scheduler.cancel(all)]);
    expect(out(first)).toEqual(["outer"]);
    expect(out(all)).toEqual(["inner", "outer"]);
  });

  test("without B:, the script itself does not get the signal, as under Slurm", async () => {
    const text = `#!/bin/sh
#SBATCH --signal=USR1@59999 --time=1000 -o out.slurm
trap "echo outer" USR1
sh -c 'trap "echo inner; exit 0" USR1; while :; do sleep 0.05; done'
`;
    writeFileSync(join(scheduler.folder, "job.sh"), text);
    const { stdout } = await tutti("submit", "--parsable", "job.sh");
    expect((await tutti("wait", stdout.trim())).status).toBe(0);
    expect(readFileSync(join(scheduler.folder, "out.slurm"), "utf8")).toMatch(/^inner$/m);
    expect(readFileSync(join(scheduler.folder, "out.slurm"), "utf8")).not.toContain("outer");
  });

  test(
    `webhook and mail report every end at least once over ${KILLS} kills of the front end`,
    async () => {
      const random = new Random(14);
      const counts = new Map<number, string[]>();
      const problems: string[] = [];
      const server = createServer(async (request, response) => {
        let body = "";
        for await (const piece of request) body += piece;
        const news = JSON.parse(body);
        if (news.id !== request.headers["tutti-event-id"])
          problems.push(`${news.id}: another id in the header`);
        counts.set(news.job, [...(counts.get(news.job) ?? []), news.id]);
        response.writeHead(204).end();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const webhook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const jobs: number[] = [];
      try {
        for (let kill = 0; kill < KILLS; kill++) {
          for (let i = 0; i < JOBS_PER_KILL; i++) {
            jobs.push(await scheduler.submit(`sleep 0.${random.below(5)}`, { webhook, mail: "ada" }));
          }
          await pause(random.below(1000));
          await scheduler.killFrontEnd();
          await scheduler.start();
        }
        await until(() => jobs.every((job) => counts.has(job) && mailsAbout(job).length > 0));
      } finally {
        server.close();
      }
      expect(problems).toEqual([]);
      // What is delivered again is the same event.
      for (const ids of counts.values()) expect(new Set(ids).size).toBe(1);
      for (const job of jobs) expect(new Set(mailsAbout(job)).size).toBe(1);
      if (SOAK) console.log(`${jobs.length} ends, ${[...counts.values()].flat().length} deliveries`);
    },
    LONG_MS,
  );
});

describe.skipIf(!canMakeAccounts)("two users (as root)", () => {
  const ROOT: Caller = { uid: 0, user: "root", isAdministrator: true };
  let folder: string;
  let frontEnd: RunningFrontEnd;
  let ada: TestAccount;
  let bob: TestAccount;

  /** Living processes of the user: when a hook begins, some of the one before it may have ended only just. */
  const pidsOf = ({ uid }: TestAccount) =>
    allPids().filter((pid) => {
      const stat = readStat(pid);
      return stat !== undefined && !hasEnded(stat) && hasOnlyRightsOf(pid, uid);
    });
  const runners = () =>
    allPids().filter((pid) => {
      const stat = readStat(pid);
      return (
        stat !== undefined && stat.threads > 1 && commandOf(pid).includes(join(folder, "state", "hooks"))
      );
    });
  const commandOf = (pid: number) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-hooks-"));
    chmodSync(folder, 0o755);
    ada = makeAccount("hooka");
    bob = makeAccount("hookb");
  });
  beforeAll(async () => {
    const settings = { slotMs: 50 };
    const stateFolder = join(folder, "state");
    frontEnd = await startFrontEnd({ stateFolder, isShared: true, settings });
  });
  afterAll(async () => {
    await frontEnd.service.shutdown(ROOT, true);
    await frontEnd.stop();
    await until(() => {
      for (const pid of [...pidsOf(ada), ...pidsOf(bob)]) signal(pid, "SIGKILL");
      return runners().length === 0;
    });
    removeAccounts();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  async function submit({ uid, user }: TestAccount, fields: Partial<SubmitJob>): Promise<number> {
    const job = { command: ["true"], cwd: "/", env: { PATH: "/usr/bin:/bin" }, ...fields };
    const answer = await frontEnd.service.submit({ uid, user, isAdministrator: false }, [job]);
    if ("refused" in answer) throw new Error(answer.message);
    return answer.jobs[0].job;
  }
  async function told(job: number): Promise<Job> {
    const shown = () => frontEnd.service.job(ROOT, job) as Job;
    await until(() => hasRun(shown()));
    return shown();
  }

  test("a hook runs as its user, and what it leaves behind is killed; its output belongs to the user", async () => {
    const onEnd = "id -u; id -gn; cat /etc/shadow; setsid sleep 4321 & exit 0";
    const { job, news } = await told(await submit(ada, { onEnd }));
    expect(news).toMatchObject([{ state: "done", text: "exit code 0" }]);
    const output = join(folder, "state", "jobs", String(job), "onEnd.log");
    expect(readFileSync(output, "utf8")).toMatch(new RegExp(`^${ada.uid}\n${ada.user}\ncat: .*denied`, "i"));
    expect(statSync(output)).toMatchObject({ uid: ada.uid, mode: 0o100600 });
    expect(
      pidsOf(ada)
        .map(commandOf)
        .filter((command) => command.includes("4321")),
    ).toEqual([]);
  });

  test("a mail is sent by its user, with the user's rights alone", async () => {
    const mail = new MailProgram(join(folder, "mail"));
    const { PATH } = process.env;
    process.env.PATH = `${mail.folder}:${PATH}`;
    try {
      const { news } = await told(await submit(ada, { mail: "bob", name: "of ada" }));
      expect(news).toMatchObject([{ hook: "mail", state: "done" }]);
    } finally {
      process.env.PATH = PATH;
    }
    const [{ uid, variables, headers }] = mail.taken();
    expect([uid, headers.get("To"), headers.get("Subject")]).toEqual([
      ada.uid,
      "bob",
      expect.stringContaining("(of ada) is done"),
    ]);
    expect(variables).toContain("HOME");
  });

  test(
    "hooks that hang, flood, fork and kill disturb neither other users nor the front end",
    async () => {
      const hostile = [
        "trap '' TERM HUP INT; while :; do sleep 1000; done",
        "yes flood",
        "while :; do sleep 1000 & done",
        "sleep 1000",
        "sleep 1000",
        "sleep 1000",
      ];
      const jobs = await Promise.all(hostile.map((onEnd) => submit(ada, { onEnd })));
      await until(() => jobs.every((job) => (frontEnd.service.job(ROOT, job) as Job).state === "done"));
      // A process that ends while it is looked at has no group.
      const shells = () =>
        new Set(
          pidsOf(ada)
            .map(groupOf)
            .filter((group) => group !== ""),
        ).size;
      await until(() => shells() === 4);
      const beforeMs = performance.now();
      const bobs = await told(await submit(bob, { onEnd: "echo ok", onFail: "exit 1", command: ["false"] }));
      expect(bobs.news).toMatchObject([
        { hook: "onEnd", state: "done" },
        { hook: "onFail", state: "failed", text: "exit code 1" },
      ]);
      expect(performance.now() - beforeMs).toBeLessThan(20_000);
      expect(shells()).toBeLessThanOrEqual(4);
      // A shell that can start no more processes may end, and then the next hook begins.
      await until(() => shells() === 4);
      // A fork bomb is kept within its group.
      expect(pidsOf(ada).length).toBeLessThan(300);
      // A user may kill own hooks; that ends these, and nothing else.
      for (const pid of pidsOf(ada)) signal(pid, "SIGKILL");
      const killed = await submit(ada, { onEnd: "kill -9 -1; kill -9 $$" });
      await until(() => {
        for (const pid of pidsOf(ada)) if (commandOf(pid).includes("sleep\u00001000")) signal(pid, "SIGKILL");
        return hasRun(frontEnd.service.job(ROOT, killed) as Job);
      });
      expect(((await told(killed)).news ?? [])[0]).toMatchObject({
        state: "failed",
        text: "ended by SIGKILL",
      });
      await until(() => runners().length === 1);
    },
    LONG_MS,
  );
});

/** The control group of a process, or its session where hooks have none. */
function groupOf(pid: number): string {
  try {
    const groups = readFileSync(`/proc/${pid}/cgroup`, "utf8");
    return /\/(hook-\S+)/.exec(groups)?.[1] ?? String(readStat(pid)?.session);
  } catch {
    return "";
  }
}
