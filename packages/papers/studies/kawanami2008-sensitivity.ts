/**
 * Studies which statements of kawanami2008 hold as the model's free parameters vary: how carefully users
 * choose, the load, the size of batches and the size of the machine.
 */

import { allHold } from "@tutti/lab/claims.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import { lineFigureSvg } from "@tutti/lab/report/svg/figure-svg.ts";
import { cells, type Place } from "../kawanami2008/cells.ts";
import { claims } from "../kawanami2008/claims.ts";
import { QUEUE_NAMES, type QueuesResult } from "../kawanami2008/run.ts";
import type { PlacedCell } from "../paper.ts";
import { Results } from "../results.ts";
import { runCells } from "../run-cells.ts";
import type { Study, StudyTable } from "./study.ts";

const FIRST_SEED = 1;
/** Number of seeds for each choice; the paper's page has more. */
const SEEDS = 24;
const CAREFUL = [0, 0.25, 0.5, 0.75, 1] as const;
const LOADS = [0.7, 0.9, 1, 1.1, 1.25, 1.5] as const;
const BATCHES = [1, 64, 512, 2048] as const;
const PROCESSORS = [704, 1408, 2816, 5632] as const;
const DEFAULTS = { careful: 0.5, load: 1.1, batch: 512, processors: 1408 } as const;

/** A choice of the model's free parameters. */
type Corner = Readonly<Record<keyof typeof DEFAULTS, number>>;
type Verdicts = ReturnType<typeof verdictsOf>;

/** What the abstract and section 5 promise: small jobs wait less, and so do all jobs together. */
const HEADLINES = {
  "P1 all": "figure 2, all jobs: the median wait of proposal 1 is the lowest",
  "P2 ss8": "figure 2, ss8: the median wait of proposal 2 is the lowest",
  "P1 d32": "figure 2, d32: the median wait of proposal 1 is the lowest",
  "P2 longest ss8": "figure 3, ss8: the longest wait of proposal 2 is below",
  "P2 longest s8": "figure 3, s8: the longest wait of proposal 2 is below",
} as const;

export const kawanami2008Sensitivity: Study = {
  key: "kawanami2008-sensitivity",
  title: "kawanami2008: what the model's free parameters decide",
  text: [
    `The paper does not print how carefully users choose their queues, the load, the size of batches or the size of the machine. This study varies two of these at a time, and the others have the model's defaults (careful 0.5, load 1.1, batch 512, 1,408 processors). Each row has ${SEEDS} seeds. The first columns count the statements that hold, decided as on the page: by the 95 % intervals of the paired differences.`,
    "P1 all: proposal 1 has the lowest median wait of all jobs. P2 ss8: proposal 2 has the lowest median of queue ss8. P1 d32: proposal 1 has the lowest median of queue d32. P2 longest: the longest wait of the queue is lower under proposal 2 than under the conventional scheduler (C). ÷: mean of the medians under the proposal, divided by that under C. held: share of the machine's time for which processors are held for requesters.",
    "No choice gives all of figure 2: at most 9 of its 13 statements hold. How users choose matters most. If nobody looks for the smallest queue (careful 0), 7 to 9 hold; if everybody does, at most 4. The load matters less, from 0.9 on. Proposal 1 has the lowest median of all jobs almost only where users choose badly (careful 0 or 0.25). No choice gives ss8 its lowest median under proposal 2. On machines of 2,816 and 5,632 processors with batches of 512, its mean median is 0.95 and 0.58 times that of the conventional scheduler, but the intervals do not show that it is the lowest of the three.",
  ],
  async run(options) {
    const first = CAREFUL.flatMap((careful) => LOADS.map((load) => ({ ...DEFAULTS, careful, load })));
    const second = BATCHES.flatMap((batch) =>
      PROCESSORS.map((processors) => ({ ...DEFAULTS, batch, processors })),
    );
    const verdicts = await runCorners([...first, ...second], options);
    const ofFirst = verdicts.slice(0, first.length);
    return [
      {
        ...tableOf("careful × load", ["careful", "load"], ofFirst),
        picture: { name: "kawanami2008-sensitivity.svg", svg: lineFigureSvg(pictureOf(ofFirst)) },
      },
      tableOf("batch × processors", ["batch", "processors"], verdicts.slice(first.length)),
    ];
  },
};

async function runCorners(corners: readonly Corner[], options: WorkerOptions): Promise<Verdicts[]> {
  const placed = corners.map(cellsAt);
  const results = await runCells(
    placed.flat().map(({ cell }) => cell as Cell<"queues">),
    options,
  );
  const perCorner = placed[0].length;
  return corners.map((corner, i) =>
    verdictsOf(
      corner,
      new Results<Place, QueuesResult>(placed[i], results.slice(i * perCorner, (i + 1) * perCorner)),
    ),
  );
}

/** The page's cells, with the jobs of the corner and the passing limit of its machine. */
function cellsAt({ careful, load, batch, processors }: Corner): PlacedCell<Place, "queues">[] {
  const jobs = `hpc2500:careful=${careful}:load=${load}:batch=${batch}:processors=${processors}`;
  return cells(FIRST_SEED)
    .filter(({ place, cell }) => place.scheduler !== "unlimited" && cell.source.seed < FIRST_SEED + SEEDS)
    .map(({ place, cell }) => ({
      place,
      cell: {
        ...cell,
        source: { ...cell.source, jobs },
        policy: cell.policy.replace(/passing=[^:]*/, `passing=${128 / processors}`),
      },
    }));
}

function verdictsOf(corner: Corner, results: Results<Place, QueuesResult>) {
  const all = claims(results).map((claim) => ({ ...claim, holds: allHold(claim.comparisons) === true }));
  const at = (queue: string) => QUEUE_NAMES.indexOf(queue);
  const ratio = (queue: string, of: "proposal1" | "proposal2") =>
    results.mean({ scheduler: of }, (run) => run.medianWaitS[at(queue)]) /
    results.mean({ scheduler: "conventional" }, (run) => run.medianWaitS[at(queue)]);
  const countOf = (where: string) => {
    const ofPart = all.filter(({ statement }) => statement.startsWith(where));
    return { holding: ofPart.filter(({ holds }) => holds).length, of: ofPart.length };
  };
  return {
    corner,
    counts: ["figure 2", "figure 3", "section 5"].map(countOf),
    headlines: Object.values(HEADLINES).map(
      (beginning) => all.find(({ statement }) => statement.startsWith(beginning))!.holds,
    ),
    ratios: [ratio("ss8", "proposal2"), ratio("all", "proposal1"), ratio("all", "proposal2")],
    heldShare: results.mean({ scheduler: "proposal2" }, (run) => run.heldShare[0]),
  };
}

function tableOf(title: string, names: readonly (keyof Corner)[], verdicts: readonly Verdicts[]): StudyTable {
  return {
    title,
    columns: [
      names.join(", "),
      "figure 2",
      "figure 3",
      "section 5",
      ...Object.keys(HEADLINES),
      "ss8 P2 ÷ C",
      "all P1 ÷ C",
      "all P2 ÷ C",
      "held",
    ],
    rows: verdicts.map(({ corner, counts, headlines, ratios, heldShare }) => [
      names.map((name) => corner[name]).join(", "),
      ...counts.map(({ holding, of }) => `${holding} of ${of}`),
      ...headlines.map((holds) => (holds ? "yes" : "no")),
      ...ratios.map((ratio) => (Number.isFinite(ratio) ? ratio.toFixed(2) : "–")),
      `${(100 * heldShare).toFixed(1)} %`,
    ]),
  };
}

/** Statements of figure 2 that hold, over the load, a line for each share of careful users. */
function pictureOf(verdicts: readonly Verdicts[]) {
  const { of } = verdicts[0].counts[0];
  return {
    id: "Sensitivity",
    title: `Statements on figure 2 that hold, of ${of}, by load and share of careful users`,
    xAxis: "load",
    yAxis: "statements that hold",
    series: CAREFUL.map((careful) => ({
      name: `careful = ${careful}`,
      ours: verdicts
        .filter(({ corner }) => corner.careful === careful)
        .map(({ corner, counts }) => [corner.load, counts[0].holding] as const),
    })),
  };
}
