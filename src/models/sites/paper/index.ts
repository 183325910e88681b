/** Lists every table, figure and claim of dimitriadou2009, in the paper's order, for the index of papers. */
import type { PaperIndex } from "../../../lab/papers/paper.ts";

const FIELD = "about the field, cited from other papers";
const EXPLANATION = "the authors' explanation of a figure; the figure itself is in the index";
const HIGHER = "A higher load means a higher";
const SAME = "For medium and low workload";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "I",
      says: "FCFS leaves processors idle behind large gangs; backfilling improves utilisation a lot",
      notClaimed: `${FIELD}; the last statement of the page compares with a system without backfilling`,
    },
    {
      at: "I",
      says: "Run times must be known for backfilling, and predictions are not accurate",
      notClaimed: FIELD,
    },
    {
      at: "II, figure 1",
      says: "The model: two sites, a grid scheduler, three streams of jobs",
      notClaimed: "a diagram without numbers",
    },
    {
      at: "II",
      says: "Both distributions of sizes have the mean 7.5",
      notClaimed: "arithmetic: (2 + … + 13) / 12 = (2 + 4 + 8 + 16) / 4 = 7.5",
    },
    {
      at: "III",
      says: "The two approaches, backfilling and the shortest queue",
      notClaimed: "definitions; src/models/sites implements them, and its checker tests them",
    },
    {
      at: "III.A",
      says: "The largest gang goes first, because large gangs starve most easily",
      notClaimed: "the authors' reason for a choice, without numbers",
    },
    {
      at: "III.B, formula 1; IV.A, formulas 2 to 6",
      says: "When a local job may backfill; response time, slowdown and their weighted means",
      notClaimed: "definitions; src/models/sites implements them, and its tests follow the text",
    },
    {
      at: "IV.A, table I",
      says: "Notation",
      notClaimed: "names; the notes say where the table swaps two of them",
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
      says: "The cause: a quarter of the gangs of powers of two have 16 tasks, which fill a site",
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
      says: "At lower load both approaches are almost the same",
      statements: [`${SAME} RT`, `${SAME} SLD`],
    },
    {
      at: "IV.C, table II",
      says: "Mean utilisation by load and approach",
      shown: ["Table II, idle=held", "Table II, idle=free"],
    },
    { at: "IV.C", says: "Utilisation rises with the load", statements: [`${HIGHER} U`] },
    {
      at: "IV.C",
      says: "Approach 2 has a slightly higher utilisation",
      statements: ["At equal load, the utilisation"],
    },
    {
      at: "IV.C",
      says: "The cause: approach 2 executes more gangs",
      notClaimed: EXPLANATION,
    },
    {
      at: "IV.C and V",
      says: "Summary: similar results with uniform sizes, approach 2 better at high load, and the best for powers of two at all loads",
      statements: [
        "Uniform sizes: approach 2 completes almost the same share",
        "Approach 2 results in lower WRT",
        "Powers of two: nearly 10 % more gangs",
      ],
    },
    {
      at: "IV.C, figures 8 and 9",
      says: "WRT by λ and E, approaches 1 and 2",
      shown: ["Figure 8", "Figure 9"],
    },
    {
      at: "IV.C",
      says: "At low and medium load the error hardly changes WRT",
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
      says: "WSLD rises with the error, as WRT does",
      statements: ["At high load, WSLD"],
    },
    {
      at: "IV.C, figures 12 and 13",
      says: "RT of local jobs by λ and E, approaches 1 and 2",
      shown: ["Figure 12", "Figure 13"],
    },
    {
      at: "IV.C",
      says: "The error has little or no effect on RT",
      statements: ["The response time of local jobs hardly changes"],
    },
    {
      at: "V",
      says: "Even with errors, backfilling suits this system very well",
      statements: ["Backfilling pays off in this system"],
    },
    {
      at: "V",
      says: "Sites of different sizes, and critical jobs, need further study",
      notClaimed: "future work of the paper; the page adds both",
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
