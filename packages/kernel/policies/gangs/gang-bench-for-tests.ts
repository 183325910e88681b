/** Runs a gang policy on its own matrix, without a clock: the test decides when jobs arrive and end. */
import fc from "fast-check";
import type { JobIndex } from "../../core/jobs.ts";
import type { GangMachine, GangPolicyDefinition, ParameterValues, RowId } from "../../core/policy.ts";
import { fullTable } from "../../simulator/full-table-for-tests.ts";
import { gangInstance } from "../../simulator/gang-for-tests.ts";
import { OusterhoutMatrix } from "../../structures/matrix/matrix.ts";
import { auditMatrix } from "../../structures/matrix/matrix-audit-for-tests.ts";
import { picture } from "../../structures/matrix/pictures-for-tests.ts";

/** Counts what the policy asks for. */
export class BenchMachine extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
  placings = 0;
  releases = 0;

  override placeStretches(job: JobIndex, row: RowId, stretches: ArrayLike<number>, count: number): void {
    this.placings++;
    super.placeStretches(job, row, stretches, count);
  }
  override place(job: JobIndex, row: RowId, first: number): void {
    this.placings++;
    super.place(job, row, first);
  }
  override release(job: JobIndex, row: RowId): void {
    this.releases++;
    super.release(job, row);
  }
}

/**
 * Jobs A, B, C …, given by their sizes. Each step ends some jobs, lets others arrive, and returns a picture.
 */
export function gangBench(
  definition: GangPolicyDefinition,
  parameters: ParameterValues,
  processors: number,
  sizes: readonly number[],
) {
  const instance = gangInstance(
    processors,
    sizes.map((size) => [0, 1, size] as const),
  );
  const machine = new BenchMachine(processors, instance.size);
  const policy = definition.make(machine, fullTable(instance), parameters);
  const step = (ends: readonly JobIndex[], arrive: readonly JobIndex[]): string[] => {
    for (const job of ends) machine.removeJob(job);
    for (const job of ends) policy.depart(job);
    policy.decide(arrive);
    auditMatrix(machine);
    return picture(machine);
  };
  return { machine, step };
}

/** A story: a machine, sizes, and for each step the jobs that end and those that arrive. */
export interface Story {
  readonly processors: number;
  readonly sizes: readonly number[];
  readonly steps: readonly { readonly ends: readonly JobIndex[]; readonly arrive: readonly JobIndex[] }[];
}

/**
 * Stories of up to 26 jobs, A to Z, on up to `maxProcessors` processors; no job ends before it has arrived.
 */
export function arbitraryStory(maxProcessors: number): fc.Arbitrary<Story> {
  const change = fc.record({ arrive: fc.nat(4), ends: fc.array(fc.nat(40), { maxLength: 4 }) });
  return fc
    .record({
      processors: fc.integer({ min: 1, max: maxProcessors }),
      wanted: fc.array(fc.integer({ min: 1, max: maxProcessors }), { minLength: 26, maxLength: 26 }),
      changes: fc.array(change, { maxLength: 16 }),
    })
    .map(({ processors, wanted, changes }) => {
      const sizes = wanted.map((size) => Math.min(size, processors));
      const present: JobIndex[] = [];
      let next = 0;
      const steps = changes.map(({ arrive, ends }) => {
        const ended: JobIndex[] = [];
        for (const at of ends) if (present.length > 0) ended.push(...present.splice(at % present.length, 1));
        const arrived = Array.from({ length: Math.min(arrive, sizes.length - next) }, () => next++);
        present.push(...arrived);
        return { ends: ended, arrive: arrived };
      });
      return { processors, sizes, steps };
    });
}
