/** The index of zhou1999: its figures and sentences with a claim, in its order. It has no tables. */
import type { PaperIndex } from "../paper.ts";

const HARDWARE = "about implementations on real machines; neither the paper nor Tutti measures it";
const COST_OF_SEARCH =
  "the paper measures no cost of searching, and our times depend on our program (npm run bench:engine)";
const OPEN = "an open question of the paper";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Broadcasting each context switch from one controller limits gang scheduling on large systems; loose gang scheduling avoids it (cited)",
      notClaimed: "about other papers of the authors",
    },
    {
      at: "2",
      says: "Random allocation in a slot suffers less from fragmentation than regular allocation",
      statements: ["Section 2: random allocation suffers less from fragmentation"],
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
      at: "2",
      says: "The cause: regular allocation has more unifications",
      statements: ["Section 2: regular allocation raises the number of unifications"],
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
      at: "3, figure 2",
      says: "Three legal moves save a row; no process changes its processor",
      shown: ["Figure 2"],
      statements: ["Figure 2: "],
    },
    {
      at: "3",
      says: "J1, J2 and J7 could get second slots instead; a new job of six or more processors would then need a fourth row",
      notClaimed:
        "figure 2 (a) shows the state before re-packing; our page shows the re-packing that the paper recommends",
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
      says: "On a ring a first cut is needed to open it; then the properties hold",
      notClaimed:
        "tested with the policy wlv:array=ring (src/lab/papers/zhou1999/row-repacking.test.ts); the notes say what it costs",
    },
    {
      at: "3",
      says: "Re-packing adds messages, but only when jobs arrive or end",
      notClaimed: HARDWARE,
    },
    {
      at: "4",
      says: "Searching row by row can miss room that re-packing would make",
      statements: ["Section 4: WLV needs fewer rows", "Figure 5: row by row"],
    },
    {
      at: "4, figure 5",
      says: "A job of five processors needs no new row with the workload vector, in one of two windows",
      shown: ["Figure 5"],
      statements: ["Figure 5: five processors"],
    },
    {
      at: "4, figure 5",
      says: "The less loaded window leaves room for a job of six processors",
      statements: ["Figure 5: a job of six"],
    },
    {
      at: "4",
      says: "The vector turns the search over a matrix into a search over a line",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "4",
      says: "So fewer rows are needed, and the system performs better",
      statements: ["Section 4: WLV needs fewer rows", "Section 4: WLV has shorter turnaround than random"],
    },
    {
      at: "4",
      says: "Buddy allocation works better with re-packing",
      statements: ["Section 4: re-packing uses buddy blocks better"],
    },
    {
      at: "4, figure 6",
      says: "The tree for the drawn matrix: which jobs can get a second row, when a row can be saved, and where a job of four goes",
      shown: ["Figure 6"],
      statements: ["Figure 6: "],
    },
    {
      at: "4",
      says: "Extra rows that jobs keep may make the number of rows large when the system is busy",
      statements: ["Section 4: simply running jobs in several rows"],
    },
    {
      at: "4",
      says: "Uniting slots and saving rows should be combined",
      statements: ["Section 4: unification and few rows together"],
    },
    {
      at: "5",
      says: "How to re-pack with migration between processors",
      notClaimed: `${OPEN}; docs/findings.md has ours`,
    },
    { at: "5", says: "How to re-pack if the location of processors matters", notClaimed: OPEN },
    {
      at: "5",
      says: "When to unite slots and when to save rows",
      notClaimed: `${OPEN}; the statement on uniting slots and saving rows shows two answers`,
    },
    { at: "5", says: "What re-packing costs on real machines", notClaimed: HARDWARE },
  ],
  added: {
    shown: ["Load 0.2", "Load 0.5", "Load 0.7", "Load 0.9", "Comparison 1", "Comparison 2"],
    statements: ["Our question, not in the paper"],
  },
};
