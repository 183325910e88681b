/** The index of zhou1999: its figures and sentences with a claim, in its order. It has no tables. */
import type { PaperIndex } from "../paper.ts";

const HARDWARE = "about implementations on real machines; neither the paper nor Tutti measures it";
const FIELD = "about the field; the paper does not measure it";
const OTHER_PAPERS = "about other papers of the authors";
const COST_OF_SEARCH =
  "the paper measures no cost of searching, and our times depend on our program (npm run bench:engine)";
const OPEN = "an open question of the paper";
const FEWER_ROWS = "Section 4: WLV needs fewer rows";
const FASTER = "Section 4: WLV has shorter turnaround than first fit";
const REPACKED_BUDDY = "Section 4: re-packing uses buddy blocks better";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Clusters will dominate the market for parallel computers, and they need effective scheduling",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "Under time sharing, parallel jobs run efficiently only if their processes are coordinated (cited)",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "Broadcasting each context switch from one controller makes efficient space partitioning hard on large systems",
      notClaimed: HARDWARE,
    },
    {
      at: "1",
      says: "Loose gang scheduling significantly alleviates this (cited)",
      notClaimed: OTHER_PAPERS,
    },
    {
      at: "1",
      says: "Loose gang scheduling has run on 16 processors of an AP1000+, and works as expected (cited)",
      notClaimed: OTHER_PAPERS,
    },
    {
      at: "1 and 2",
      says: "For high efficiency, time and space must be allocated together, not each slot on its own",
      statements: [FEWER_ROWS, FASTER],
    },
    {
      at: "2",
      says: "On clusters the location of processors may matter less for communication",
      notClaimed: HARDWARE,
    },
    {
      at: "2",
      says: "Random allocation in a slot may suffer less from fragmentation than regular allocation",
      statements: ["Section 2: random allocation suffers less from fragmentation"],
    },
    {
      at: "1 and 2",
      says: "Under gang scheduling regularity is still important, even if processors are fully connected",
      statements: ["Section 2: with unification, first fit", "Section 2: with unification, buddy"],
    },
    {
      at: "2, figure 1",
      says: "Four scattered jobs: no row can be saved, no job can get a second row, and less than half of the slots are used",
      shown: ["Figure 1"],
      statements: ["Figure 1: "],
    },
    {
      at: "2",
      says: "First fit and buddy improve on that (cited from Feitelson 1996)",
      statements: ["Section 2: with unification, first fit", "Section 2: with unification, buddy"],
    },
    {
      at: "2 and 4",
      says: "The cause: regular allocation has more unifications",
      statements: ["Section 2: regular allocation raises the number of unifications"],
    },
    {
      at: "2",
      says: "A regular scheme that allocates each slot on its own may still be inefficient: some fragments are too small for any job",
      statements: [FEWER_ROWS],
    },
    {
      at: "2",
      says: "Internal fragmentation under buddy may be worse than external fragmentation under first fit",
      statements: ["Section 2: fragmentation is worse under buddy"],
    },
    {
      at: "2",
      says: "With unification, DHC, based on buddy blocks, beats schemes based on other regular allocation (cited from Feitelson 1996)",
      statements: ["Section 2, after Feitelson 1996: with unification, buddy"],
    },
    {
      at: "2",
      says: "The cause: jobs of different halves never overlap, so that freed slots are easily united",
      notClaimed: "the authors' explanation of the statement before it",
    },
    {
      at: "2",
      says: "Simple buddy allocation may still not be optimal, since slots are independent and internal fragments cannot be joined",
      statements: [REPACKED_BUDDY],
    },
    {
      at: "3",
      says: "Regular allocation cannot avoid all fragments in a slot, and a linear array is logical only: processors are numbered wherever they are",
      notClaimed: "a premise and a definition; our matrix has no other distances either",
    },
    {
      at: "3, figure 2",
      says: "Three steps with shifts of five jobs save a row; no process changes its processor",
      shown: ["Figure 2"],
      statements: ["Figure 2: "],
    },
    {
      at: "3, figure 2 (a)",
      says: "J1, J2 and J7 could get second slots instead; a new job of six or more processors would then need a fourth row",
      statements: ["Figure 2 (a): "],
    },
    {
      at: "3, figure 2 (a)",
      says: "Second slots may be best for those three jobs, but the other jobs get nothing from them",
      notClaimed: "argued from the figure, without numbers",
    },
    {
      at: "3",
      says: "Re-packing of this kind improves the overall performance a lot (here: of buddy allocation, one slot per job)",
      statements: [REPACKED_BUDDY],
    },
    {
      at: "3, figure 2 (a)",
      says: "J4 cannot move to another row: a shift is legal only for all processes of a job",
      notClaimed:
        "a definition: our matrix refuses such a shift (src/lab/papers/zhou1999/row-repacking.test.ts)",
    },
    {
      at: "3, figure 3",
      says: "Property 1: two cuts and an exchange join two adjacent fragments, and a second exchange joins two more",
      shown: ["Figure 3"],
    },
    {
      at: "3",
      says: "Jobs between two legal cuts may be exchanged, and so any two adjacent fragments of a line can be joined",
      notClaimed:
        "proved in the paper; tested for our program on random matrices (src/lab/papers/zhou1999/row-repacking.test.ts)",
    },
    {
      at: "3, figure 4",
      says: "Exchanging alternate regions once gives the same result with fewer moves",
      shown: ["Figure 4"],
      statements: ["Figures 3 and 4: "],
    },
    {
      at: "3",
      says: "Property 2: if every processor has an idle slot, re-packing saves a row",
      notClaimed:
        "proved in the paper; tested for our program on random matrices (src/lab/papers/zhou1999/repacking-sequences.test.ts)",
    },
    {
      at: "3",
      says: "On a line one cut is enough; a ring needs a first cut to open it, and then the properties hold",
      notClaimed:
        "tested with the policy wlv:array=ring (src/lab/papers/zhou1999/row-repacking.test.ts); the notes say what it costs",
    },
    {
      at: "3",
      says: "Re-packing adds messages, but only when jobs arrive or end, when local tables change anyway; so its extra cost may be low",
      notClaimed: HARDWARE,
    },
    {
      at: "3 and 5",
      says: "Searching becomes cheaper, so re-packing may even reduce the overhead as a whole",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "4",
      says: "Searching slot by slot is often far from optimal",
      statements: [FEWER_ROWS, "Figure 5: row by row"],
    },
    {
      at: "4",
      says: "Searching slot by slot may be expensive on large systems",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "4, figure 5",
      says: "A job of five processors needs no new row with the workload vector, in one of two windows",
      shown: ["Figure 5"],
      statements: ["Figure 5: five processors"],
    },
    {
      at: "4",
      says: "Without re-packing the vector may not help, because it does not say which slot of a processor is idle",
      notClaimed:
        "an argument from the definition of the vector; the paper has no scheme with a vector alone",
    },
    {
      at: "4 and 5",
      says: "The vector turns the search over a matrix into a search over a line",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "4 and 5",
      says: "So the number of rows can be kept low, and performance may be better than with conventional allocation",
      statements: [FEWER_ROWS, FASTER],
    },
    {
      at: "4, figure 5; abstract and 5",
      says: "The vector makes it easy to balance the load: the less loaded window leaves room for a job of six processors",
      statements: ["Figure 5: five processors", "Figure 5: a job of six"],
    },
    {
      at: "4",
      says: "With re-packing, buddy allocation can be implemented more efficiently: only N/n groups are checked, not all slots",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "4",
      says: "Re-packing in a buddy group leaves the tables of processors outside it as they are (tested here in the example of figure 6, and on random matrices in src/structures/matrix/repacking.test.ts)",
      statements: ["Figure 6: this re-packing"],
    },
    {
      at: "4, figure 6",
      says: "The tree for the drawn matrix: which jobs can get a second row, when a row can be saved, and where a job of four goes",
      shown: ["Figure 6"],
      statements: [
        "Figure 6: J2 and J6 can",
        "Figure 6: J4 can",
        "Figure 6: when J1 ends",
        "Figure 6: an arrival of four",
      ],
    },
    {
      at: "4",
      says: "The tree is simple to manage and makes detection simpler still",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "4, figure 6",
      says: "Fairness: if J2 and J6 already run in two rows, the new job needs another row, which slows jobs in a single row",
      statements: ["Figure 6: if J2 and J6 already"],
    },
    {
      at: "4",
      says: "Extra rows that jobs keep may make the number of rows large when the system is busy",
      statements: ["Section 4: simply running jobs in several rows"],
    },
    {
      at: "4",
      says: "Managing a large number of rows increases the overhead",
      notClaimed: "the paper measures no such cost, and our simulation has none",
    },
    {
      at: "4",
      says: "Uniting slots and saving rows should be combined",
      statements: ["Section 4: unification and few rows together"],
    },
    {
      at: "4",
      says: "Simple changes to the technique are enough for this combination",
      notClaimed: "a judgement; our policy wlv does both with extraSlots=returned",
    },
    {
      at: "5",
      says: "The two properties show that re-packing is simple and may be cheap, and so practical",
      notClaimed: HARDWARE,
    },
    {
      at: "5",
      says: "Moves between rows give the smallest number of rows only as long as no process migrates",
      notClaimed:
        "the notes say why no re-packing without migration can do with fewer rows than WLV; tested in src/policies/gangs/wlv.test.ts",
    },
    {
      at: "5",
      says: "How to re-pack with migration between processors",
      notClaimed: `${OPEN}; docs/findings.md has ours`,
    },
    {
      at: "5",
      says: "The schemes may work well on clusters",
      notClaimed: HARDWARE,
    },
    { at: "5", says: "How to re-pack if the location of processors matters", notClaimed: OPEN },
    {
      at: "5",
      says: "When to unite slots and when to save rows",
      notClaimed: `${OPEN}; the statement on uniting slots and saving rows shows two answers`,
    },
    {
      at: "5",
      says: "What re-packing costs on real machines; experiments on an AP1000+ and an AP3000 are planned",
      notClaimed: HARDWARE,
    },
  ],
  added: {
    shown: ["Load 0.2", "Load 0.5", "Load 0.7", "Load 0.9", "Comparison 1", "Comparison 2"],
    statements: ["Our question, not in the paper"],
  },
};
