/** /proc and /sys, read by the scheduler's own parsers, and compared with those of the real machine. */
import { readFileSync } from "node:fs";
import { findMounts } from "@tutti/host/cgroups.ts";
import { parseCpus } from "@tutti/host/machine.ts";
import { groupsOf, readPasswd } from "@tutti/host/passwd.ts";
import { isStopped, parseStat } from "@tutti/host/processes.ts";
import { describe, expect, test } from "vitest";
import type { GroupsKind } from "./machine.ts";
import { Bench, burn, codeOf, sleepOn } from "./machine-for-tests.ts";

describe("/proc", () => {
  test("a line of stat has the same number and kinds of fields as a real one", () => {
    const bench = new Bench();
    const kinds = (text: string) =>
      text
        .slice(text.lastIndexOf(")") + 2)
        .replace(/^[A-Z]/, "letter")
        .replace(/-?\d+/g, "number");
    const { pid } = bench.start(burn);
    const text = bench.read(`/proc/${pid}/stat`);
    expect(kinds(text)).toBe(kinds(readFileSync("/proc/self/stat", "latin1")));
    expect(text.trim().split(" ")).toHaveLength(52);
  });

  test("stat says what the scheduler reads there", () => {
    const bench = new Bench();
    bench.run(12_345);
    const parent = bench.start(
      function* (sys) {
        sys.self.name = "a) R 1 (b";
        sys.setPolicy(sys.self.pid, 5);
        sys.fork(sleepOn);
        return yield* sleepOn(sys);
      },
      { isDetached: true },
    );
    bench.run(10);
    const stat = parseStat(bench.read(`/proc/${parent.pid}/stat`))!;
    expect(stat).toEqual({
      ...{ pid: parent.pid, name: "a) R 1 (b", state: "S", parent: 1, session: parent.pid },
      ...{ threads: 1, policy: 5, startTicks: 1234 },
    });
    const [child] = parent.children;
    expect(parseStat(bench.read(`/proc/${child.pid}/stat`))).toMatchObject({
      parent: parent.pid,
      session: parent.pid,
    });
    bench.machine.kill(child.pid, "SIGSTOP");
    bench.run(1);
    expect(isStopped(parseStat(bench.read(`/proc/${child.pid}/task/${child.pid}/stat`))!)).toBe(true);
  });

  test("status, loadavg, uptime and numbers of the kernel have the form of real ones", () => {
    const bench = new Bench({ pidMax: 500, maxProcesses: 450, cpus: 3 });
    bench.run(61_239);
    const { pid } = bench.start(sleepOn, { uid: 1000, gid: 1000 });
    const status = bench.read(`/proc/${pid}/status`);
    const real = readFileSync("/proc/self/status", "latin1");
    for (const line of status.trim().split("\n"))
      expect(real).toContain(`\n${line.split("\t")[0]}`.trimStart());
    expect(status).toContain("\nUid:\t1000\t1000\t1000\t1000\n");
    expect(parseCpus(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)![1])).toEqual([0, 1, 2]);
    expect(bench.read("/proc/loadavg")).toMatch(new RegExp(`^(\\d\\.\\d\\d ){3}\\d+/2 ${pid}\n$`));
    expect(Number.parseFloat(bench.read("/proc/uptime"))).toBe(61.23);
    expect(Number(bench.read("/proc/sys/kernel/pid_max"))).toBe(500);
    expect(Number(bench.read("/proc/sys/kernel/threads-max"))).toBe(450);
    expect(bench.read("/proc/sys/kernel/random/boot_id")).toMatch(
      /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/,
    );
    expect(bench.read("/proc/meminfo")).toMatch(/^MemTotal: +8388608 kB\n/);
  });

  test("a process sees itself, its folder and its files, also without names", () => {
    const bench = new Bench();
    const { files, root } = bench.machine;
    let opened = "";
    const process = bench.start(
      function* ({ files, self }) {
        const descriptor = files.open(self, "/home/ann/notes", 0o102 | 0o2000000, 0o600);
        files.pipe(self);
        files.unlink(self, "/home/ann/notes");
        opened = files.readLink(self, `/proc/self/fd/${descriptor}`);
        expect(files.fstat(self, descriptor).ino).toBe(files.stat(self, `/proc/self/fd/${descriptor}`).ino);
        expect(bench.read("/proc/self/fdinfo/0", self)).toMatch(/^pos:\t0\nflags:\t0[0-7]*2000102\n/);
        expect(files.readFolder(self, "/proc/self/fd").map(({ name }) => name)).toContain("2");
        return yield* sleepOn({} as never);
      },
      { uid: 1000, gid: 1000, cwd: "/home/ann" },
    );
    bench.run(5);
    expect(opened).toContain("/home/ann/notes");
    const cwd = `/proc/${process.pid}/cwd`;
    expect(files.stat(root, cwd).ino).toBe(files.stat(root, "/home/ann").ino);
    const ben = { ...root, uid: 1001, gid: 1001 };
    expect(codeOf(() => files.readFolder(ben, `/proc/${process.pid}/fd`))).toBe("EACCES");
    const list = files.readFolder(root, "/proc").map(({ name }) => name);
    expect(list).toEqual(expect.arrayContaining(["1", String(process.pid), "self", "loadavg"]));
    const descriptor = files.open(root, `/proc/${process.pid}/stat`, 0);
    bench.machine.kill(process.pid, "SIGKILL");
    bench.run(5);
    expect(codeOf(() => files.read(root, descriptor, new Uint8Array(100)))).toBe("ESRCH");
    expect(codeOf(() => bench.read(`/proc/${process.pid}/stat`))).toBe("ENOENT");
  });

  test("a zombie has no folder and no words, but its line in stat", () => {
    const bench = new Bench();
    const parent = bench.start(function* (sys) {
      sys.fork(burn);
      return yield* sleepOn(sys);
    });
    bench.run(5);
    const [{ pid }] = parent.children;
    bench.machine.kill(pid, "SIGKILL");
    bench.run(5);
    expect(parseStat(bench.read(`/proc/${pid}/stat`))!.state).toBe("Z");
    expect(bench.read(`/proc/${pid}/environ`)).toBe("");
    expect(codeOf(() => bench.machine.files.stat(bench.machine.root, `/proc/${pid}/cwd`))).toBe("ENOENT");
  });
});

describe("mounts", () => {
  const found = (groups: GroupsKind) => {
    const bench = new Bench({ groups });
    const process = bench.start(sleepOn);
    return findMounts(
      bench.read("/proc/self/mountinfo", process),
      bench.read("/proc/self/cgroup", process),
      true,
    );
  };

  test("of each kind of machine are those that the scheduler finds", () => {
    expect(found("v2")).toEqual([
      { version: 2, mountPoint: "/sys/fs/cgroup", controllers: [], parents: ["/sys/fs/cgroup"] },
    ]);
    const one = ["freezer", "cpu", "cpuacct", "cpuset", "memory", "pids"].map((name) => ({
      ...{ version: 1, mountPoint: `/sys/fs/cgroup/${name}`, controllers: [name] },
      parents: [`/sys/fs/cgroup/${name}`],
    }));
    expect(found("v1")).toEqual(one);
    const unified = "/sys/fs/cgroup/unified";
    expect(found("hybrid")).toEqual([
      ...one,
      { version: 2, mountPoint: unified, controllers: [], parents: [unified] },
    ]);
    expect(found("none")).toEqual([]);
  });
});

describe("other facts", () => {
  test("users and groups", () => {
    const bench = new Bench();
    const accounts = readPasswd(bench.read("/etc/passwd"));
    expect(accounts.map(({ user, uid, home }) => [user, uid, home])).toEqual([
      ["root", 0, "/root"],
      ["ann", 1000, "/home/ann"],
      ["ben", 1001, "/home/ben"],
    ]);
    expect(groupsOf({ uid: 1000, user: "ann" }, bench.read("/etc/group"), accounts)).toEqual(["ann"]);
    const { uid, mode } = bench.machine.files.stat(bench.machine.root, "/home/ann");
    expect([uid, mode]).toEqual([1000, 0o755]);
  });

  test("where CPUs are", () => {
    const bench = new Bench({ cpus: 8, sockets: 2, threadsPerCore: 2 });
    const place = (cpu: number) =>
      ["physical_package_id", "core_cpus_list"].map((name) =>
        bench.read(`/sys/devices/system/cpu/cpu${cpu}/topology/${name}`).trim(),
      );
    expect([0, 3, 4, 7].map(place)).toEqual([
      ["0", "0-1"],
      ["0", "2-3"],
      ["1", "4-5"],
      ["1", "6-7"],
    ]);
    expect(bench.read("/sys/devices/system/cpu/online")).toBe("0-7\n");
  });
});
