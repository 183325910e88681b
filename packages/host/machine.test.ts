/** Tests that control group mounts and processes are read correctly from the kernel. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findMounts, openHierarchies } from "./cgroups.ts";
import { identityOf, isAlive, parseStat, readStat, signal } from "./processes.ts";

const HYBRID = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
42 31 0:39 / /sys/fs/cgroup/memory ro,relatime - cgroup cgroup ro,memory
`;
const HYBRID_OWN = "3:freezer:/\n2:cpu,cpuacct:/a/b\n0::/user.slice/x\n";
const UNIFIED =
  "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const UNIFIED_OWN = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/tutti.service\n";

describe("findMounts()", () => {
  test("finds both versions side by side, but no read-only mounts and no useless controllers", () => {
    expect(findMounts(HYBRID, HYBRID_OWN, true)).toEqual([
      {
        version: 1,
        mountPoint: "/sys/fs/cgroup/cpu,cpuacct",
        controllers: ["cpu", "cpuacct"],
        parents: ["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct/a/b"],
      },
      {
        version: 1,
        mountPoint: "/sys/fs/cgroup/freezer",
        controllers: ["freezer"],
        parents: ["/sys/fs/cgroup/freezer"],
      },
      {
        version: 2,
        mountPoint: "/sys/fs/cgroup/unified",
        controllers: [],
        parents: ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified/user.slice/x"],
      },
    ]);
  });

  test("an ordinary user tries its own group, then the parent", () => {
    const service = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
    expect(findMounts(UNIFIED, UNIFIED_OWN, false)[0]?.parents).toEqual([
      `${service}/tutti.service`,
      service,
    ]);
  });

  test("in a container, paths are relative to the mounted part of the tree", () => {
    const mount = "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
    expect(findMounts(mount, "0::/docker/abc/job\n", false)[0]?.parents).toEqual([
      "/sys/fs/cgroup/job",
      "/sys/fs/cgroup",
    ]);
  });

  test("blanks in a mount point are decoded, and nonsense gives nothing", () => {
    const mount = "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup rw\n";
    expect(findMounts(mount, "0::/\n", true)[0]?.mountPoint).toBe("/my groups");
    expect(findMounts("nonsense\n\n", "", true)).toEqual([]);
  });
});

test("of several mounts of v2, the first that can be used is, so that the others may go", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-mounts-"));
  try {
    const mounts = ["unusable", "first", "chroot"].map((name) => {
      const mountPoint = join(folder, name);
      mkdirSync(join(mountPoint, "tutti-x"), { recursive: true });
      if (name !== "unusable") writeFileSync(join(mountPoint, "tutti-x/cgroup.procs"), "");
      return { version: 2, mountPoint, controllers: [], parents: [mountPoint] } as const;
    });
    expect(openHierarchies("tutti-x", mounts).map((one) => one.folder)).toEqual([
      join(folder, "first/tutti-x"),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe("processes", () => {
  test("parseStat() is not misled by a name with blanks and parentheses", () => {
    const fields = Array.from({ length: 50 }, (_, i) => String(100 + i));
    fields.splice(0, 4, "S", "4", "5", "6");
    fields.splice(17, 3, "9", "0", "777");
    fields[38] = "5";
    expect(parseStat(`12 (a) R 1 (b) ${fields.join(" ")}`)).toEqual({
      pid: 12,
      name: "a) R 1 (b",
      state: "S",
      parent: 4,
      session: 6,
      threads: 9,
      policy: 5,
      startTicks: 777,
    });
    expect(parseStat("")).toBeUndefined();
    expect(parseStat("12 (a) S 1")).toBeUndefined();
  });

  test("isAlive() identifies a process by boot, pid and start; ended processes are not alive, reaped or not", async () => {
    const child = spawn("sleep", ["20"], { stdio: "ignore" });
    const identity = identityOf(child.pid ?? 0);
    if (identity === undefined) throw new Error("Cannot start sleep");
    expect(readStat(identity.pid)?.parent).toBe(process.pid);
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, startTicks: identity.startTicks - 1 })).toBe(false);
    expect(isAlive({ ...identity, bootId: "another" })).toBe(false);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    expect(signal(identity.pid, "SIGKILL")).toBe(true);
    await ended;
    expect(isAlive(identity)).toBe(false);
    expect(signal(identity.pid, "SIGKILL")).toBe(false);
  });

  test("signal() never reaches process 1 or a whole group", () => {
    for (const pid of [1, 0, -1, -process.pid]) expect(signal(pid, "SIGCONT")).toBe(false);
  });
});
