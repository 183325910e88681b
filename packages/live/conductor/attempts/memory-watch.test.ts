/** Reads the memory of real processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { bytesOf, MemoryWatch } from "./memory-watch.ts";

const MIB = 2 ** 20;

test("bytesOf + is what the kernel says; of processes that are gone, nothing", () => {
  const own = process.memoryUsage.rss();
  expect(Math.abs(bytesOf([process.pid], Number.POSITIVE_INFINITY) / own - 1)).toBeLessThan(0.2);
  expect(bytesOf([999_999_999], 0)).toBe(0);
});

test("bytesOf + counts pages that processes share once, if they would exceed the limit otherwise", async () => {
  // Three children share 60 MiB with their parent.
  const program = `$| = 1; open my $zero, "<", "/dev/zero"; sysread $zero, $x, 60 << 20;
    for (1 .. 3) { my $child = fork; if (!$child) { sleep 60; exit } push @all, $child }
    print "@all\\n"; sleep 60`;
  const parent = spawn("perl", ["-e", program], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(parent.stdout, "data");
  const children = String(line).trim().split(" ").map(Number);
  try {
    const all = [parent.pid ?? 0, ...children];
    expect(children).toHaveLength(3);
    expect(bytesOf(all, Number.POSITIVE_INFINITY)).toBeGreaterThan(4 * 60 * MIB);
    const shared = bytesOf(all, 100 * MIB);
    expect(shared).toBeGreaterThan(60 * MIB);
    expect(shared).toBeLessThan(100 * MIB);
  } finally {
    for (const pid of [parent.pid ?? 0, ...children]) process.kill(pid, "SIGKILL");
  }
});

test("MemoryWatch + looks once a second", () => {
  const watch = new MemoryWatch(process.memoryUsage.rss() * 2);
  let looks = 0;
  const pids = () => {
    looks++;
    return [process.pid];
  };
  for (let ms = 0; ms <= 3000; ms += 50) watch.look(ms, pids);
  expect(looks).toBe(4);
  expect(watch.share).toBeGreaterThan(0.3);
  expect(watch.share).toBeLessThan(0.9);
});
