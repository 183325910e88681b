/** Finds the processes that a fault test kills, without asking the scheduler. */
import { readFileSync } from "node:fs";
import { allPids, readStat } from "@tutti/host/processes.ts";
import type { TestCluster } from "./cluster.ts";

function argvOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  } catch {
    return [];
  }
}

/** Conductors of a node; a child has the same title before its exec, and one thread. */
export function conductorsOf(cluster: TestCluster, node: string): number[] {
  return cluster
    .processesOf(node)
    .filter((pid) => argvOf(pid)[0]?.startsWith("tutti-conductor") && (readStat(pid)?.threads ?? 0) > 1);
}

/** Keepers of a node, which are the tasks of their steps; a child before its exec has another parent. */
export function keepersOf(cluster: TestCluster, node: string): number[] {
  return cluster.processesOf(node).filter((pid) => {
    const argv = argvOf(pid);
    return argv[0]?.endsWith("sh") && argv.includes("tutti-keeper") && isStepd(readStat(pid)?.parent ?? 0);
  });
}

/** slurmstepd of the steps of keepers. */
export function stepdsOf(cluster: TestCluster, node: string): number[] {
  return keepersOf(cluster, node).map((pid) => readStat(pid)?.parent ?? 0);
}

/** The sruns that connect a front end with the conductors. */
export function connectorsOf(frontEnd: number | undefined): number[] {
  return allPids().filter((pid) => readStat(pid)?.parent === frontEnd && argvOf(pid)[0]?.endsWith("srun"));
}

function isStepd(pid: number): boolean {
  return argvOf(pid)[0]?.startsWith("slurmstepd") ?? false;
}

/** Processes of all nodes that are stopped. */
export function stoppedOn(cluster: TestCluster): number[] {
  return cluster.nodes.flatMap((node) =>
    cluster.processesOf(node).filter((pid) => /[Tt]/.test(readStat(pid)?.state ?? "")),
  );
}

/** Everything on the nodes that is not part of the cluster itself: the node's first process and slurmd. */
export function foreignOn(cluster: TestCluster): number[] {
  return cluster.nodes.flatMap((node) =>
    cluster.processesOf(node).filter((pid) => {
      const argv = argvOf(pid);
      const isFirst = argv[0] === "sh" && argv.includes(node) && argv.includes(cluster.folder);
      return !isFirst && argv[0] !== "slurmd" && argv.join(" ") !== "sleep 3600";
    }),
  );
}

/** How often the process has left a CPU so far; while it is stopped, the number stays. */
export function switchesOf(pid: number): number {
  try {
    const counts = readFileSync(`/proc/${pid}/status`, "utf8").matchAll(/ctxt_switches:\s+(\d+)/g);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  } catch {
    return 0;
  }
}
