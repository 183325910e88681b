/** Reads made-up machines as the kernel shows them; the expected orders are worked by hand. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countOf, firstThreads, inOrder, placesOf } from "./topology.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-topology-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A machine: for each CPU its socket and the list of its core's threads. */
function machine(
  cpus: Readonly<Record<number, readonly [socket: number, threads: string]>>,
  name = "core_cpus_list",
) {
  for (const [cpu, [socket, threads]] of Object.entries(cpus)) {
    const place = join(folder, `cpu${cpu}`, "topology");
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "physical_package_id"), `${socket}\n`);
    writeFileSync(join(place, name), `${threads}\n`);
  }
}

function read(cpus: readonly number[]) {
  const places = placesOf(cpus, folder);
  const order = inOrder(places);
  return {
    order: order.map(({ cpu }) => cpu),
    first: firstThreads(order).map(({ cpu }) => cpu),
    sockets: countOf(places, "socket"),
    cores: countOf(places, "core"),
  };
}

describe("a machine", () => {
  test("of one socket without SMT", () => {
    machine({ 0: [0, "0"], 1: [0, "1"], 2: [0, "2"] });
    expect(read([0, 1, 2])).toEqual({ order: [0, 1, 2], first: [0, 1, 2], sockets: 1, cores: 3 });
  });

  test("of one socket with SMT, threads far apart, as on most PCs of Intel's", () => {
    machine({ 0: [0, "0,2"], 1: [0, "1,3"], 2: [0, "0,2"], 3: [0, "1,3"] });
    expect(read([0, 1, 2, 3])).toEqual({ order: [0, 2, 1, 3], first: [0, 1], sockets: 1, cores: 2 });
  });

  test("with SMT, threads next to each other, as in many virtual machines", () => {
    machine({ 0: [0, "0-1"], 1: [0, "0-1"], 2: [0, "2-3"], 3: [0, "2-3"] });
    expect(read([0, 1, 2, 3])).toEqual({ order: [0, 1, 2, 3], first: [0, 2], sockets: 1, cores: 2 });
  });

  test("of two sockets that are numbered in turns, with SMT", () => {
    // Even CPUs are on socket 0; CPUs 4 to 7 are the second threads of 0 to 3.
    const cpus: Record<number, [number, string]> = {};
    for (let cpu = 0; cpu < 8; cpu++) cpus[cpu] = [cpu % 2, `${cpu % 4},${(cpu % 4) + 4}`];
    machine(cpus);
    expect(read([0, 1, 2, 3, 4, 5, 6, 7])).toEqual({
      order: [0, 4, 2, 6, 1, 5, 3, 7],
      first: [0, 2, 1, 3],
      sockets: 2,
      cores: 4,
    });
  });

  test("with odd numbers of sockets, and CPUs that are offline", () => {
    // CPU 1 is offline, so the kernel has no topology of it and leaves it out of its core.
    machine({ 0: [36, "0"], 2: [0, "2-3"], 3: [0, "2-3"] });
    mkdirSync(join(folder, "cpu1"));
    expect(read([0, 2, 3])).toEqual({ order: [2, 3, 0], first: [2, 0], sockets: 2, cores: 2 });
  });

  test("of which this process may use only some threads", () => {
    machine({ 0: [0, "0,2"], 1: [0, "1,3"], 2: [0, "0,2"], 3: [0, "1,3"] });
    // Of core 0 only the second thread, of core 1 both.
    expect(read([1, 2, 3])).toEqual({ order: [2, 1, 3], first: [2, 1], sockets: 1, cores: 2 });
  });

  test("whose kernel is old, says −1, or says nothing", () => {
    machine({ 0: [-1, "0-1"], 1: [-1, "0-1"] }, "thread_siblings_list");
    expect(read([0, 1])).toEqual({ order: [0, 1], first: [0], sockets: 1, cores: 1 });
    expect(read([7, 9])).toEqual({ order: [7, 9], first: [7, 9], sockets: 1, cores: 2 });
  });
});
