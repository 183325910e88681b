/** What `tutti doctor` says about GPUs, in one line. */
import { GPU_PROGRAM_NAMES, type GpuReading, gpuNamed } from "@tutti/host/gpu-programs.ts";
import { visibleLine } from "@tutti/words/visible.ts";

export interface GpuFacts {
  /** Names of the programs that are here. */
  readonly programs: readonly string[];
  /** The one of them that has read the GPUs; left out: none of them found any. */
  readonly program?: string;
  readonly gpus: readonly GpuReading[];
  /** Names of the GPUs of jobs: of the scheduler that runs, or of one that starts without a configuration. */
  readonly units: readonly string[];
  readonly isServed: boolean;
}

/** Such as `2 × NVIDIA A100 (0,1), by nvidia-smi; jobs get 0,1`. */
export function gpuText(facts: GpuFacts): string {
  const { programs, program, gpus, units } = facts;
  const unmeasured = units.length > 0 ? `; jobs get ${units.join(",")}, and nothing measures their use` : "";
  if (programs.length === 0)
    return visibleLine(
      `none found (${GPU_PROGRAM_NAMES.map((name) => `no ${name}`).join(", ")})${unmeasured}`,
    );
  if (program === undefined)
    return visibleLine(`none found: ${programs.join(" and ")} said nothing about any${unmeasured}`);
  const kinds = Map.groupBy(gpus, ({ name }) => name);
  const found = [...kinds].map(
    ([name, all]) => `${all.length} × ${name} (${all.map(({ index }) => index).join(",")})`,
  );
  return visibleLine(`${found.join(", ")}, by ${program}; ${unitsText(facts)}`);
}

/** Whether jobs get what is there. */
function unitsText({ program, gpus, units, isServed }: GpuFacts): string {
  const named = units.map((unit) => gpuNamed(unit, gpus));
  const unknown = units.filter((_, i) => named[i] === undefined);
  const unused = gpus.filter((gpu) => !named.includes(gpu)).map(({ index }) => index);
  const known = units.filter((_, i) => named[i] !== undefined);
  const whose = isServed ? "the configuration" : "the drivers' files";
  return [
    ...(known.length > 0 ? [`jobs get ${known.join(",")}`] : []),
    ...(unknown.length > 0
      ? [
          `${unknown.join(",")} in ${whose}: no number and no uuid that ${program} knows, so their use is not measured`,
        ]
      : []),
    ...(unused.length > 0
      ? [
          `${unused.join(",")} not in ${whose}: write resources = { gpu = ${JSON.stringify([...known, ...unused])} }`,
        ]
      : []),
  ].join("; ");
}
