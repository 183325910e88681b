/**
 * Whole schedulers on three hosts with a real sshd each (ssh-test-hosts says what is real): gangs over all
 * hosts, their output, users, and hosts that vanish and return.
 */
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { signal } from "@tutti/host/processes.ts";
import { SIZES, TRIES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isInPath } from "../../scripts/install-test-tools.ts";
import { commandOf, describeWithHosts, HostsScheduler, TestHosts } from "./hosts.ts";
import { turnOnHosts } from "./turning-run.ts";

/** Each task says where it runs, and under which user. */
const SAY = ["sh", "-c", 'echo "$TUTTI_RANK of $TUTTI_NTASKS on $(hostname) as $(id -un)"'];
/** A gang of all CPUs of three hosts. */
const ALL = ["-n", 6, "--tasks-run", "each"];

function linesIn(file: string): string[] {
  return readFileSync(file, "utf8").trimEnd().split("\n").sort();
}

describeWithHosts("root, homes that all hosts share", () => {
  const hosts = new TestHosts({ hosts: 3 });
  let scheduler: HostsScheduler;
  beforeAll(async () => {
    hosts.start();
    scheduler = new HostsScheduler(hosts);
    await scheduler.start();
  });
  afterAll(async () => {
    await scheduler.down();
    const left = hosts.leftovers();
    hosts.stop();
    expect(left).toEqual([]);
  });

  test("a gang of all CPUs runs a task on each, in the order of hosts, and its output is fetched", async () => {
    const out = join(scheduler.folder, "all.txt");
    const job = await scheduler.submit([...ALL, "-o", out, "--", ...SAY]);
    expect(await scheduler.ended(job)).toMatchObject({ state: "done", code: 0 });
    expect(linesIn(out)).toEqual(
      [0, 1, 2, 3, 4, 5].map((rank) => `${rank} of 6 on h${1 + (rank >> 1)} as root`),
    );
  });

  test("a command that runs once finds the gang's hosts; its errors, script and exit code come back", async () => {
    const script = join(scheduler.folder, "job.sh");
    writeFileSync(script, '#!/bin/sh\nhostname; cat "$TUTTI_HOSTFILE"; echo "$1" >&2; exit 3\n');
    const job = await scheduler.submit(["-n", 4, script, "for errors"]);
    expect(await scheduler.ended(job)).toMatchObject({ state: "failed", code: 3 });
    expect(await scheduler.tutti(["logs", job])).toBe("h1\nh1 slots=2\nh2 slots=2\n");
    expect(await scheduler.tutti(["logs", job, "--stderr"])).toBe("for errors\n");
  });

  test("a job reads what is sent to it, gets a signal before its limit on all hosts, and keeps within its memory", async () => {
    expect(await scheduler.shell("printf 'a\\nb\\n' | tutti run -n 1 -- sort -r")).toBe("b\na\n");
    const trap = ["sh", "-c", 'exec 2>/dev/null; trap "echo got; exit 7" USR1; while :; do sleep 0.1; done'];
    const out = join(scheduler.folder, "signal.txt");
    const words = [...ALL, "--time", "6s", "--signal", "USR1@3", "-o", out, "--", ...trap];
    expect(await scheduler.ended(await scheduler.submit(words))).toMatchObject({ state: "failed", code: 7 });
    expect(linesIn(out)).toEqual(Array<string>(6).fill("got"));
    const large = ["perl", "-e", '$x = "a" x 200_000_000; sleep 100'];
    const job = await scheduler.submit(["-n", 1, "--mem", "50M", "--", ...large]);
    expect(await scheduler.ended(job)).toMatchObject({ state: "failed", reason: "memory limit" });
  });

  test("output of 3 MB without a line end comes whole, and lines of a running job come while it runs", async () => {
    const out = join(scheduler.folder, "large.txt");
    const goOn = join(hosts.folder, "go-on");
    const command = `head -c 3000000 /dev/zero; echo; echo first; until [ -e ${goOn} ]; do sleep 0.05; done; printf last`;
    const job = await scheduler.submit(["-n", 1, "-o", out, "--", "sh", "-c", command]);
    await scheduler.until(60_000, "the first line is here", () => statSync(out).size === 3_000_007);
    writeFileSync(goOn, "");
    await scheduler.ended(job);
    expect(statSync(out).size).toBe(3_000_011);
    expect(readFileSync(out, "utf8").slice(-12)).toBe("\0\nfirst\nlast");
  });

  test("the programs are carried over once, and again only if they are damaged", async () => {
    const programs = () => {
      const [own] = readdirSync(join(hosts.varTmpOf("h2"), "tutti-0"));
      const folder = join(hosts.varTmpOf("h2"), "tutti-0", own, "programs");
      return join(folder, readdirSync(folder)[0]);
    };
    const carriedAt = statSync(programs()).ino;
    await scheduler.killFrontEnd();
    await scheduler.start();
    expect(statSync(programs()).ino).toBe(carriedAt);
    await scheduler.killFrontEnd();
    // A conductor that runs needs no programs, so only the next one would find them damaged.
    hosts.crash("h2");
    writeFileSync(join(programs(), "facts.mjs"), "throw new Error('damaged')");
    hosts.boot("h2");
    await scheduler.start();
    expect(statSync(programs()).ino).not.toBe(carriedAt);
  });

  test("a gang goes on while the front end is dead, and its output is whole", async () => {
    const out = join(scheduler.folder, "alone.txt");
    const goOn = join(hosts.folder, "go-on-alone");
    const command = `echo begin $TUTTI_RANK; until [ -e ${goOn} ]; do sleep 0.05; done; echo end $TUTTI_RANK`;
    const job = await scheduler.submit([...ALL, "-o", out, "--", "sh", "-c", command]);
    await scheduler.until(60_000, "all begins are here", () => existsSync(out) && linesIn(out).length === 6);
    await scheduler.killFrontEnd();
    const here = await scheduler.run(["serve", "--state", join(scheduler.folder, "state"), "--no-http"]);
    expect(here).toMatchObject({ status: 66, stdout: "" });
    expect(here.stderr).toContain("was started with --on ssh, and 1 running job there would be left alone");
    writeFileSync(goOn, "");
    await scheduler.start();
    expect(await scheduler.ended(job)).toMatchObject({ state: "done", attempt: 1 });
    const ranks = [0, 1, 2, 3, 4, 5];
    expect(linesIn(out)).toEqual([
      ...ranks.map((rank) => `begin ${rank}`),
      ...ranks.map((rank) => `end ${rank}`),
    ]);
  });

  test("a conductor that dies is started again, and its gang goes on", async () => {
    const goOn = join(hosts.folder, "go-on-again");
    const command = `until [ -e ${goOn} ]; do sleep 0.05; done`;
    const job = await scheduler.submit([...ALL, "--", "sh", "-c", command]);
    await scheduler.running(job);
    const [conductor] = hosts.conductorsOf("h2");
    signal(conductor, "SIGKILL");
    await scheduler.until(60_000, "there is another conductor", () =>
      hosts.conductorsOf("h2").some((pid) => pid !== conductor),
    );
    writeFileSync(goOn, "");
    expect(await scheduler.ended(job)).toMatchObject({ state: "done", attempt: 1 });
  });

  test("a host that crashes and comes back takes part again, and the gang runs again by its retries", async () => {
    const goOn = join(hosts.folder, "go-on-after");
    const job = await scheduler.submit([
      ...ALL,
      ...["--retries", 3, "--", "sh", "-c", `until [ -e ${goOn} ]; do sleep 0.05; done`],
    ]);
    await scheduler.running(job);
    hosts.crash("h2");
    await scheduler.until(60_000, "h2 is lost", async () =>
      ((await scheduler.status()).nodes ?? []).some(({ node, state }) => node === "h2" && state === "lost"),
    );
    hosts.boot("h2");
    await scheduler.up();
    writeFileSync(goOn, "");
    expect(await scheduler.ended(job)).toMatchObject({ state: "done", attempt: 2 });
  });

  test("a host whose network is cut for longer than a node may be silent loses its gang once", async () => {
    const out = join(hosts.folder, "cut.txt");
    const goOn = join(hosts.folder, "go-on-joined");
    const command = `echo $TUTTI_ATTEMPT $TUTTI_RANK >> ${out}; until [ -e ${goOn} ]; do sleep 0.05; done`;
    const job = await scheduler.submit([...ALL, "--retries", 3, "--", "sh", "-c", command]);
    await scheduler.running(job);
    hosts.cut("h3");
    await scheduler.until(60_000, "h3 is lost", async () =>
      ((await scheduler.status()).nodes ?? []).some(({ node, state }) => node === "h3" && state === "lost"),
    );
    hosts.join("h3");
    await scheduler.up();
    for (const said of ["no answer for 3 s", "no answer for 23 s", "answers again and takes part"])
      expect(scheduler.output).toMatch(new RegExp(`^tutti: [-0-9: ]+: node h3:? ${said}`, "m"));
    await scheduler.running(job);
    writeFileSync(goOn, "");
    expect(await scheduler.ended(job)).toMatchObject({ state: "done", attempt: 2 });
    const ranks = [0, 1, 2, 3, 4, 5];
    expect(linesIn(out)).toEqual([...ranks.map((rank) => `1 ${rank}`), ...ranks.map((rank) => `2 ${rank}`)]);
  });

  test("a job on a host that is away says so, and runs again on the others when an administrator says that the host is off", async () => {
    const out = join(hosts.folder, "off.txt");
    const goOn = join(hosts.folder, "go-on-off");
    const command = `echo $TUTTI_ATTEMPT $TUTTI_RANK >> ${out}; until [ -e ${goOn} ]; do sleep 0.05; done`;
    const words = ["-n", 4, "--tasks-run", "each", "--retries", 3, "--", "sh", "-c", command];
    const job = await scheduler.submit(words);
    await scheduler.running(job);
    await scheduler.until(60_000, "all tasks have begun", () => existsSync(out) && linesIn(out).length === 4);
    const [{ node: away }, { node: other }] = (await scheduler.job(job)).nodes!;
    const left = () => hosts.processesOf(away).filter((pid) => commandOf(pid).includes(out)).length;
    expect(left()).toBe(2);
    const stateOf = async (name: string) =>
      ((await scheduler.status()).nodes ?? []).find(({ node }) => node === name)?.state;
    hosts.cut(away);
    await scheduler.until(60_000, "the host is silent", async () => (await stateOf(away)) === "silent");
    const silent = `node ${away} does not answer, so the gang is stopped on the others`;
    expect((await scheduler.job(job)).reason).toBe(silent);
    expect((await scheduler.run(["matrix"])).stderr).toContain(
      `Node ${away} does not answer: its gangs are stop`,
    );
    expect((await scheduler.run(["allocations", "off", away])).stderr).toContain(
      "is silent, expected a lost",
    );
    await scheduler.until(60_000, "the host is lost", async () => (await stateOf(away)) === "lost");
    const lost = `node ${away} is lost; what ran on the others was killed, and the job ends when ${away} answers, or by tutti allocations off ${away}`;
    const { reason, ranMs } = await scheduler.job(job);
    expect(reason).toBe(lost);
    expect((await scheduler.tutti(["why", job])).replace(/\s+/g, " ")).toContain(
      `${lost.replace("node", "Node")} (no answer since`,
    );
    expect((await scheduler.job(job)).ranMs).toBe(ranMs);
    expect((await scheduler.run(["allocations", "off", other])).status).not.toBe(0);
    expect(await scheduler.tutti(["allocations", "off", away])).toContain(`1 job ran on ${away}: ${job}.`);
    await scheduler.until(60_000, "the next attempt has begun", () => linesIn(out).length === 8);
    expect((await scheduler.job(job)).nodes!.map(({ node }) => node)).not.toContain(away);
    // It was wrong: the host was only out of reach.
    expect(left()).toBe(2);
    hosts.join(away);
    await scheduler.up();
    expect(left()).toBe(0);
    expect((await scheduler.job(job)).state).toBe("running");
    writeFileSync(goOn, "");
    expect(await scheduler.ended(job)).toMatchObject({ state: "done", attempt: 2 });
    const ranks = [0, 1, 2, 3];
    expect(linesIn(out)).toEqual([...ranks.map((rank) => `1 ${rank}`), ...ranks.map((rank) => `2 ${rank}`)]);
  });
});

describeWithHosts("turns", () => {
  const hosts = new TestHosts({ hosts: 3 });
  beforeAll(() => hosts.start());
  afterAll(() => hosts.stop());

  test(
    "two gangs of all CPUs are never on a CPU at once, and begin on all hosts in the same slots",
    TRIES,
    async () => {
      const slotMs = 100;
      const scheduler = new HostsScheduler(hosts, { slotMs });
      try {
        await scheduler.start();
        const lastsS = (SIZES.hostSwitches * slotMs) / 1000;
        const turning = await turnOnHosts(scheduler, { lastsS, slotMs });
        const { nodes, shares, skewP50Ms, skewP99Ms, whole, partial } = turning;
        console.log(JSON.stringify({ skewP50Ms, skewP99Ms, whole, partial, shares: [...shares], nodes }));
        expect(nodes.map(({ node }) => node)).toEqual(hosts.names);
        for (const { node, switches, togetherMs } of nodes) {
          expect(switches, node).toBeGreaterThan(SIZES.hostSwitches / 2);
          expect(togetherMs, node).toBeLessThanOrEqual(switches / 100);
        }
        for (const share of shares.values()) expect(Math.abs(2 * share - 1)).toBeLessThan(0.05);
        expect(partial).toBeLessThan(whole / 10);
      } finally {
        await scheduler.down();
      }
    },
  );
});

describeWithHosts("two users, and hosts with homes and user ids of their own", () => {
  const users = [`tua${process.pid}`, `tub${process.pid}`];
  const hosts = new TestHosts({ hosts: 3, users, ownHomes: true });
  beforeAll(() => hosts.start());
  afterAll(() => hosts.stop());

  describe("served by root", () => {
    let scheduler: HostsScheduler;
    beforeAll(async () => {
      scheduler = new HostsScheduler(hosts, { isShared: true });
      await scheduler.start();
    });
    afterAll(async () => {
      await scheduler.down();
      expect(hosts.leftovers()).toEqual([]);
    });

    test("each job runs as its user by name, and its output belongs to the user", async () => {
      const jobs = await Promise.all(
        users.map((user) =>
          scheduler.submit(
            [...ALL, "-o", "out.txt", "--", "sh", "-c", 'echo "$(hostname) $(id -un) $(id -u)"'],
            user,
          ),
        ),
      );
      for (const [i, job] of jobs.entries()) {
        expect(await scheduler.ended(job)).toMatchObject({ state: "done" });
        const out = join(hosts.folder, "home", users[i], "out.txt");
        const { uid } = statSync(join(hosts.folder, "home", users[i]));
        expect(linesIn(out)).toEqual(
          [1, 1, 2, 2, 3, 3].map((host) => `h${host} ${users[i]} ${uid + 1000 * host}`),
        );
        expect(statSync(out).uid).toBe(uid);
      }
    });

    test("a user cannot read what another one's job has on a host, nor signal it", async () => {
      const goOn = join(hosts.folder, "two-users");
      const waits = `until [ -e ${goOn} ]; do sleep 0.05; done`;
      const first = await scheduler.submit(["-n", 1, "--", "sh", "-c", waits], users[0]);
      await scheduler.running(first);
      const [root] = readdirSync(hosts.varTmpOf("h1"));
      const look = `cat /var/tmp/${root}/*/jobs/*/*/* /var/tmp/${root}/*/home/* 2>&1; kill -9 -1 2> /dev/null; echo looked`;
      const second = await scheduler.submit(["-n", 1, "--", "sh", "-c", `trap '' TERM; ${look}`], users[1]);
      await scheduler.ended(second);
      expect((await scheduler.job(first)).state).toBe("running");
      writeFileSync(goOn, "");
      expect(await scheduler.ended(first)).toMatchObject({ state: "done", code: 0 });
    });

    test("a user whom a host does not know is named, and nothing runs on the other hosts", async () => {
      const passwd = join(hosts.folder, "h2/etc/passwd");
      const known = readFileSync(passwd, "utf8");
      // Written in place: the file is mounted.
      writeFileSync(
        passwd,
        known
          .split("\n")
          .filter((line) => !line.startsWith(`${users[1]}:`))
          .join("\n"),
      );
      const job = await scheduler.submit([...ALL, "--", "sh", "-c", "touch ran"], users[1]);
      expect((await scheduler.ended(job)).reason).toContain(`there is no user "${users[1]}" on h2`);
      expect(hosts.names.filter((name) => existsSync(join(hosts.homeOf(name, users[1]), "ran")))).toEqual([]);
      writeFileSync(passwd, known);
    });

    test("a folder that a host does not have is named with the host", async () => {
      const folder = join(hosts.folder, "home", users[0], "only-here");
      const made = await scheduler.hosts.spawn(["mkdir", "-m", "777", folder]);
      await new Promise((resolve) => made.once("close", resolve));
      const job = await scheduler.submit(["-n", 1, "--cwd", folder, "--", "true"], users[0]);
      const ended = await scheduler.ended(job);
      expect(ended.state).not.toBe("done");
      expect(ended.reason).toContain(`On h1: Cannot change to the folder "${folder}"`);
    });
  });

  test.skipIf(!isInPath("mpirun"))(
    "mpirun starts its ranks on all hosts by ssh, and they belong to the gang",
    async () => {
      const [user] = users;
      for (const name of hosts.names) {
        const home = hosts.homeOf(name, user);
        const { uid, gid } = statSync(home);
        mkdirSync(join(home, ".ssh"), { mode: 0o700 });
        for (const file of ["config", "key"]) {
          copyFileSync(join(hosts.configOf(user), "..", file), join(home, ".ssh", file));
          chownSync(join(home, ".ssh", file), uid, gid);
        }
        // The key of the desk belongs to the user's id there.
        appendFileSync(
          join(home, ".ssh/config"),
          `Host *\n  IdentityFile ${hosts.homeOf("", user)}/.ssh/key\n`,
        );
        chownSync(join(home, ".ssh"), uid, gid);
      }
      const scheduler = new HostsScheduler(hosts, { user });
      await scheduler.start();
      const rank = 'echo "$OMPI_COMM_WORLD_RANK on $(hostname) of $TUTTI_GANG"';
      const job = await scheduler.submit([
        "-n",
        6,
        "--",
        "sh",
        "-c",
        `mpirun --oversubscribe sh -c '${rank}'`,
      ]);
      expect(await scheduler.ended(job)).toMatchObject({ state: "done" });
      expect(
        (await scheduler.tutti(["logs", job]))
          .replace(/of \S+\//g, "of ")
          .trimEnd()
          .split("\n")
          .sort(),
      ).toEqual([0, 1, 2, 3, 4, 5].map((rank) => `${rank} on h${1 + (rank >> 1)} of ${job}.1`));
      await scheduler.down();
      expect(hosts.leftovers()).toEqual([]);
    },
  );

  test("a user without rights serves own jobs, with output fetched", async () => {
    const scheduler = new HostsScheduler(hosts, { user: users[0] });
    await scheduler.start();
    const job = await scheduler.submit([...ALL, "-o", "own.txt", "--", ...SAY]);
    expect(await scheduler.ended(job)).toMatchObject({ state: "done" });
    expect(linesIn(join(hosts.folder, "home", users[0], "own.txt"))).toEqual(
      [0, 1, 2, 3, 4, 5].map((rank) => `${rank} of 6 on h${1 + (rank >> 1)} as ${users[0]}`),
    );
    await scheduler.down();
    expect(hosts.leftovers()).toEqual([]);
  });
});

describeWithHosts("what cannot work", () => {
  const users = [`tuc${process.pid}`];
  const hosts = new TestHosts({ hosts: 2, users });
  beforeAll(() => hosts.start());
  afterAll(() => hosts.stop());

  async function refusal(options: ConstructorParameters<typeof HostsScheduler>[1]): Promise<string> {
    const scheduler = new HostsScheduler(hosts, options);
    await expect(scheduler.start()).rejects.toThrow("The front end ended");
    const { output } = scheduler;
    await scheduler.down();
    return output;
  }

  test("a host that runs jobs of all users needs root there", async () => {
    const said = await refusal({ isShared: true, lines: ["h1", `${users[0]}@h2`] });
    expect(said).toContain(`Cannot use the host "h2": ssh logs in as ${users[0]}, expected root`);
  });

  test("CPUs that a host does not have are refused, and hosts that nobody knows", async () => {
    expect(await refusal({ lines: ["h1 cpus=0-4095"] })).toMatch(/the host "h1": it has no CPU .*4095/);
    expect(await refusal({ lines: ["h9"] })).toMatch(/Cannot reach any host: h9: /);
  });

  test("doctor says which hosts cannot be used and what to do, and fails then", async () => {
    const scheduler = new HostsScheduler(hosts, { lines: ["h1 cpus=0 memory=1G", "h9"] });
    const config = hosts.configOf("root");
    const doctor = async (...words: string[]) => {
      const file = join(scheduler.folder, "hosts");
      const { status, stdout } = await scheduler.run([
        ...["doctor", "--on", "ssh", "--hosts", file],
        ...["--", "-F", config, ...words],
      ]);
      return { status, said: stdout.replace(/\s+/g, " ") };
    };
    const { status, said } = await doctor();
    expect(status).toBe(1);
    expect(said).toMatch(/h1 jobs as root; 1 CPU \(0\), 1 GiB;.* wall clock \+0\.\d s/);
    expect(said).toMatch(/h9 cannot be used: Could not resolve hostname h9: .*; correct its name/);
    const unknown = await doctor("-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes");
    expect(unknown.said).toContain("Host key verification failed; connect once by hand");
    expect((await doctor("-o", "PubkeyAuthentication=no")).said).toContain("; ssh-copy-id h1 puts your key");
    writeFileSync(join(scheduler.folder, "hosts"), "h1\n");
    expect((await doctor()).status).toBe(0);
    await scheduler.down();
    expect(hosts.leftovers()).toEqual([]);
  });

  test("an end while a host is away names what stays there and how to remove it, and fails", async () => {
    const scheduler = new HostsScheduler(hosts);
    await scheduler.start();
    hosts.cut("h2");
    const { status, stderr } = await scheduler.run(["down", "--kill"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/Cannot remove \/var\/tmp\/tutti-0\/\S+-h2 on h2 \(.*\)\. When that host answers/);
    hosts.join("h2");
    await scheduler.start();
    expect((await scheduler.run(["down", "--kill"])).status).toBe(0);
    expect(hosts.leftovers()).toEqual([]);
    await scheduler.down();
  });

  test("a host that does not answer at the start takes part later", async () => {
    hosts.cut("h2");
    const scheduler = new HostsScheduler(hosts);
    const state = join(scheduler.folder, "state");
    scheduler.serve();
    await scheduler.until(60_000, "it asks the hosts", () =>
      readFileSync(join(state, "holder"), "utf8").endsWith(" starting\n"),
    );
    expect(await scheduler.shell(`TUTTI_STATE=${state} tutti status`)).toMatch(
      /process \d+ is a scheduler that is still starting; try again in some seconds/,
    );
    await scheduler.up(1);
    expect(scheduler.output).toContain("tutti: still starting: it asks 2 nodes reached by ssh");
    expect(scheduler.output).toContain("schedules 2 nodes reached by ssh, of which 1 answers:");
    expect(scheduler.output).toMatch(/host h2 cannot be reached \(.*; is it on\? try ssh -F \S+ h2 true\)/);
    const status = (await scheduler.tutti(["status"])).replace(/\s+/g, " ");
    expect(status).toContain("Node h2 takes no part yet: it does when it has answered and no job runs.");
    expect((await scheduler.run(["allocations", "off", "h2"])).stderr).toContain(
      "node h2 takes no part yet, so no job runs there",
    );
    hosts.join("h2");
    await scheduler.up(2);
    await scheduler.down();
    expect(hosts.leftovers()).toEqual([]);
  });

  test("two names of one host are refused", async () => {
    const config = hosts.configOf("root");
    writeFileSync(
      config,
      `Host h1again\n  HostName 10.84.0.1\n  HostKeyAlias 10.84.0.1\n${readFileSync(config, "utf8")}`,
    );
    expect(await refusal({ lines: ["h1 cpus=0-1", "h1again cpus=0-1"] })).toContain(
      'Cannot use the hosts "h1" and "h1again": they are the same machine',
    );
    expect(hosts.leftovers()).toEqual([]);
  });
});
