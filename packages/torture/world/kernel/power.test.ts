/** Clocks, suspends, boots and power cuts; and that the same seed gives the same events. */
import { describe, expect, test } from "vitest";
import { Bench, burn, sleepOn } from "./machine-for-tests.ts";

describe("a suspend", () => {
  test("stops every process and the monotonic clock, and makes timers late", () => {
    const bench = new Bench();
    const { machine } = bench;
    const fired: string[] = [];
    machine.clock.at(20, () =>
      fired.push(`timer at ${machine.clock.monotonicMs()} of ${machine.clock.bootMs()}`),
    );
    const worker = bench.start(burn);
    let woken = 0;
    bench.start(function* () {
      yield { for: "time", us: 40_000 };
      woken = machine.clock.bootMs();
      return 0;
    });
    const body: number[] = [];
    machine.installBody("/bin/node", () => ({ signal: () => false, ended() {} }));
    const node = machine.start(undefined, { argv: ["/bin/node"], environment: {} });
    bench.run(10);
    const { cpuUs } = worker;
    machine.suspend(1000);
    machine.deliver(node, () => body.push(machine.clock.bootMs()));
    bench.run(500);
    expect(machine.clock.monotonicMs()).toBe(10);
    expect([machine.clock.bootMs(), machine.clock.unixMs()]).toEqual([510, 1_700_000_000_510]);
    expect([worker.cpuUs, fired, body]).toEqual([cpuUs, [], []]);
    bench.run(600);
    expect(machine.clock.monotonicMs()).toBe(110);
    expect(fired).toEqual(["timer at 20 of 1020"]);
    expect(woken).toBeGreaterThan(1040);
    expect(woken).toBeLessThan(1042);
    expect(body[0]).toBeGreaterThanOrEqual(1010);
    expect(worker.cpuUs - cpuUs).toBe(100_000);
  });
});

describe("the wall clock", () => {
  test("can be set, and no timer follows it", () => {
    const bench = new Bench();
    const { clock } = bench.machine;
    let firedAtMs = 0;
    clock.at(50, () => {
      firedAtMs = clock.monotonicMs();
    });
    clock.step(-3_600_000);
    bench.run(60);
    expect(firedAtMs).toBe(50);
    expect(clock.unixMs()).toBe(1_700_000_000_060 - 3_600_000);
    const { files, root } = bench.machine;
    bench.machine.writeFile("/var/x", "x");
    expect(files.stat(root, "/var/x").mtimeMs).toBe(clock.unixMs());
  });
});

describe("a power cut", () => {
  test("ends everything; the next boot has its own id, clock, processes and groups", () => {
    const bench = new Bench();
    const { machine } = bench;
    const heard: string[] = [];
    machine.installBody("/bin/node", () => ({
      signal: () => Boolean(heard.push("signal")),
      ended: () => heard.push("ended"),
    }));
    const node = machine.start(undefined, { argv: ["/bin/node"], environment: {} });
    const child = bench.start(burn, {}, node);
    machine.onChildEnd(node, child.pid, () => heard.push("child"));
    machine.clock.at(100, () => heard.push("timer"));
    const group = bench.group("gang", child);
    bench.run(50);
    machine.kill(node.pid, "SIGTERM");
    const [bootId, unixMs] = [machine.bootId, machine.clock.unixMs()];
    machine.cutPower();
    machine.deliver(node, () => heard.push("call"));
    expect([machine.isOn, machine.processes.size]).toEqual([false, 0]);
    bench.run(1000);
    expect(heard).toEqual(["ended"]);
    machine.boot();
    expect(() => machine.boot()).toThrow("it is on");
    expect(machine.bootId).not.toBe(bootId);
    expect([machine.clock.bootMs(), machine.clock.monotonicMs()]).toEqual([0, 0]);
    expect(machine.clock.unixMs()).toBe(unixMs + 1000);
    expect(() => bench.read(`${group}/cgroup.procs`)).toThrow("ENOENT");
    expect(machine.start(undefined, { argv: ["/bin/node"], environment: {} }).startTicks).toBe(0);
    expect(bench.read("/etc/passwd")).toContain("ann:");
  });
});

describe("a session", () => {
  test("is signalled as a whole, by who may", () => {
    const bench = new Bench();
    const leader = bench.start(
      function* (sys) {
        sys.fork(sleepOn);
        sys.fork(function* (child) {
          child.newSession();
          return yield* sleepOn(child);
        });
        return yield* sleepOn(sys);
      },
      { isDetached: true, uid: 1000, gid: 1000 },
    );
    bench.run(5);
    const [inside, escaped] = leader.children;
    expect([inside.session, escaped.session]).toEqual([leader.pid, escaped.pid]);
    const ben = bench.start(sleepOn, { uid: 1001, gid: 1001 });
    expect(() => bench.machine.kill(-leader.pid, "SIGTERM", ben)).toThrow("EPERM");
    expect(() => bench.machine.kill(leader.pid, "0", ben)).toThrow("EPERM");
    expect(() => bench.machine.kill(99_999, "SIGTERM")).toThrow("ESRCH");
    expect(() => bench.machine.kill(leader.pid, "SIGNOTHING")).toThrow("EINVAL");
    bench.machine.kill(-leader.pid, "SIGTERM", escaped);
    bench.run(5);
    expect([leader, inside, escaped].map((process) => bench.state(process))).toEqual(["", "", "S"]);
    bench.machine.kill(1, "SIGKILL");
    bench.run(5);
    expect(bench.state({ pid: 1 } as never)).toBe("S");
  });
});

describe("a seed", () => {
  const story = (seed: number): string => {
    const bench = new Bench({ seed, pidMax: 450 });
    const { machine } = bench;
    const log: unknown[] = [machine.bootId];
    machine.onRunning = (process, isRunning) => log.push([bench.timeline.nowUs, process.pid, isRunning]);
    Object.assign(machine.faults, { slowStop: 0.2, stuck: 0.1, forkFails: 0.1 });
    const group = bench.group("gang");
    const program = function* (sys: Parameters<typeof burn>[0]): ReturnType<typeof burn> {
      for (;;) {
        yield { for: "work", us: sys.random.between(100, 5000) };
        try {
          if (sys.random.chance(0.1)) sys.fork(program);
        } catch {}
        if (sys.random.chance(0.1)) return 0;
      }
    };
    bench.write(`${group}/cgroup.procs`, bench.start(program).pid);
    bench.write(`${group}/cgroup.procs`, bench.start(program).pid);
    for (let i = 0; i < 40; i++) {
      bench.write(`${group}/cgroup.freeze`, i % 2);
      bench.run(20);
      log.push(bench.read(`${group}/cgroup.events`), bench.read(`${group}/cpu.stat`));
    }
    return JSON.stringify(log);
  };

  test("decides everything", () => {
    for (const seed of [1, 2, 3]) expect(story(seed)).toBe(story(seed));
    expect(story(1)).not.toBe(story(2));
  });
});
