/**
 * Implements re-packing on a ring: windows and gangs may wrap around from the machine's last processor to its
 * first. Property 1 of zhou1999 then needs a second legal cut, which may not exist
 * (structures/matrix/ring-repacking.ts). If it does not, the ring is opened at a cut that is legal in all
 * rows, and the arrival gets the least loaded window of the resulting array. Without such a cut or such a
 * window, a row is added.
 */
import type { JobIndex, JobsView } from "../../core/jobs.ts";
import type { GangMachine, RowId } from "../../core/policy.ts";
import { firstCut } from "../../structures/matrix/legal-cuts.ts";
import type { SlotReclaimer } from "../../structures/matrix/repacking.ts";
import { freeRowOnRing, gatherOnRing } from "../../structures/matrix/ring-repacking.ts";
import { RingIndex } from "./idle-index.ts";
import { type ExtraSlotRule, RepackingGang } from "./repacking-gang.ts";

const NONE = -1;

export class RingGang extends RepackingGang<RingIndex> {
  readonly #jobs: JobsView;
  readonly #stretches = new Int32Array(4);

  constructor(machine: GangMachine, jobs: JobsView, extra: ExtraSlotRule | undefined) {
    super(machine, jobs, {
      makeIndex: (processors) => new RingIndex(processors),
      extra,
    });
    this.#jobs = jobs;
  }

  /**
   * A window of the ring opened at a cut that is legal in all rows can always be gathered. Rows that can be
   * saved are deleted first.
   */
  override fits(job: JobIndex, maxRows: number): boolean {
    this.deleteRows();
    return this.machine.rowCount < maxRows || this.otherWindow(this.#jobs.size[job]) !== NONE;
  }

  protected override free(first: number, size: number, reclaimer: SlotReclaimer | undefined): RowId {
    const row = gatherOnRing(this.machine, first, size, reclaimer);
    // Extra slots may block a second cut.
    if (row !== NONE || reclaimer === undefined || !this.reclaimAll()) return row;
    return gatherOnRing(this.machine, first, size);
  }

  protected override freeRow(): RowId {
    const row = freeRowOnRing(this.machine, this.reclaimer);
    if (row !== NONE || this.reclaimer === undefined || !this.reclaimAll()) return row;
    return freeRowOnRing(this.machine);
  }

  protected override otherWindow(size: number): number {
    const cut = firstCut(this.machine);
    return cut === NONE ? NONE : this.baseIdle.leastLoadedFrom(cut, size);
  }

  protected override placeAt(job: JobIndex, row: RowId, first: number): void {
    const { processors } = this.machine;
    const end = first + this.#jobs.size[job];
    if (end <= processors) {
      super.placeAt(job, row, first);
      return;
    }
    const stretches = this.#stretches;
    stretches[0] = 0;
    stretches[1] = end - processors;
    stretches[2] = first;
    stretches[3] = processors;
    this.machine.placeStretches(job, row, stretches, 2);
  }
}
