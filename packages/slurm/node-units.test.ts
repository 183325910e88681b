import { DEFAULT_CONFIG } from "@tutti/live/daemon/config/config.ts";
import { expect, test } from "vitest";
import { withNodeUnits } from "./node-units.ts";
import { KIND } from "./slurm-for-tests.ts";

test("GPUs and what sbatch asks for are units of each node, as far as all kinds of pilots have them; licences are there once", () => {
  const named = (name: string, units: readonly string[]) => ({ name, units, isShared: false, variables: [] });
  const config = { ...DEFAULT_CONFIG, resources: [named("licence", ["a", "b"]), named("fpga", ["left"])] };
  const more = { ...KIND, name: "more", sbatch: ["--gres=gpu:4,fpga:1"] };
  const options = { sbatch: ["--gres=gpu:2,fpga:1,nic:3"], kinds: [KIND, more] };
  const { resources } = withNodeUnits(config, options);
  expect(resources).toEqual([
    named("licence", ["a", "b"]),
    { ...named("fpga", ["left"]), isShared: true, isPerNode: true },
    {
      name: "gpu",
      units: ["0", "1"],
      isShared: true,
      isPerNode: true,
      variables: ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"],
    },
  ]);
  expect(withNodeUnits(DEFAULT_CONFIG, { sbatch: [], kinds: [KIND] }).resources).toEqual([]);
});
