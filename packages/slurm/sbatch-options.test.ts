import { expect, test } from "vitest";
import { checkSbatchOptions, minutesOf, partitionIn, unitsOfNode } from "./sbatch-options.ts";
import { KIND } from "./slurm-for-tests.ts";
import { checkKinds } from "./slurm-options.ts";

test.each([
  [["--partition=long", "-A", "project", "--qos=high", "--constraint", "haswell", "--mem=0"]],
  [["-plong", "--exclude=n7"]],
  [["-Qp", "long", "--nice", "--time-min=5", "-w", "n1,n2", "--exclusive=user", "-x", "-weird-name"]],
  [["--ntasks-per-node=1", "--nodelist=n1", "--wckey=a", "--cluster-constraint=x", "--hint=compute_bound"]],
  [[]],
])("sbatch gets %j", (options) => {
  expect(() => checkSbatchOptions(options)).not.toThrow();
});

test.each([
  [["--nodes=3"], /tutti serve has --nodes/],
  [["-N2"], /tutti serve has --nodes/],
  [["-t", "10"], /tutti serve has --time/],
  [["--comment=mine"], /finds its pilots by their comment/],
  [["--array=1-3"], /a pilot is one job/],
  [["--wrap=sleep 1"], /its own script/],
  [["--requeue"], /submits the next pilot itself/],
  [["job.sh"], /a pilot has its own script/],
  [["--partition=long", "job.sh"], /a pilot has its own script/],
  // What sbatch 22.05 accepted, and took as a job of its own kind: beginnings of names, joined letters, a
  // script after an option without a value, and the start of a second component.
  [["--arr=1-3"], /a pilot is one job/],
  [["--wr=hostname"], /its own script/],
  [["--hol"], /never starts/],
  [["-QH"], /never starts/],
  [["-vW"], /itself waits/],
  [["--exclusive", "./program"], /"\.\/program".*its own script/],
  [["-Q", "./program"], /its own script/],
  [["--exclusive", ":", "-p", "long"], /":".*its own script/],
  [["--", "./program"], /its own script/],
  // sbatch warns "can't run 1 processes on 4 nodes, setting nnodes to 1".
  [["-n", "1"], /fewer nodes/],
  [["--ntasks=8"], /fewer nodes/],
])("sbatch does not get %j", (options, reason) => {
  expect(() => checkSbatchOptions(options)).toThrow(reason);
});

test("the partition is that of the last option", () => {
  expect(partitionIn(["-p", "a", "--partition=b"])).toBe("b");
  expect(partitionIn(["-pc"])).toBe("c");
  expect(partitionIn(["--partition", "d"])).toBe("d");
  expect(partitionIn(["-Qp", "e"])).toBe("e");
  expect(partitionIn(["--part=f", "--nodelist=n1"])).toBe("f");
});

test("a pilot in which nothing could start is refused; Slurm's limits are whole minutes", () => {
  const kinds = [{ ...KIND, timeMs: { min: 30_000, max: 8 * 3_600_000 } }];
  const pilot = { kinds, maxNodes: 4, sbatch: [], drainMs: 20_000, stopBeforeMs: 10_000 };
  expect(minutesOf(30_000)).toBe(1);
  expect(() => checkKinds(pilot)).not.toThrow();
  expect(() => checkKinds({ ...pilot, drainMs: 60_000 })).toThrow(/--drain below --time/);
  expect(() => checkKinds({ ...pilot, stopBeforeMs: 20_000 })).toThrow(/--stop-before below --drain/);
});

test("a kind whose pilots have more nodes than all pilots may have together is refused", () => {
  const kinds = [{ ...KIND, nodes: { min: 4, max: 8 } }];
  const options = { kinds, sbatch: [], drainMs: 300_000, stopBeforeMs: 60_000 };
  expect(() => checkKinds({ ...options, maxNodes: 4 })).not.toThrow();
  expect(() => checkKinds({ ...options, maxNodes: 3 })).toThrow(
    'Cannot keep all pilots within --max-nodes 3: one of the kind "all" has at least 4 nodes',
  );
});

test.each([
  [["--gres=gpu:2"], { gpu: 2 }],
  [["--gres", "gpu:a100:4,fpga"], { gpu: 4, fpga: 1 }],
  [["--gres=gpu:a100:1,gpu:v100:2"], { gpu: 3 }],
  [["--gres=gpu:a100"], { gpu: 1 }],
  [["--gpus-per-node=a100:3"], { gpu: 3 }],
  [["--gres=gpu:2", "--gpus-per-node=4"], { gpu: 4 }],
  [["--gres=none"], {}],
  [["--gres-flags=enforce-binding", "--mem=0"], {}],
])("each node of a pilot with %j has %j", (options, units) => {
  expect(Object.fromEntries(unitsOfNode(options))).toEqual(units);
});
