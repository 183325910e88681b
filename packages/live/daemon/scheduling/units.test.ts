import { expect, test } from "vitest";
import { chooseUnits } from "./units.ts";

const GPUS = {
  name: "gpu",
  units: ["0", "1", "2"],
  isShared: true,
  isPerNode: true,
  variables: [],
} as const;
const on = (...names: string[]) => names.map((node) => ({ node, cpus: [0] }));

test("of units that each node has, a job gets the same on all of its nodes: those that the fewest hold there", () => {
  const holders = [
    { job: 1, nodes: on("n1"), units: { gpu: ["0"] } },
    { job: 2, nodes: on("n2"), units: { gpu: ["1"] } },
    // On other nodes.
    { job: 3, nodes: on("n3", "n4"), units: { gpu: ["2"] } },
  ];
  const unitsOf = (amount: number, ...names: string[]) =>
    chooseUnits({ job: 9, use: { gpu: amount }, nodes: on(...names) }, [GPUS], holders)?.gpu;
  expect(unitsOf(1, "n1")).toEqual(["1"]);
  expect(unitsOf(1, "n2")).toEqual(["0"]);
  expect(unitsOf(1, "n1", "n2")).toEqual(["2"]);
  expect(unitsOf(2, "n1", "n2")).toEqual(["2", "0"]);
  expect(unitsOf(2, "n5")).toEqual(["0", "1"]);
});
