/**
 * Asks every few seconds how busy the GPUs of the gangs are, as long as a gang has any, and never waits for
 * the answer. Each answer counts for the gangs that hold the GPU and whose slot runs; if none of them runs,
 * for all that hold it: what stopped processes have started on a GPU goes on.
 */
import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { type GpuReading, gpuNamed, readGpus } from "@tutti/host/gpu-programs.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import type { GangPart } from "./attempts/gang-part.ts";
import type { GpuSample } from "./gpu-use.ts";

const ASK_MS = 5000;
/** After a failure, and at most. A program that hangs may be impossible to kill. */
const AFTER_FAILURE_MS = 60_000;
const MAX_AFTER_FAILURE_MS = 3_600_000;

/** What is watched of a gang. */
type Watched = Pick<GangPart, "begun" | "gpuSums" | "isOver" | "kept" | "onSinceMs" | "phase" | "ranMs"> & {
  readonly spec: Pick<GangPart["spec"], "gpus" | "job">;
};

export class GpuWatch {
  readonly #programs: readonly string[];
  readonly #parts: () => Iterable<Watched>;
  readonly #emit: (message: FromConductor) => void;
  #isAsking = false;
  #hadGangs = false;
  #askAtMs = Number.NEGATIVE_INFINITY;
  #failureMs = AFTER_FAILURE_MS;

  /** @param programs full paths of those that read GPUs; empty: nothing is measured, and nothing asked */
  constructor(
    programs: readonly string[],
    parts: () => Iterable<Watched>,
    emit: (message: FromConductor) => void,
  ) {
    this.#programs = programs;
    this.#parts = parts;
    this.#emit = emit;
  }

  /** Called about once a second while gangs run. */
  look(nowMs: number): void {
    if (this.#programs.length === 0 || this.#isAsking) return;
    const gangs = this.#gangs();
    for (const gang of gangs) gang.gpuSums.begin(nowMs, gang.ranMs(nowMs));
    // The first moments of a gang say little about it.
    if (!this.#hadGangs) this.#askAtMs = Math.max(this.#askAtMs, nowMs + ASK_MS);
    this.#hadGangs = gangs.length > 0;
    if (gangs.length === 0 || nowMs < this.#askAtMs) return;
    this.#isAsking = true;
    void readGpus(this.#programs).then((answer) => {
      this.#isAsking = false;
      const answeredMs = monotonicMs();
      if (answer === undefined) this.#failed(answeredMs);
      else this.#answered(answer.gpus, nowMs, answeredMs);
    });
  }

  #gangs(): Watched[] {
    return [...this.#parts()].filter(
      ({ begun, isOver, spec }) => begun && !isOver && (spec.gpus ?? []).length > 0,
    );
  }

  #failed(nowMs: number): void {
    if (this.#failureMs === AFTER_FAILURE_MS) {
      const message = `Cannot measure GPUs: ${this.#programs.join(" and ")} said nothing about any; asking again later`;
      console.error(new Date(unixMs()).toISOString(), message);
    }
    for (const gang of this.#gangs()) gang.gpuSums.skip(nowMs, gang.ranMs(nowMs));
    this.#askAtMs = nowMs + this.#failureMs;
    this.#failureMs = Math.min(MAX_AFTER_FAILURE_MS, 2 * this.#failureMs);
  }

  #answered(gpus: readonly GpuReading[], askedMs: number, nowMs: number): void {
    this.#failureMs = AFTER_FAILURE_MS;
    this.#askAtMs = askedMs + ASK_MS;
    const gangs = this.#gangs();
    const samples = samplesOf(gangs, gpus);
    for (const gang of gangs) {
      const sample = samples.get(gang);
      if (sample !== undefined) gang.gpuSums.add(nowMs, gang.ranMs(nowMs), sample);
    }
    this.#emit({
      type: "gpus",
      gpus: gpus.map(({ index, share, memoryBytes }) => ({ gpu: index, share, memoryBytes })),
      jobs: gangs.flatMap(({ spec: { job }, gpuSums: { use } }) =>
        use === undefined ? [] : { job, ...use },
      ),
    });
  }
}

type Holder = Pick<Watched, "kept" | "onSinceMs" | "phase"> & {
  readonly spec: Pick<Watched["spec"], "gpus">;
};

/** What each gang used. A gang without a GPU whose use is known is left out. */
export function samplesOf<Gang extends Holder>(
  gangs: readonly Gang[],
  gpus: readonly GpuReading[],
): ReadonlyMap<Gang, GpuSample> {
  const holders = new Map<GpuReading, Gang[]>();
  for (const gang of gangs) {
    for (const name of new Set(gang.spec.gpus)) {
      const gpu = gpuNamed(name, gpus);
      if (gpu !== undefined) holders.set(gpu, [...(holders.get(gpu) ?? []), gang]);
    }
  }
  const samples = new Map<Gang, GpuSample>();
  for (const [{ share, memoryBytes }, all] of holders) {
    if (share === undefined) continue;
    const on = all.filter(isOn);
    for (const gang of all) {
      const sum = samples.get(gang) ?? { gpus: 0, busy: 0, memoryBytes: 0 };
      samples.set(gang, {
        gpus: sum.gpus + 1,
        busy: sum.busy + (on.length === 0 || on.includes(gang) ? share : 0),
        memoryBytes: sum.memoryBytes + memoryBytes,
      });
    }
  }
  return samples;
}

/** Whether its processes run now. */
function isOn({ kept, onSinceMs, phase }: Holder): boolean {
  return kept || onSinceMs !== undefined || phase === "stopping";
}
