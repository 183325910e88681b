/** What `scontrol update` changes, as a change of Tutti's. */

import { slurmMebibytes } from "@tutti/cli/options/slurm-options.ts";
import { parseUse } from "@tutti/protocol/resources.ts";
import type { UpdateBody } from "@tutti/protocol/schema.ts";
import { slurmSeconds } from "@tutti/protocol/slurm-time.ts";
import { SlurmError } from "../errors.ts";

type Reader = (value: string) => Partial<UpdateBody> | undefined;

const name: Reader = (text) => (text === "" ? undefined : { name: text });
const tasks: Reader = (value) => (/^[1-9]\d{0,6}$/.test(value) ? { tasks: Number(value) } : undefined);

const READERS: Readonly<Record<string, Reader>> = {
  name,
  jobname: name,
  partition: (queue) => (queue === "" ? undefined : { queue }),
  timelimit: (value) => {
    const seconds = slurmSeconds(value);
    return seconds === undefined ? undefined : { limitMs: 60_000 * Math.max(1, Math.ceil(seconds / 60)) };
  },
  numtasks: tasks,
  numcpus: tasks,
  minmemorynode: (value) => {
    const mebibytes = slurmMebibytes(value);
    return mebibytes === undefined ? undefined : { memoryBytes: mebibytes * 2 ** 20 };
  },
  nice: (value) =>
    /^-?\d{1,7}$/.test(value) ? { priority: Math.max(-100, Math.min(100, -Number(value))) } : undefined,
  requeue: (value) => (value === "0" || value === "1" ? { retries: Number(value) } : undefined),
  gres: (value) => {
    const use = parseUse(value);
    return use === undefined ? undefined : { use };
  },
};

/** @throws SlurmError for what Tutti cannot change */
export function updateOf(values: ReadonlyMap<string, string>): UpdateBody {
  let update: UpdateBody = {};
  for (const [name, value] of values) {
    const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
    if (read === undefined) {
      throw new SlurmError(
        `Cannot update ${name}: Tutti can change Name, Partition, TimeLimit, NumTasks, MinMemoryNode, Nice, Requeue and Gres`,
      );
    }
    const field = read(value);
    if (field === undefined) throw new SlurmError(`Invalid value "${value}" for ${name}`);
    update = { ...update, ...field };
  }
  if (values.size === 0)
    throw new SlurmError("Cannot update: expected what changes, such as TimeLimit=2:00:00");
  return update;
}
