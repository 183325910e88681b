/**
 * Implements WLV: gangs get windows of consecutive processors, which are found with a workload vector and
 * freed by re-packing.
 */

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
import { DEPARTURES_FIRST, extraSlotRule, RepackingGang } from "./repacking-gang.ts";
import { RingGang } from "./ring-gang.ts";
import { withAdmission } from "./with-admission.ts";

export const wlv = withAdmission(
  {
    name: "wlv",
    title: "Workload vector, re-packing",
    sharing: "time",
    summary:
      "Gang scheduling on consecutive processors: least loaded window first, rows saved by re-packing.",
    rules: [
      "an arrival gets the window of its size with the most idle slots among the windows in which every processor has an idle slot (ties: the leftmost)",
      "if there is no such window, a row is added at the end of the round, and its slots count as idle",
      "the idle slots of a window are gathered in one row by exchanging jobs between rows; no job moves to other processors",
      "before the arrivals of an instant, rows are re-packed and deleted as long as every processor has an idle slot",
      ...when(
        ({ array }) => array === "ring",
        [
          "array=ring: the last processor and the first are neighbours, and windows and jobs may wrap around",
          "array=ring: if legal cuts do not allow gathering a window, the ring is opened at the first cut that is legal in all rows, and the arrival gets the least loaded window of the resulting array",
          "array=ring: if there is no such cut or no such window, a row is added",
          "array=ring: a row is deleted only if re-packing manages to empty it",
        ],
      ),
      ...when(withExtraSlots("none"), ["a job has one slot per round"]),
      ...when(withExtraSlots("kept"), [
        "extraSlots=kept: each workload change gives one extra slot to the largest job (ties: submitted first) whose processors all have an idle slot",
        "extraSlots=kept: a job keeps its extra slots until it ends",
      ]),
      ...when(withExtraSlots("returned"), [
        "extraSlots=returned: after each workload change, jobs get one more slot each, largest first; this is repeated until no job can get another slot",
        "extraSlots=returned: windows are chosen, and rows added and deleted, as if every job had one slot",
        "extraSlots=returned: if a processor without an idle slot is needed, the job with the most slots on this processor (ties: submitted last) gives back its last slot of the round",
      ]),
      ...MIGRATION_RULES,
      DEPARTURES_FIRST,
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
          `Cannot run wlv with "array=ring" and "migrate=${parameters.migrate}": on a ring, legal cuts decide whether a row can be saved; expected array=linear or no migrate`,
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
        ? ["array=ring", "legal cuts decide which window a gang will get"]
        : migrates(parameters),
  },
);
