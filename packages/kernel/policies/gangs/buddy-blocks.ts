/** Re-packing gangs on buddy blocks (Zhou, Walsh and Brent 2000, sections 3 and 4.1). */

import { type Condition, NONE, type ParameterValues, when } from "../../core/policy.ts";
import { EXTRA_SLOTS, withExtraSlots } from "./extra-slots.ts";
import { BlockIndex } from "./idle-index.ts";
import { MIGRATE, MIGRATION_RULES, migrates, migrationOf, withMigration } from "./migration.ts";
import { preset } from "./preset.ts";
import {
  DEPARTURES_FIRST,
  EXTRA_ORDER,
  EXTRA_PER_CHANGE,
  EXTRA_RETURN,
  extraSlotRule,
  RepackingGang,
} from "./repacking-gang.ts";
import { withAdmission } from "./with-admission.ts";

/** The reading of BRMS that is nearest to table 2 of zhou2000. */
const TABLE_2: ParameterValues = { extraOrder: "largest", extraPerChange: 1 };
const isTable2: Condition = ({ extraOrder, extraPerChange }) =>
  extraOrder === TABLE_2.extraOrder && extraPerChange === TABLE_2.extraPerChange;
const inOtherOrder: Condition = ({ extraOrder = "largest" }) => extraOrder !== "largest";
const returnsAll: Condition = ({ extraReturn }) => extraReturn === "all";

const blocks = withAdmission(
  {
    name: "br",
    title: "Buddy, re-packing",
    sharing: "time",
    summary:
      "Gang scheduling on buddy blocks: least loaded block first, rows saved by re-packing, one slot per job.",
    rules: [
      "a job takes the leftmost processors of its block, the smallest buddy block that holds it, and other jobs may use the rest",
      "an arrival gets the block with the most idle slots among the blocks of its size in which every processor has an idle slot (ties: the leftmost)",
      "a row is added, at the end of the round, only if no block of the job's size has an idle slot on every processor",
      "the idle slots of a block are gathered in one row by exchanging jobs between rows; no job moves to other processors",
      "before and after the arrivals of an instant, rows are re-packed and deleted as long as every processor has an idle slot",
      ...when(withExtraSlots("none"), ["a job has one slot per round"]),
      ...when(
        (parameters) => withExtraSlots("kept")(parameters) && isTable2(parameters),
        [
          "each workload change gives one extra slot to the largest job (ties: submitted first) whose block has an idle slot",
        ],
      ),
      ...when(
        (parameters) => withExtraSlots("kept")(parameters) && !isTable2(parameters),
        [
          "after each workload change, jobs whose block has an idle slot take turns, in extraOrder, and get one more slot per turn, until extraPerChange slots are given out or no job's block has an idle slot",
        ],
      ),
      ...when(withExtraSlots("kept"), [
        "a job keeps its extra slots until it ends, and they count as busy in all decisions",
      ]),
      ...when(
        (parameters) => withExtraSlots("returned")(parameters) && !inOtherOrder(parameters),
        [
          "after each workload change, jobs whose block has an idle slot take turns, largest first (ties: submitted first), and get one more slot per turn until no job's block has an idle slot",
        ],
      ),
      ...when(
        (parameters) => withExtraSlots("returned")(parameters) && inOtherOrder(parameters),
        [
          "after each workload change, jobs whose block has an idle slot take turns, in extraOrder, and get one more slot per turn until no job's block has an idle slot",
        ],
      ),
      ...when(withExtraSlots("returned"), [
        "blocks are chosen, and rows added and deleted, as if every job had one slot, so that there are exactly as many rows as with extraSlots=none for the same arrivals and departures, unless gangs migrate",
      ]),
      ...when(
        (parameters) => withExtraSlots("returned")(parameters) && !returnsAll(parameters),
        [
          "when an arrival or the deletion of a row needs a processor that is busy in every row, the job with the most slots on this processor (ties: submitted last) gives back its last slot of the round",
        ],
      ),
      ...when(
        (parameters) => withExtraSlots("returned")(parameters) && returnsAll(parameters),
        [
          "extraReturn=all: before arrivals are placed, and before a row is deleted, all jobs give all their extra slots back",
        ],
      ),
      "if the machine's size is not a power of two, a block that the end of the machine cuts off still takes a job that fits in the remaining part",
      ...MIGRATION_RULES,
      DEPARTURES_FIRST,
    ],
    source: "Zhou, Walsh and Brent 2000, sections 3 and 4.1, scheme BR",
    parameters: [EXTRA_SLOTS, EXTRA_ORDER, EXTRA_PER_CHANGE, EXTRA_RETURN, MIGRATE],
    guarantees: (parameters) =>
      withMigration({ headNeverFits: true, workConserving: true, keepsPromises: true }, parameters),
    make: (machine, jobs, parameters) =>
      new RepackingGang(machine, jobs, {
        makeIndex: (processors) => new BlockIndex(processors),
        extra: extraSlotRule(parameters),
        migration: migrationOf(machine, jobs, true, parameters),
      }),
  },
  { parameters: true, asks: true, refuses: migrates },
);

const SINGLE: ParameterValues = { extraReturn: "single" };

export const br = preset(blocks, { ...TABLE_2, ...SINGLE }, {});

export const brms = preset(
  blocks,
  { extraSlots: "kept", ...SINGLE },
  {
    name: "brms",
    title: "Buddy, re-packing, multiple slots",
    summary:
      "Like br, but jobs also run in idle slots of their block, whenever possible, and keep them until they end.",
    source: "Zhou, Walsh and Brent 2000, section 4.1, scheme BRMS; the order of jobs is not printed there",
  },
);

export const brmms = preset(
  blocks,
  { extraSlots: "returned", extraPerChange: NONE },
  {
    name: "brmms",
    title: "Buddy, re-packing, multiple slots, fewest rows",
    summary:
      "Like br, but jobs also run in idle slots of their block and give them back when that saves a row.",
    source:
      "Zhou, Walsh and Brent 2000, section 4.1, scheme BRMMS; the order of jobs, and which slots are given back, are not printed there",
  },
  { extraOrder: "largest" },
);
