/** WLV: windows of any processors side by side, found with a workload vector and freed by re-packing. */

import { InputError } from "../../core/errors.ts";
import { choice } from "../../core/parameters.ts";
import { setNumber, when } from "../../core/policy.ts";
import { UNIFY, withExtraSlots } from "./extra-slots.ts";
import { WindowIndex } from "./idle-index.ts";
import {
  MIGRATE,
  MIGRATION_RULES,
  migrates,
  migrationCostS,
  migrationOf,
  withMigration,
} from "./migration.ts";
import { extraSlotRule, RepackingGang } from "./repacking-gang.ts";
import { RingGang } from "./ring-gang.ts";
import { withAdmission } from "./with-admission.ts";

export const wlv = withAdmission(
  {
    name: "wlv",
    title: "Workload vector, re-packing",
    sharing: "time",
    summary:
      "Gang scheduling on any processors side by side: least loaded window first, rows saved by re-packing.",
    rules: [
      "an arrival is given the window of its size with most idle slots among those in which every processor has one (ties: the leftmost); without one a row is added at the end of the round and counts as idle",
      "idle slots of a window are gathered in one row by exchanging jobs between rows; no job moves to other processors",
      "before the arrivals of an instant rows are re-packed and deleted while every processor has an idle slot",
      ...when(
        ({ array }) => array === "ring",
        [
          "array=ring: the last processor and the first are neighbours, windows and jobs may go around; where no legal cut lets a window be gathered, the ring is opened at the first cut that is legal in all rows and the least loaded window of that array taken, and without one a row is added; a row is deleted only if re-packing finds it free",
        ],
      ),
      ...when(withExtraSlots("none"), ["a job has one slot per round"]),
      ...when(withExtraSlots("kept"), [
        "extraSlots=kept: after each workload change one extra slot is given out, to the largest job (ties: submitted first) whose processors have an idle slot each; the job keeps it to the end",
      ]),
      ...when(withExtraSlots("returned"), [
        "extraSlots=returned: after each workload change jobs take turns, the largest first, one more slot per turn, until nobody can have one; windows are chosen, and rows added and deleted, as if every job had one slot, and where a processor has no idle slot, the job on it that has most slots (ties: submitted last) gives its last one of the round back",
      ]),
      ...MIGRATION_RULES,
      { text: "departures come before arrivals, arrivals in order of submission", isInherited: true },
    ],
    source: "Zhou, Brent, Johnson and Walsh 1999, sections 3 and 4",
    parameters: [
      choice("array", ["linear", "ring"], "whether the last processor and the first are neighbours"),
      UNIFY,
      MIGRATE,
    ],
    guarantees: (parameters) =>
      withMigration({ headNeverFits: true, workConserving: true, keepsPromises: true }, parameters),
    make: (machine, jobs, parameters) => {
      const isRing = parameters.array === "ring";
      if (isRing && migrationCostS(parameters) !== undefined) {
        throw new InputError(
          `Cannot run wlv with "array=ring" and "migrate=${parameters.migrate}": whether a row can be saved depends on legal cuts there, expected array=linear or no migrate`,
        );
      }
      const extra = extraSlotRule(parameters);
      if (isRing) return new RingGang(machine, jobs, extra);
      return new RepackingGang(machine, jobs, {
        makeIndex: (processors) => new WindowIndex(processors),
        extra,
        migration: migrationOf(machine, jobs, false, parameters),
      });
    },
  },
  {
    parameters: true,
    asks: true,
    refuses: (parameters) =>
      parameters.array === "ring" &&
      (parameters.queue === "easy" || setNumber(parameters.memory) !== undefined)
        ? ["array=ring", "which window a gang will have depends on legal cuts"]
        : migrates(parameters),
  },
);
