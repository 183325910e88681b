import { expect, test } from "vitest";
import { type GpuFacts, gpuText } from "./gpu-text.ts";

const GPUS = ["0", "1"].map((index) => ({
  ...{ index, uuid: `GPU-a${index}`, name: "NVIDIA A100", memoryBytes: 0, totalBytes: 80 },
}));
const FACTS: GpuFacts = {
  ...{ programs: ["nvidia-smi"], program: "nvidia-smi", gpus: GPUS, units: ["0", "1"], isServed: true },
};
const of = (more: Partial<GpuFacts>) => gpuText({ ...FACTS, ...more });

test("jobs get all that are there, by number or by uuid", () => {
  const found = "2 × NVIDIA A100 (0,1), by nvidia-smi";
  expect(gpuText(FACTS)).toBe(`${found}; jobs get 0,1`);
  expect(of({ units: ["GPU-a1", "0"] })).toBe(`${found}; jobs get GPU-a1,0`);
});

test("what the configuration has and the machine has not, and the other way round", () => {
  const found = "2 × NVIDIA A100 (0,1), by nvidia-smi";
  expect(of({ units: ["0", "7"] })).toBe(
    `${found}; jobs get 0; 7 in the configuration: no number and no uuid that nvidia-smi knows, so their use is not measured; 1 not in the configuration: write resources = { gpu = ["0","1"] }`,
  );
  expect(of({ units: [], isServed: false })).toBe(
    `${found}; 0,1 not in the drivers' files: write resources = { gpu = ["0","1"] }`,
  );
});

test("without a program, or with one that finds none", () => {
  const none: Partial<GpuFacts> = { programs: [], gpus: [], units: [] };
  expect(of(none)).toBe("none found (no nvidia-smi, no rocm-smi)");
  const { program: _, ...silent } = FACTS;
  expect(gpuText({ ...silent, gpus: [] })).toBe(
    "none found: nvidia-smi said nothing about any; jobs get 0,1, and nothing measures their use",
  );
});
