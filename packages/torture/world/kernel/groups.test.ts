/**
 * Scenes with control groups. The table in process.ts was measured with Linux 6.18; here it is worked through
 * for both versions.
 */
import { describe, expect, test } from "vitest";
import type { Process } from "../contract.ts";
import { Bench, burn, codeOf, sleepOn } from "./machine-for-tests.ts";

/** Longer than a stop takes. */
const SETTLED_MS = 1;

describe("version 2", () => {
  function scene(seed = 1) {
    const bench = new Bench({ seed });
    const process = bench.start(burn);
    bench.run(5);
    const group = bench.group("gang", process);
    const kill = (signal: string) => {
      bench.machine.kill(process.pid, signal);
      bench.run(SETTLED_MS);
    };
    const freeze = (value: number) => {
      bench.write(`${group}/cgroup.freeze`, value);
      bench.run(SETTLED_MS);
    };
    return { bench, process, group, kill, freeze, state: () => bench.state(process) };
  }

  test("a freeze takes a moment, shows no state, and stops the clock of what computes", () => {
    const { bench, process, group, freeze } = scene();
    bench.write(`${group}/cgroup.freeze`, "1\n");
    expect(bench.read(`${group}/cgroup.events`)).toBe("populated 1\nfrozen 0\n");
    bench.run(SETTLED_MS);
    expect(bench.read(`${group}/cgroup.events`)).toBe("populated 1\nfrozen 1\n");
    expect(bench.state(process)).toBe("S");
    const usage = bench.read(`${group}/cpu.stat`);
    bench.run(100);
    expect(bench.read(`${group}/cpu.stat`)).toBe(usage);
    bench.write(`${group}/cgroup.freeze`, "0");
    expect(bench.read(`${group}/cgroup.events`)).toBe("populated 1\nfrozen 0\n");
    bench.run(100);
    const us = Number(/usage_usec (\d+)/.exec(bench.read(`${group}/cpu.stat`))![1]);
    const frozenUs = Number(/usage_usec (\d+)/.exec(usage)![1]);
    expect(us - frozenUs).toBeGreaterThan(99_000);
    expect(process.cpuUs).toBeGreaterThan(us);
    freeze(1);
  });

  test("frozen processes die at once of what is deadly, and take the rest when thawed", () => {
    for (const signal of ["SIGKILL", "SIGTERM"]) {
      const { process, group, bench, kill, freeze } = scene();
      freeze(1);
      kill(signal);
      expect(process.end).toEqual({ signal });
      expect(bench.read(`${group}/cgroup.events`)).toBe("populated 0\nfrozen 1\n");
    }
    const { state, freeze, kill } = scene();
    freeze(1);
    kill("SIGSTOP");
    expect(state()).toBe("S");
    freeze(0);
    expect(state()).toBe("T");
    kill("SIGTERM");
    expect(state()).toBe("T");
    freeze(1);
    expect(state()).toBe("T");
    // What came while it was stopped waits until it is neither stopped nor frozen.
    kill("SIGCONT");
    expect(state()).toBe("S");
    freeze(0);
    expect(state()).toBe("");
  });

  test("a stopped process that is frozen and continued stays frozen", () => {
    const { state, freeze, kill } = scene();
    kill("SIGSTOP");
    expect(state()).toBe("T");
    freeze(1);
    expect(state()).toBe("T");
    kill("SIGCONT");
    expect(state()).toBe("S");
    freeze(0);
    expect(state()).toBe("R");
  });

  test("a handler runs when its process is thawed", () => {
    const { bench, freeze } = scene();
    let handled = 0;
    const process = bench.start(function* (sys) {
      sys.onSignal("SIGTERM", () => handled++);
      yield { for: "signal" };
      return 5;
    });
    bench.run(5);
    bench.write("/sys/fs/cgroup/gang/cgroup.procs", process.pid);
    freeze(1);
    bench.machine.kill(process.pid, "SIGTERM");
    bench.run(10);
    expect([handled, process.end]).toEqual([0, undefined]);
    freeze(0);
    expect([handled, process.end]).toEqual([1, { code: 5 }]);
  });

  test("who joins a frozen group freezes, and who leaves it thaws", () => {
    const { bench, process, group, freeze } = scene();
    freeze(1);
    const other = bench.start(burn);
    bench.run(5);
    bench.write(`${group}/cgroup.procs`, `${other.pid}\n`);
    expect(bench.read(`${group}/cgroup.procs`)).toBe(`${process.pid}\n${other.pid}\n`);
    expect(bench.read(`${group}/cgroup.events`)).toContain("frozen 0");
    bench.run(SETTLED_MS);
    expect(bench.read(`${group}/cgroup.events`)).toContain("frozen 1");
    expect(other.isRunning).toBe(false);
    bench.write("/sys/fs/cgroup/cgroup.procs", other.pid);
    expect(other.isRunning).toBe(true);
    expect(bench.read(`/proc/${other.pid}/cgroup`)).toBe("0::/\n");
    expect(bench.read(`/proc/${process.pid}/cgroup`)).toBe("0::/gang\n");
  });

  test("children are in the group of their parent, and a group below freezes with it", () => {
    const { bench, group } = scene();
    const below = bench.group(`${group}/below`);
    const parent = bench.start(function* (sys) {
      yield { for: "time", us: 1000 };
      for (let i = 0; i < 3; i++) {
        sys.fork(burn);
        yield { for: "time", us: 1000 };
      }
      return yield* burn(sys);
    });
    bench.write(`${below}/cgroup.procs`, parent.pid);
    bench.run(10);
    expect(bench.read(`${below}/cgroup.procs`).trim().split("\n")).toHaveLength(4);
    bench.write(`${group}/cgroup.freeze`, 1);
    bench.run(SETTLED_MS);
    expect(bench.read(`${below}/cgroup.freeze`)).toBe("0\n");
    expect(bench.read(`${below}/cgroup.events`)).toBe("populated 1\nfrozen 1\n");
    expect([...parent.children].some(({ isRunning }) => isRunning)).toBe(false);
    // Both have asked.
    bench.write(`${below}/cgroup.freeze`, 1);
    bench.write(`${group}/cgroup.freeze`, 0);
    expect(bench.read(`${below}/cgroup.events`)).toContain("frozen 1");
    bench.write(`${below}/cgroup.freeze`, 0);
    expect(parent.isRunning).toBe(true);
    bench.write(`${group}/cgroup.kill`, 1);
    bench.run(SETTLED_MS);
    expect(bench.read(`${group}/cgroup.events`)).toContain("populated 0");
    expect(bench.machine.processes.size).toBe(1);
  });

  test("a group is removed when nobody lives in it; zombies do not count", () => {
    const { bench, group, process } = scene();
    const { files, root } = bench.machine;
    expect(codeOf(() => files.removeFolder(root, group))).toBe("EBUSY");
    const zombie = { pid: 0 };
    const parent = bench.start(function* (sys) {
      zombie.pid = sys.fork(burn);
      return yield* sleepOn(sys);
    });
    bench.run(5);
    bench.machine.kill(process.pid, "SIGKILL");
    bench.write(`${group}/cgroup.procs`, zombie.pid);
    bench.machine.kill(zombie.pid, "SIGKILL");
    bench.run(5);
    expect(bench.state(zombie as Process)).toBe("Z");
    expect(parent.children.size).toBe(1);
    files.removeFolder(root, group);
    expect(codeOf(() => bench.read(`${group}/cgroup.events`))).toBe("ENOENT");
    expect(codeOf(() => files.makeFolder(root, "/sys/fs/cgroup/cgroup.procs"))).toBe("EEXIST");
  });

  test("refuses what Linux refuses", () => {
    const { bench, group, process } = scene();
    const write = (file: string, text: string | number) =>
      codeOf(() => bench.write(`${group}/${file}`, text));
    expect(write("cgroup.procs", 99_999)).toBe("ESRCH");
    expect(write("cgroup.procs", "x")).toBe("EINVAL");
    expect(write("cgroup.freeze", 2)).toBe("ERANGE");
    expect(write("cgroup.kill", 0)).toBe("ERANGE");
    expect(write("cpu.weight", 0)).toBe("ERANGE");
    expect(write("cpuset.cpus", "0,9")).toBe("EINVAL");
    expect(write("cgroup.subtree_control", "+nothing")).toBe("EINVAL");
    // It has processes, and memory is not for groups that have both.
    expect(write("cgroup.subtree_control", "+memory")).toBe("EBUSY");
    expect(write("cgroup.subtree_control", "+pids")).toBe(undefined);
    const below = bench.group(`${group}/below`);
    expect(codeOf(() => bench.read(`${below}/memory.max`))).toBe("ENOENT");
    expect(bench.read(`${below}/pids.max`)).toBe("max\n");
    expect(codeOf(() => bench.write(`${below}/cgroup.subtree_control`, "+memory"))).toBe("ENOENT");
    bench.write("/sys/fs/cgroup/cgroup.procs", process.pid);
    expect(write("cgroup.subtree_control", "+memory")).toBe(undefined);
    expect(write("cgroup.procs", process.pid)).toBe("EBUSY");
    expect(codeOf(() => bench.read("/sys/fs/cgroup/cgroup.freeze"))).toBe("ENOENT");
    // Another user may not.
    const ann = { ...bench.machine.root, uid: 1000 };
    expect(codeOf(() => bench.write(`${group}/cgroup.freeze`, 1, ann))).toBe("EACCES");
    expect(codeOf(() => bench.machine.files.makeFolder(ann, `${group}/hers`))).toBe("EACCES");
  });

  test("a user rules a group that was delegated, but takes nobody from outside", () => {
    const { bench, process } = scene();
    bench.machine.delegate("user-1000", 1000);
    const ann = { ...bench.machine.root, uid: 1000, gid: 1000 };
    const own = bench.start(sleepOn, { uid: 1000, gid: 1000 });
    const user = "/sys/fs/cgroup/user-1000";
    expect(codeOf(() => bench.write(`${user}/cgroup.procs`, own.pid, ann))).toBe("EACCES");
    bench.write(`${user}/cgroup.procs`, own.pid);
    for (const name of ["service", "gang"]) bench.machine.files.makeFolder(ann, `${user}/${name}`);
    bench.write(`${user}/service/cgroup.procs`, own.pid, ann);
    bench.write(`${user}/cgroup.subtree_control`, "+memory +pids", ann);
    bench.write(`${user}/gang/cgroup.procs`, own.pid, ann);
    bench.write(`${user}/gang/cgroup.freeze`, 1, ann);
    expect(codeOf(() => bench.write(`${user}/gang/cgroup.procs`, process.pid, ann))).toBe("EACCES");
    bench.run(SETTLED_MS);
    expect(bench.read(`${user}/gang/cgroup.events`)).toContain("frozen 1");
  });

  test("a process that is stuck keeps its group from being frozen, and itself from dying", () => {
    const { bench, process, group, kill } = scene();
    bench.machine.stick(process, 500);
    expect(bench.state(process)).toBe("D");
    bench.write(`${group}/cgroup.freeze`, 1);
    kill("SIGKILL");
    expect(bench.read(`${group}/cgroup.events`)).toBe("populated 1\nfrozen 0\n");
    bench.run(490);
    expect(bench.state(process)).toBe("D");
    bench.run(20);
    expect(process.end).toEqual({ signal: "SIGKILL" });
    const other = bench.start(burn);
    bench.run(5);
    bench.write(`${group}/cgroup.freeze`, 0);
    bench.write(`${group}/cgroup.procs`, other.pid);
    bench.machine.stick(other, 100);
    bench.write(`${group}/cgroup.freeze`, 1);
    bench.run(50);
    expect(bench.read(`${group}/cgroup.events`)).toContain("frozen 0");
    bench.run(60);
    expect(bench.read(`${group}/cgroup.events`)).toContain("frozen 1");
  });
});

describe("version 1", () => {
  function scene() {
    const bench = new Bench({ groups: "v1" });
    const process = bench.start(burn);
    bench.run(5);
    const group = bench.group("freezer/gang", process);
    const kill = (signal: string) => {
      bench.machine.kill(process.pid, signal);
      bench.run(SETTLED_MS);
    };
    const freeze = (text: "FROZEN" | "THAWED") => {
      bench.write(`${group}/freezer.state`, text);
      bench.run(SETTLED_MS);
    };
    return { bench, process, group, kill, freeze, state: () => bench.state(process) };
  }

  test("a frozen process is in state D, and dies only when it is thawed", () => {
    const { bench, process, group, kill, freeze, state } = scene();
    expect(bench.read(`${group}/freezer.state`)).toBe("THAWED\n");
    bench.write(`${group}/freezer.state`, "FROZEN");
    expect(bench.read(`${group}/freezer.state`)).toBe("FREEZING\n");
    bench.run(SETTLED_MS);
    expect(bench.read(`${group}/freezer.state`)).toBe("FROZEN\n");
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      kill(signal);
      expect(state()).toBe("D");
    }
    const { cpuUs } = process;
    freeze("THAWED");
    expect(process.end).toEqual({ signal: "SIGKILL" });
    expect(process.cpuUs).toBe(cpuUs);
  });

  test("stops and continues count from the thaw on", () => {
    const { kill, freeze, state } = scene();
    freeze("FROZEN");
    kill("SIGSTOP");
    expect(state()).toBe("D");
    freeze("THAWED");
    expect(state()).toBe("T");
    freeze("FROZEN");
    expect(state()).toBe("D");
    kill("SIGCONT");
    expect(state()).toBe("D");
    freeze("THAWED");
    expect(state()).toBe("R");
  });

  test("each controller is a hierarchy of its own", () => {
    const { bench, process } = scene();
    const lines = bench.read(`/proc/${process.pid}/cgroup`).trim().split("\n");
    expect(lines.map((line) => line.split(":").slice(1).join(":")).sort()).toEqual([
      "cpu:/",
      "cpuacct:/",
      "cpuset:/",
      "freezer:/gang",
      "memory:/",
      "pids:/",
    ]);
    const set = bench.group("cpuset/gang");
    expect(codeOf(() => bench.write(`${set}/cgroup.procs`, process.pid))).toBe("ENOSPC");
    expect(codeOf(() => bench.write(`${set}/cpuset.cpus`, "0-9"))).toBe("EACCES");
    bench.write(`${set}/cpuset.mems`, "0");
    bench.write(`${set}/cpuset.cpus`, "1-2");
    bench.write(`${set}/cgroup.procs`, process.pid);
    expect(bench.machine.cpusOf(process)).toEqual([1, 2]);
    const used = bench.group("cpuacct/gang", process);
    bench.run(10);
    expect(bench.read(`${used}/cpuacct.usage`)).toBe("10000000\n");
    const memory = bench.group("memory/gang");
    expect(bench.read(`${memory}/memory.limit_in_bytes`)).toBe("9223372036854771712\n");
    bench.write(`${memory}/memory.limit_in_bytes`, 10_000);
    expect(bench.read(`${memory}/memory.limit_in_bytes`)).toBe("8192\n");
    expect(codeOf(() => bench.write(`${memory}/memory.memsw.limit_in_bytes`, 4096))).toBe("EINVAL");
    expect(codeOf(() => bench.machine.files.makeFolder(bench.machine.root, "/sys/fs/cgroup/new"))).toBe(
      "EPERM",
    );
  });

  test("both versions can be there, each with its freezer", () => {
    const bench = new Bench({ groups: "hybrid" });
    const process = bench.start(burn);
    bench.run(5);
    const one = bench.group("freezer/gang", process);
    const two = bench.group("unified/gang", process);
    bench.write(`${one}/freezer.state`, "FROZEN");
    bench.write(`${two}/cgroup.freeze`, 1);
    bench.run(SETTLED_MS);
    bench.write(`${one}/freezer.state`, "THAWED");
    expect([bench.state(process), process.isRunning]).toEqual(["S", false]);
    bench.write(`${two}/cgroup.freeze`, 0);
    expect(process.isRunning).toBe(true);
  });
});

describe("limits", () => {
  test("of processes stop a fork bomb, and count zombies", () => {
    for (const version of ["v1", "v2"] as const) {
      const bench = new Bench({ groups: version });
      let refused = 0;
      const bomb = function* (sys: Parameters<typeof burn>[0]): ReturnType<typeof burn> {
        for (;;) {
          try {
            sys.fork(bomb);
          } catch (error) {
            expect((error as { code?: string }).code).toBe("EAGAIN");
            refused++;
          }
          yield { for: "time", us: 1000 };
        }
      };
      const group = bench.group(version === "v1" ? "pids/gang" : "gang");
      bench.write(`${group}/pids.max`, 20);
      bench.write(`${group}/cgroup.procs`, bench.start(bomb).pid);
      bench.run(30);
      expect(refused).toBeGreaterThan(0);
      expect(bench.read(`${group}/pids.current`)).toBe("20\n");
      const [, victim] = bench.read(`${group}/cgroup.procs`).split("\n").map(Number);
      const { parent } = bench.machine.processes.get(victim)!;
      if (parent !== 1) bench.machine.kill(parent, "SIGSTOP");
      bench.machine.kill(victim, "SIGKILL");
      bench.run(50);
      expect(bench.read(`${group}/pids.current`)).toBe("20\n");
      if (version === "v1") continue;
      bench.write(`${group}/cgroup.kill`, 1);
      bench.run(50);
      expect(bench.read(`${group}/pids.current`)).toBe("0\n");
      bench.machine.files.removeFolder(bench.machine.root, group);
    }
  });

  test("of memory kill the largest process, or the whole group", () => {
    for (const isWhole of [false, true]) {
      const bench = new Bench();
      const group = bench.group("gang");
      bench.write(`${group}/memory.max`, "1M");
      bench.write(`${group}/memory.oom.group`, Number(isWhole));
      const small = bench.start(function* (sys) {
        yield { for: "time", us: 5000 };
        sys.allocate(300 * 1024);
        return yield* sleepOn(sys);
      });
      const large = bench.start(function* (sys) {
        for (;;) {
          yield { for: "time", us: 5000 };
          sys.allocate(100 * 1024);
        }
      });
      for (const { pid } of [small, large]) bench.write(`${group}/cgroup.procs`, pid);
      bench.run(100);
      expect(large.end).toEqual({ signal: "SIGKILL" });
      expect(small.end).toEqual(isWhole ? { signal: "SIGKILL" } : undefined);
      expect(bench.read(`${group}/memory.events`)).toContain(`oom_kill ${isWhole ? 2 : 1}\n`);
      expect(Number(bench.read(`${group}/memory.peak`))).toBeGreaterThan(1024 * 1024);
      expect(bench.read(`${group}/memory.current`)).toBe(isWhole ? "0\n" : `${300 * 1024}\n`);
    }
  });

  test("of CPUs: within those of the group above, and where an observer sees them", () => {
    const bench = new Bench({ cpus: 8 });
    const process = bench.start(burn);
    const seen: string[] = [];
    bench.machine.onRunning = (one, isRunning) =>
      seen.push(`${isRunning ? "on" : "off"} ${bench.machine.cpusOf(one).join()}`);
    bench.run(5);
    const above = bench.group("above");
    bench.write(`${above}/cgroup.subtree_control`, "+cpuset");
    bench.write(`${above}/cpuset.cpus`, "0-3\n");
    const group = bench.group("above/gang", process);
    bench.write(`${group}/cpuset.cpus`, "2-5");
    expect(bench.read(`${group}/cpuset.cpus`)).toBe("2-5\n");
    expect(bench.read(`${group}/cpuset.cpus.effective`)).toBe("2-3\n");
    expect(bench.read(`/proc/${process.pid}/status`)).toContain("\nCpus_allowed_list:\t2-3\n");
    bench.machine.setCpus(process, [3, 7]);
    bench.machine.kill(process.pid, "SIGKILL");
    bench.run(5);
    expect(seen).toEqual([
      "on 0,1,2,3,4,5,6,7",
      "off 0,1,2,3,4,5,6,7",
      "on 0,1,2,3",
      "off 0,1,2,3",
      "on 2,3",
      "off 2,3",
      "on 3",
      "off 3",
    ]);
    expect(codeOf(() => bench.machine.setCpus(process, [8]))).toBe("EINVAL");
  });
});
