/** Scenes with processes whose outcomes Linux decides: worked by hand, and checked with Linux 6.18. */
import { describe, expect, test } from "vitest";
import type { Process, ProcessEnd, Program, Wait } from "../contract.ts";
import { Bench, burn, codeOf, sleepOn } from "./machine-for-tests.ts";

const STEP: Wait = { for: "step" };

describe("a process", () => {
  test("that has ended is a zombie until its parent asks, and gives its number back only then", () => {
    const bench = new Bench();
    let asked: unknown;
    const parent = bench.start(function* (sys) {
      const pid = sys.fork(function* () {
        yield STEP;
        return 300;
      });
      expect(sys.reap(pid)).toBeUndefined();
      yield { for: "time", us: 50_000 };
      asked = sys.reap(pid);
      expect(codeOf(() => sys.reap())).toBe("ECHILD");
      return yield* sleepOn(sys);
    });
    bench.run(10);
    const [child] = parent.children;
    expect(bench.state(child)).toBe("Z");
    expect(bench.read(`/proc/${child.pid}/cmdline`)).toBe("");
    expect(bench.machine.processes.has(child.pid)).toBe(true);
    bench.run(100);
    expect(asked).toEqual({ pid: child.pid, end: { code: 300 & 255 } });
    expect(bench.machine.processes.has(child.pid)).toBe(false);
  });

  test("without a parent belongs to init, which reaps at once", () => {
    const bench = new Bench();
    const left: Process[] = [];
    const parent = bench.start(function* (sys) {
      for (const us of [1000, 500_000]) {
        const pid = sys.fork(function* () {
          yield { for: "time", us };
          return 0;
        });
        left.push(sys.machine.processes.get(pid)!);
      }
      yield { for: "time", us: 100_000 };
      return 0;
    });
    bench.run(50);
    expect(left.map(({ pid }) => bench.machine.processes.has(pid))).toEqual([true, true]);
    expect(left.map(({ parent }) => parent)).toEqual([parent.pid, parent.pid]);
    bench.run(100);
    // The zombie went with its parent, the other one lives on.
    expect(left.map((process) => bench.state(process))).toEqual(["", "S"]);
    expect(left[1].parent).toBe(1);
    bench.run(500);
    expect([...bench.machine.processes.keys()]).toEqual([1]);
  });

  test("waits for one child or for any", () => {
    const bench = new Bench();
    const seen: number[] = [];
    bench.start(function* (sys) {
      const sleep = (us: number): Program =>
        function* () {
          yield { for: "time", us };
          return us / 1000;
        };
      const [slow] = [sys.fork(sleep(90_000)), sys.fork(sleep(20_000))];
      yield { for: "child" };
      seen.push(sys.reap()!.end.code!);
      yield { for: "child", pid: slow };
      seen.push(sys.reap(slow)!.end.code!);
      return 0;
    });
    bench.run(200);
    expect(seen).toEqual([20, 90]);
  });

  test("closes its files before its parent hears of its end", () => {
    const bench = new Bench();
    let heard: string | undefined;
    bench.start(function* (sys) {
      const { files, self } = sys;
      const [reading, writing] = files.pipe(self);
      const pid = sys.fork(function* () {
        yield { for: "time", us: 1000 };
        return 0;
      });
      files.close(self, writing);
      const bytes = new Uint8Array(10);
      expect(codeOf(() => files.read(self, reading, bytes))).toBe("EAGAIN");
      yield { for: "child", pid };
      heard = codeOf(() => files.read(self, reading, bytes)) ?? "end of the pipe";
      return 0;
    });
    bench.run(20);
    expect(heard).toBe("end of the pipe");
  });

  test("reads from a pipe when there is something, or at its time", () => {
    const bench = new Bench();
    const log: string[] = [];
    bench.start(function* (sys) {
      const { files, self } = sys;
      const [reading, writing] = files.pipe(self);
      sys.fork(function* (child) {
        yield { for: "time", us: 5000 };
        child.files.write(child.self, writing, new Uint8Array([1, 2]));
        yield { for: "time", us: 100_000 };
        return 0;
      });
      const bytes = new Uint8Array(10);
      for (const patienceUs of [1000, 60_000, 10_000]) {
        yield { for: "readable", descriptor: reading, untilUs: sys.machine.timeline.nowUs + patienceUs };
        log.push(codeOf(() => log.push(String(files.read(self, reading, bytes)))) ?? "read");
      }
      return 0;
    });
    bench.run(50);
    expect(log).toEqual(["EAGAIN", "2", "read", "EAGAIN"]);
  });

  test("that throws ends with 70; one that writes to nobody ends as SIGPIPE ends it", () => {
    const bench = new Bench();
    const broken = bench.start(function* () {
      yield STEP;
      throw new Error("broken");
    });
    const crashes: unknown[] = [];
    bench.machine.onCrash = (process, error) => crashes.push([process.pid, String(error)]);
    const writer = bench.start(function* ({ files, self }) {
      const [reading, writing] = files.pipe(self);
      files.close(self, reading);
      yield STEP;
      files.write(self, writing, new Uint8Array(1));
      return 0;
    });
    bench.run(5);
    expect([broken.end, writer.end]).toEqual([{ code: 70 }, { signal: "SIGPIPE" }]);
    expect(crashes[0]).toEqual([broken.pid, "Error: broken"]);
  });

  test("becomes another program with the same number and files, and without the old handlers", () => {
    const bench = new Bench();
    bench.machine.install("/usr/bin/second-with-a-long-name", function* (sys) {
      expect([...sys.self.files.keys()]).toEqual([0, 1]);
      return yield* sleepOn(sys);
    });
    let handled = 0;
    const process = bench.start(function* (sys) {
      sys.files.pipe(sys.self);
      sys.onSignal("SIGUSR1", () => handled++);
      sys.onSignal("SIGHUP", "ignore");
      for (const [argv, code] of [
        [["nothing"], "ENOENT"],
        [["/etc"], "EACCES"],
        [["/etc/passwd"], "EACCES"],
      ] as const)
        expect(codeOf(() => sys.exec(argv).next())).toBe(code);
      return yield* sys.exec(["second-with-a-long-name", "a b"], { PATH: "/bin:/usr/bin", X: "1" });
    });
    bench.run(5);
    expect(process.end).toBeUndefined();
    expect(bench.read(`/proc/${process.pid}/comm`)).toBe("second-with-a-l\n");
    expect(bench.read(`/proc/${process.pid}/cmdline`)).toBe("second-with-a-long-name\0a b\0");
    expect(bench.read(`/proc/${process.pid}/environ`)).toBe("PATH=/bin:/usr/bin\0X=1\0");
    for (const signal of ["SIGHUP", "SIGUSR1"]) bench.machine.kill(process.pid, signal);
    bench.run(5);
    expect([handled, process.end]).toEqual([0, { signal: "SIGUSR1" }]);
  });

  test("a file that no program is installed for cannot be executed", () => {
    const bench = new Bench();
    bench.machine.writeFile("/bin/script", "#!/bin/sh\n", 0o755);
    expect(codeOf(() => bench.machine.start(undefined, { argv: ["/bin/script"], environment: {} }))).toBe(
      "ENOEXEC",
    );
    bench.machine.install("/bin/dash", burn);
    bench.machine.files.makeLink(bench.machine.root, "dash", "/bin/sh");
    expect(bench.machine.start(undefined, { argv: ["/bin/sh"], environment: {} }).exe).toBe("/bin/sh");
  });

  test("starts in the folder and for the user that its parent names, if it may", () => {
    const bench = new Bench();
    const ann = bench.start(sleepOn, { uid: 1000, gid: 1000, cwd: "/home/ann", isDetached: true });
    expect(bench.machine.files.readLink(bench.machine.root, `/proc/${ann.pid}/cwd`)).toBe("/home/ann");
    expect([ann.session, ann.uid, ann.parent]).toEqual([ann.pid, 1000, 1]);
    expect(codeOf(() => bench.start(sleepOn, { uid: 1001 }, ann))).toBe("EPERM");
    expect(codeOf(() => bench.start(sleepOn, { cwd: "/nowhere" }, ann))).toBe("ENOENT");
    expect(codeOf(() => bench.start(sleepOn, { cwd: "/etc/passwd" }, ann))).toBe("ENOTDIR");
    // What another user does not let see.
    expect(codeOf(() => bench.read(`/proc/${ann.pid}/environ`, { ...bench.machine.root, uid: 1001 }))).toBe(
      "EACCES",
    );
  });
});

describe("numbers of processes", () => {
  const one: Program = function* () {
    yield STEP;
    return 0;
  };

  test("go in a circle, without those that processes or sessions have", () => {
    const bench = new Bench({ pidMax: 400 });
    const { machine } = bench;
    const leader = bench.start(
      function* (sys) {
        sys.fork(sleepOn);
        yield { for: "time", us: 1000 };
        return 0;
      },
      { isDetached: true },
    );
    bench.run(5);
    const [member] = [...machine.processes.values()].filter(({ session }) => session === leader.pid);
    expect(machine.processes.has(leader.pid)).toBe(false);
    machine.newestPid = leader.pid - 2;
    const next = bench.start(one).pid;
    expect([next, bench.start(one).pid]).toEqual([leader.pid - 1, member.pid + 1]);
    machine.newestPid = 399;
    expect(bench.start(one).pid).toBe(300);
    expect(bench.read("/proc/loadavg").split(" ")[4]).toBe("300\n");
  });

  test("come to an end", () => {
    const bench = new Bench({ pidMax: 400 });
    expect(
      codeOf(() => {
        for (;;) bench.start(sleepOn);
      }),
    ).toBe("EAGAIN");
    expect(bench.machine.processes.size).toBeGreaterThan(100);
    const some = new Bench({ maxProcesses: 10 });
    expect(codeOf(() => Array.from({ length: 9 }, () => some.start(sleepOn)))).toBeUndefined();
    expect(codeOf(() => some.start(sleepOn))).toBe("EAGAIN");
    const faulty = new Bench();
    faulty.machine.faults.forkFails = 1;
    expect(codeOf(() => faulty.start(one))).toBe("EAGAIN");
  });
});

describe("a body", () => {
  class Log {
    readonly bench = new Bench();
    readonly log: string[] = [];
    process!: Process;

    constructor() {
      this.bench.machine.installBody("/bin/node", (process) => {
        this.process = process;
        return {
          signal: (name) => {
            this.log.push(name);
            return name === "SIGTERM";
          },
          ended: () => this.log.push(`ended with ${process.files.size} files`),
        };
      });
      this.bench.machine.start(undefined, { argv: ["/bin/node"], environment: {} });
    }

    say(what: string): void {
      this.bench.machine.deliver(this.process, () => this.log.push(what));
    }
  }

  test("is called in order while it may run, and never after its end", () => {
    const scene = new Log();
    const { bench, process, log } = scene;
    scene.say("one");
    bench.machine.kill(process.pid, "SIGSTOP");
    bench.run(5);
    expect(bench.state(process)).toBe("T");
    scene.say("two");
    bench.machine.kill(process.pid, "SIGTERM");
    scene.say("three");
    bench.run(5);
    expect(log).toEqual(["one"]);
    bench.machine.kill(process.pid, "SIGCONT");
    // Not within the call of who continues it.
    expect(log).toEqual(["one"]);
    scene.say("four");
    bench.run(5);
    // Of signals that wait together, the lowest number comes first.
    expect(log.slice(0, 6)).toEqual(["one", "SIGTERM", "SIGCONT", "two", "three", "four"]);
    bench.machine.kill(process.pid, "SIGHUP");
    bench.run(5);
    scene.say("five");
    bench.run(5);
    expect(log.slice(6)).toEqual(["SIGHUP", "ended with 0 files"]);
  });

  test("hears of the ends of its children once, and that reaps them", () => {
    const scene = new Log();
    const { bench, process } = scene;
    const heard: [number, ProcessEnd][] = [];
    const listen = (child: Process) =>
      bench.machine.onChildEnd(process, child.pid, (end) => heard.push([child.pid, end]));
    const child = bench.start(
      function* () {
        yield { for: "time", us: 1000 };
        return 4;
      },
      {},
      process,
    );
    const late = bench.start(burn, {}, process);
    listen(child);
    bench.machine.kill(late.pid, "SIGKILL");
    bench.run(5);
    expect(bench.state(late)).toBe("Z");
    expect(bench.machine.processes.has(child.pid)).toBe(false);
    listen(late);
    bench.run(5);
    expect(heard).toEqual([
      [child.pid, { code: 4 }],
      [late.pid, { signal: "SIGKILL" }],
    ]);
    expect(bench.machine.processes.has(late.pid)).toBe(false);
  });

  test("waits for a program at one instant, and the others do not move", () => {
    const scene = new Log();
    const { bench, process } = scene;
    let steps = 0;
    bench.start(function* () {
      for (;;) {
        steps++;
        yield STEP;
      }
    });
    let left = 0;
    const child = bench.start(
      function* (sys) {
        const pid = sys.fork(function* () {
          yield { for: "time", us: 30_000 };
          return 9;
        });
        left = sys.fork(sleepOn);
        yield { for: "child", pid };
        return sys.reap(pid)!.end.code!;
      },
      {},
      process,
    );
    const atUs = bench.timeline.nowUs;
    expect(bench.machine.runToEnd(child)).toEqual({ code: 9 });
    expect([bench.timeline.nowUs, steps]).toEqual([atUs, 0]);
    expect(bench.machine.processes.has(child.pid)).toBe(false);
    const rest = bench.machine.processes.get(left)!;
    bench.run(50);
    expect(bench.state(rest)).toBe("S");
    bench.machine.kill(left, "SIGTERM");
    bench.run(5);
    expect(rest.end).toEqual({ signal: "SIGTERM" });
    // Nobody else can help it.
    const stuck = bench.start(
      function* ({ files, self }) {
        const [reading] = files.pipe(self);
        yield { for: "readable", descriptor: reading };
        return 0;
      },
      {},
      process,
    );
    expect(bench.machine.runToEnd(stuck)).toEqual({ signal: "SIGKILL" });
  });
});
