/** Lists every table, figure and claim of dimitriadou2009, in the paper's order, for the index of papers. */
import type { PaperIndex } from "../../../lab/papers/paper.ts";

const FIELD = "about the field, cited from other papers";
const EXPLANATION = "the authors' explanation of a figure; the figure itself is in the index";
const HIGHER = "A higher load means a higher";
const SAME = "For medium and low workload";
const OTHER_PAPERS = "about other papers";
const REASON = "the authors' reason for a choice, without numbers";
const EVERY_LOAD = "Powers of two: at every load, more gangs complete under approach 2";
const MORE_AT_HIGH = "Uniform sizes: at high load, a larger share";
const PAYS_OFF = "Backfilling pays off in this system";
const SMALL_CHANGE_WRT = "At every load, the weighted response time (WRT)";
const LOCAL_UNCHANGED = "The response time of local jobs hardly changes";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "I",
      says: "Scheduling is essential in clusters and grids, and hard if there are parallel jobs",
      notClaimed: FIELD,
    },
    {
      at: "I",
      says: "FCFS leaves processors idle behind large gangs; backfilling improves utilisation a lot",
      notClaimed: `${FIELD}; the last statement of the page compares with a system without backfilling`,
    },
    {
      at: "abstract and I",
      says: "Run times must be known for backfilling, and neither users' estimates nor predictions are accurate",
      notClaimed: FIELD,
    },
    {
      at: "I",
      says: "With errors, some jobs that do not fit backfill and delay a waiting gang",
      notClaimed: "a mechanism; the statements on the error at high load test its effect on WRT and WSLD",
    },
    {
      at: "I and III.B",
      says: "Without backfilling, a large gang blocks smaller and faster jobs behind it; with it, the system performs better (tested here with wrong predictions)",
      statements: [PAYS_OFF],
    },
    {
      at: "I",
      says: "What other studies have examined, and that backfilling with errors has not been studied in such a system",
      notClaimed: OTHER_PAPERS,
    },
    {
      at: "II, figure 1",
      says: "The model: two sites, a grid scheduler, three streams of jobs",
      notClaimed: "a diagram without numbers",
    },
    {
      at: "II",
      says: "Traces are biased by the policy of their system; synthetic jobs are free of a site's peculiarities",
      notClaimed: REASON,
    },
    {
      at: "II",
      says: "Both distributions of sizes have the mean 7.5",
      notClaimed: "arithmetic: (2 + … + 13) / 12 = (2 + 4 + 8 + 16) / 4 = 7.5",
    },
    {
      at: "II",
      says: "Grid jobs arrive much more rarely than local jobs",
      notClaimed: "a setting: λ3 = 0.5 against λ = 8.3 to 12.5 at each site, in ours as well",
    },
    {
      at: "II",
      says: "Communication takes negligible time; only a gang on both sites has an overhead",
      notClaimed: "an assumption; our model has the same one",
    },
    {
      at: "I and II",
      says: "The goal: local jobs are more important and wait little, but gangs do not starve",
      notClaimed: "a goal; figures 2, 3, 6 and 7 have what becomes of both",
    },
    {
      at: "III",
      says: "The two approaches, backfilling and the shortest queue",
      notClaimed: "definitions; src/models/sites implements them, and its checker tests them",
    },
    {
      at: "III.A",
      says: "The largest gang goes first, because large gangs starve most easily",
      notClaimed: REASON,
    },
    {
      at: "III.B",
      says: "Under FCFS the processors would be badly fragmented, and gangs would delay local jobs, which are more important",
      notClaimed: `${REASON}; the table "Rules, local jobs" has our numbers without backfilling`,
    },
    {
      at: "III.B, formula 1; IV.A, formulas 2 to 6",
      says: "When a local job may backfill; response time, slowdown and their weighted means",
      notClaimed: "definitions; src/models/sites implements them, and its tests follow the text",
    },
    {
      at: "III.B",
      says: "When the processors for a gang become free is not hard to calculate, but a service time can never be known exactly",
      notClaimed: "a premise; the notes say what happens if the remaining times are predicted, too",
    },
    {
      at: "IV.A",
      says: "Plain means suit simple jobs; gangs are weighted by size, so that gangs of different sizes do not count alike",
      notClaimed: REASON,
    },
    {
      at: "IV.A, table I",
      says: "Notation",
      notClaimed: "names; the notes say where the table swaps two of them",
    },
    {
      at: "IV.B",
      says: "The setup: 10 replications of 120,000 jobs, three rates of local jobs, T = 0, E = 0, 10 and 30 %, an overhead of 10 %",
      notClaimed: "settings; ours are the same",
    },
    {
      at: "IV.B",
      says: "The rates were chosen by experiment, so that loads differ without excessive response times",
      notClaimed: REASON,
    },
    { at: "IV.C, figure 2", says: "Share of finished gangs by λ, uniform sizes", shown: ["Figure 2"] },
    { at: "IV.C, figure 3", says: "Share of finished gangs by λ, powers of two", shown: ["Figure 3"] },
    {
      at: "IV.C",
      says: "More gangs finish with uniform sizes than with powers of two, at all loads",
      statements: ["At every load, more gangs of uniform sizes"],
    },
    {
      at: "IV.C",
      says: "Uniform sizes: almost all gangs finish at medium and high load",
      statements: ["Uniform sizes: nearly every gang completes"],
    },
    {
      at: "IV.C",
      says: "Powers of two: approach 2 finishes almost 10 % more gangs",
      statements: ["Powers of two: nearly 10 % more gangs"],
    },
    {
      at: "IV.C and V",
      says: "Powers of two: approach 2 completes more gangs at all loads",
      statements: [EVERY_LOAD],
    },
    {
      at: "IV.C",
      says: "Powers of two: approach 1 never finishes all gangs",
      statements: ["Powers of two: under approach 1 some gangs"],
    },
    {
      at: "IV.C",
      says: "Uniform sizes: almost the same percentage of gangs completes under both approaches",
      statements: ["Uniform sizes: approach 2 completes almost the same share"],
    },
    {
      at: "IV.C",
      says: "The cause: a quarter of the gangs of powers of two have 16 tasks, while uniform gangs have at most 13; large gangs easily starve, above all if one site must take all their tasks",
      notClaimed: EXPLANATION,
    },
    { at: "IV.C, figure 4", says: "WRT by λ", shown: ["Figure 4"] },
    { at: "IV.C, figure 5", says: "WSLD by λ", shown: ["Figure 5"] },
    { at: "IV.C", says: "WRT and WSLD rise with the load", statements: [`${HIGHER} WRT`, `${HIGHER} WSLD`] },
    {
      at: "IV.C",
      says: "At high load approach 2 has lower WRT and WSLD",
      statements: ["Approach 2 results in lower WRT", "Approach 2 results in lower WSLD"],
    },
    {
      at: "IV.C",
      says: "The cause: a gang's tasks can go to both sites, so that it waits less",
      notClaimed: EXPLANATION,
    },
    {
      at: "IV.C",
      says: "At lower load both approaches are almost the same",
      statements: [`${SAME} WRT`, `${SAME} WSLD`],
    },
    {
      at: "IV.C",
      says: "The cause: at low load gangs start at once, so that splitting is not needed",
      notClaimed: `${EXPLANATION}; the table "Gangs" has the shares of split gangs`,
    },
    { at: "IV.C, figure 6", says: "RT of local jobs by λ", shown: ["Figure 6"] },
    { at: "IV.C, figure 7", says: "SLD of local jobs by λ", shown: ["Figure 7"] },
    { at: "IV.C", says: "RT and SLD rise with the load", statements: [`${HIGHER} RT`, `${HIGHER} SLD`] },
    {
      at: "IV.C",
      says: "At λ = 12.5, RT and SLD are a little higher under approach 2",
      statements: ["For λ = 12.5, RT", "For λ = 12.5, SLD"],
    },
    {
      at: "IV.C",
      says: "The cause: approach 2 serves more gangs at high load, which delay local jobs a little",
      notClaimed: EXPLANATION,
    },
    {
      at: "IV.C",
      says: "At lower load both approaches are almost the same",
      statements: [`${SAME} RT`, `${SAME} SLD`],
    },
    {
      at: "IV.C",
      says: "The cause: at low load few gangs have to be split, so that the additional steps are rarely used",
      notClaimed: `${EXPLANATION}; the table "Gangs" has the shares of split gangs`,
    },
    {
      at: "IV.C, table II",
      says: "Mean utilisation by load and approach",
      shown: ["Table II, idle=held", "Table II, idle=free"],
    },
    {
      at: "IV.C",
      says: "Utilisation rises with the load, since processors have more jobs to run",
      statements: [`${HIGHER} U`],
    },
    {
      at: "IV.C",
      says: "Approach 2 has a slightly higher utilisation",
      statements: ["At equal load, the utilisation"],
    },
    {
      at: "IV.C",
      says: "The cause: approach 2 executes more gangs, which keep processors busy for longer",
      notClaimed: EXPLANATION,
    },
    {
      at: "IV.C and V",
      says: "Uniform sizes: both approaches give similar results, above all at medium and low load",
      statements: [
        "Uniform sizes: approach 2 completes almost the same share",
        `${SAME} WRT`,
        `${SAME} WSLD`,
        `${SAME} RT`,
        `${SAME} SLD`,
      ],
    },
    {
      at: "IV.C and V",
      says: "Uniform sizes: at high load approach 2 completes a larger percentage of gangs and has lower WRT and WSLD",
      statements: [MORE_AT_HIGH, "Approach 2 results in lower WRT", "Approach 2 results in lower WSLD"],
    },
    {
      at: "IV.C",
      says: "So approach 2 is especially effective if many gangs are large, and nears approach 1 if sizes differ little (tested for the two distributions of sizes)",
      statements: [
        "Powers of two: nearly 10 % more gangs",
        "Uniform sizes: approach 2 completes almost the same share",
      ],
    },
    {
      at: "IV.C, figures 8 and 9",
      says: "WRT by λ and E, approaches 1 and 2",
      shown: ["Figure 8", "Figure 9"],
    },
    {
      at: "IV.C",
      says: "The error changes WRT by very little at every load",
      statements: [SMALL_CHANGE_WRT],
    },
    {
      at: "IV.C",
      says: "Above all at low and medium load",
      statements: ["At low and medium load, the weighted response time"],
    },
    {
      at: "IV.C",
      says: "The cause: at these loads backfilling is hardly needed",
      notClaimed: EXPLANATION,
    },
    {
      at: "IV.C",
      says: "At high load WRT rises with the error",
      statements: ["At high load, WRT rises with the error"],
    },
    {
      at: "IV.C",
      says: "The cause: predictions that are too short let local jobs delay gangs",
      notClaimed: EXPLANATION,
    },
    {
      at: "IV.C, figures 10 and 11",
      says: "WSLD by λ and E, approaches 1 and 2",
      shown: ["Figure 10", "Figure 11"],
    },
    {
      at: "IV.C",
      says: "As for WRT: at high load WSLD rises with the error",
      statements: ["At high load, WSLD"],
    },
    {
      at: "IV.C",
      says: "As for WRT: the error changes WSLD by very little, above all at low and medium load",
      statements: ["At low and medium load, WSLD", "At every load, WSLD"],
    },
    {
      at: "IV.C, figures 12 and 13",
      says: "RT of local jobs by λ and E, approaches 1 and 2",
      shown: ["Figure 12", "Figure 13"],
    },
    {
      at: "IV.C",
      says: "The error has little or no effect on RT",
      statements: [LOCAL_UNCHANGED],
    },
    {
      at: "V",
      says: "Even with errors, backfilling suits this system very well",
      statements: [PAYS_OFF],
    },
    {
      at: "V",
      says: "Errors do not affect the overall performance significantly",
      statements: [SMALL_CHANGE_WRT, "At every load, WSLD", LOCAL_UNCHANGED],
    },
    {
      at: "V",
      says: "Heterogeneous sites, such as sites of different sizes, and grid jobs of high priority need further study",
      notClaimed:
        "future work of the paper; the page adds sites of other sizes and speeds, and critical gangs",
    },
    {
      at: "V",
      says: "Parallel and critical local jobs need further study",
      notClaimed: "future work of the paper; our model does not have them",
    },
  ],
  added: {
    shown: [
      "Statements by reading",
      "Local jobs",
      "Gangs",
      "Variants",
      "Rules, local jobs",
      "Rules, gangs",
      "Critical gangs",
      "Speeds",
      "Sizes",
      "Four sites",
    ],
    statements: [],
  },
};
