/**
 * Lets gangs of busy tasks take turns on all CPUs of three hosts, and judges the turns by the tasks' own
 * records. The hosts share the CPUs of this machine, so each has only a part of them.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readRecords } from "../slurm/judge/records.ts";
import { compilePrograms } from "../slurm/programs.ts";
import { judge, type Turning } from "../slurm/turning-run.ts";
import type { HostsScheduler } from "./hosts.ts";

const GANGS = ["a", "b"];
/** Two CPUs of each of three hosts. */
const TASKS = 6;

/** @param lastsS how long each gang runs, in s */
export async function turnOnHosts(
  scheduler: HostsScheduler,
  { lastsS, slotMs }: { readonly lastsS: number; readonly slotMs: number },
): Promise<Turning> {
  const { hosts } = scheduler;
  const programs = join(hosts.folder, "programs");
  mkdirSync(programs);
  const { busy } = compilePrograms(programs);
  const folders = GANGS.map((gang) => join(hosts.folder, `records-${gang}`));
  const jobs: number[] = [];
  for (const [i, gang] of GANGS.entries()) {
    mkdirSync(folders[i]);
    const words = [
      "-n",
      TASKS,
      "--tasks-run",
      "each",
      "--name",
      gang,
      "--hold",
      "--",
      busy,
      folders[i],
      lastsS,
    ];
    jobs.push(await scheduler.submit(words));
  }
  await scheduler.tutti(["release", jobs.join()]);
  for (const job of jobs) {
    const { state, reason } = await scheduler.ended(job, (GANGS.length * lastsS + 120) * 1000);
    if (state !== "done") throw new Error(`Job ${job} is ${state}: ${reason}`);
  }
  const records = GANGS.flatMap((gang, i) =>
    readRecords(gang, folders[i], (node) => hosts.clockAheadMs(node)),
  );
  for (const folder of [programs, ...folders]) rmSync(folder, { recursive: true });
  if (records.length !== GANGS.length * TASKS)
    throw new Error(`There are ${records.length} records of ${GANGS.length * TASKS} tasks`);
  return judge(records, slotMs);
}
