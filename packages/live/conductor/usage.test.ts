/** Reads made-up control groups; what files look like is from the kernel's documentation. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GangGroups } from "@tutti/host/cgroups.ts";
import { afterAll, expect, test } from "vitest";
import { usageOf } from "./usage.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-usage-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Controls = ConstructorParameters<typeof GangGroups>[0][number]["controls"];

function groups(name: string, version: 1 | 2, controls: Controls, files: Record<string, string>): GangGroups {
  const gang = join(folder, name, "7.1");
  mkdirSync(gang, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(gang, file), text);
  return new GangGroups([{ version, folder: join(folder, name), controls }]);
}

/** 8:0 and 8:16 are disks; 253:0 is a logical volume on 8:0; 7:0 is a loop device. */
function devices(): string {
  const root = join(folder, "devices");
  for (const path of ["8:0/slaves", "8:16/slaves", "253:0/slaves/sda", "7:0/loop"]) {
    mkdirSync(join(root, path), { recursive: true });
  }
  return root;
}

test("version 2: CPU time, peak memory, and bytes of devices that stand on no other device", () => {
  const all = groups("v2", 2, new Set(["cpuacct", "memory", "io"]), {
    "cpu.stat": "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n",
    "memory.peak": "1048576\n",
    "io.stat":
      "8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0\n" +
      "8:0 rbytes=90430464 wbytes=299008000 rios=8950 wios=1252 dbytes=50331648 dios=3021\n" +
      "253:0 rbytes=90430464 wbytes=299008000 rios=8950 wios=1252\n7:0 rbytes=5 wbytes=6\n",
  });
  expect(usageOf(all, "7.1", devices())).toEqual({
    cpuMs: 1235,
    peakMemoryBytes: 1_048_576,
    readBytes: 1_459_200 + 90_430_464,
    writtenBytes: 314_773_504 + 299_008_000,
  });
});

test("version 1: CPU time in ns; a memory group that nobody joined says nothing", () => {
  const cpu = groups("v1", 1, new Set(["cpuacct", "memory"]), {
    "cpuacct.usage": "2500000000\n",
    "memory.max_usage_in_bytes": "0\n",
  });
  expect(usageOf(cpu, "7.1")).toEqual({ cpuMs: 2500 });
  const memory = groups("v1-memory", 1, new Set(["memory"]), { "memory.max_usage_in_bytes": "4096\n" });
  expect(usageOf(memory, "7.1")).toEqual({ peakMemoryBytes: 4096 });
});

test("without control groups, nothing is known; kernels before 5.19 have no peak", () => {
  expect(usageOf(new GangGroups([]), "7.1")).toEqual({});
  const old = groups("old", 2, new Set(["cpuacct", "memory"]), { "cpu.stat": "usage_usec 900\n" });
  expect(usageOf(old, "7.1")).toEqual({ cpuMs: 1 });
});
