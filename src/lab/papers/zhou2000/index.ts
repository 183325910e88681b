/** The index of zhou2000: its tables, figures and sentences with a claim, in its order. */
import type { PaperIndex } from "../paper.ts";

const FIELD = "about the field; the paper itself does not measure it";
const EXPLANATION = "the authors' explanation of a number; the number itself is in the index";
const ON_ZHOU1999 = "decided on the page of zhou1999, whose subject it is";
const COST_OF_SEARCH =
  "the paper measures no cost of searching, and our times depend on our program (npm run bench:engine)";
const PROVED =
  "proved in zhou1999 and tested for our program on random matrices (src/structures/matrix/repacking.test.ts)";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Space sharing lets large jobs block small ones for a long time",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "If each slot is allocated on its own, processors that a job has freed stay idle although jobs in other slots could use them",
      notClaimed: ON_ZHOU1999,
    },
    {
      at: "1",
      says: "With jobs in several slots, buddy allocation has a far shorter mean turnaround than many other schemes (cited from Feitelson 1996)",
      notClaimed: ON_ZHOU1999,
    },
    {
      at: "1",
      says: "Buddy blocks align jobs of about the same size, so that they have a better chance to run in several slots",
      notClaimed: ON_ZHOU1999,
    },
    {
      at: "2, figure 1",
      says: "Jobs in several slots fill the fragments, but re-packing saves a whole slot with moves between rows only",
      notClaimed: "the matrices are those of zhou1999's figure 2; the page of zhou1999 makes them",
    },
    {
      at: "2",
      says: "Properties 1 and 2: adjacent fragments can be joined in one slot; if each processor has an idle slot, a slot can be saved",
      notClaimed: PROVED,
    },
    {
      at: "2",
      says: "Re-packing costs little, since it is done only when jobs arrive or end",
      notClaimed:
        "a cost of messages between computers, which neither program simulates; the page of zhou1999 counts the moves",
    },
    {
      at: "3, figure 2",
      says: "The tree's values for the drawn matrix; where a job of four processors goes; that J2 can get a second slot; that a slot can go when J1 ends",
      shown: ["Figure 2"],
      statements: ["Figure 2: "],
    },
    {
      at: "3",
      says: "The workload tree makes the search for processors simpler and its overhead smaller",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "3",
      says: "The least loaded subset is chosen, which balances the load of the processors",
      notClaimed: "a part of BR; the paper does not measure what it contributes",
    },
    {
      at: "4.1",
      says: "On average BRMMS never has more rows than BR",
      statements: ["Table 2: BRMMS has fewer rows than BR"],
    },
    {
      at: "4.2",
      says: "The choice of the workload hardly changes the order of algorithms (cited from Lo, Mache and Windisch 1998)",
      notClaimed: "cited; the paper has one workload",
    },
    {
      at: "4.2",
      says: "The longest job takes 10 minutes, the mean about two",
      notClaimed:
        "follows from the distribution: uniform in log space on 1 to 120 slots has the mean 24.9 slots, of 5 s each",
    },
    { at: "4.3, table 1", says: "The means of 20 sets of 200 jobs", shown: ["Table 1"] },
    {
      at: "4.3",
      says: "BR is better than BC in every column",
      statements: ["Table 1: turnaround is shorter under BR than under BC"],
    },
    {
      at: "4.3",
      says: "At ρ = 0.2 the improvement of BR over BC is not significant",
      statements: ["Section 4.3: at ρ = 0.2 the improvement of BR over BC"],
    },
    {
      at: "4.3",
      says: "BRMS has far more rows, both at most and on average",
      statements: ["Table 1: BRMS has more rows than BR"],
    },
    { at: "4.3, figure 3", says: "Mean turnaround by load", shown: ["Figure 3"] },
    {
      at: "4.3",
      says: "BRMS and BRMMS shorten the mean turnaround",
      statements: ["Figure 3: turnaround falls from BR to BRMS to BRMMS"],
    },
    { at: "4.3, figure 4", says: "Mean turnaround of small jobs by load", shown: ["Figure 4"] },
    {
      at: "4.3",
      says: "Under BRMS small jobs take much longer",
      statements: ["Figure 4: small jobs take longer under BRMS"],
    },
    {
      at: "4.3",
      says: "The cause: long jobs gain slots over time, and a small job gets one of very many",
      notClaimed: EXPLANATION,
    },
    { at: "4.3, figure 5", says: "Active ratio by load", shown: ["Figure 5"] },
    {
      at: "4.3",
      says: "BRMS uses the processors less well, in the end",
      statements: ["Figure 5: the active ratio falls from BRMMS to BR to BRMS"],
    },
    {
      at: "4.3, figure 5",
      says: "The active ratio of BRMS can even be lower than that of BC",
      statements: ["Figure 5: the active ratio is lower under BRMS than under BC"],
    },
    {
      at: "4.3",
      says: "The cause: when a job with several slots ends, its processors idle in all of them until something changes",
      notClaimed: EXPLANATION,
    },
    { at: "4.3, table 2", says: "The means of 5 sets of 20,000 jobs", shown: ["Table 2"] },
    {
      at: "4.3",
      says: "In the steady state BR is much better than BRMS",
      statements: ["Table 2: turnaround falls from BC to BRMS to BR to BRMMS"],
    },
    {
      at: "4.3",
      says: "BRMMS is the best of the four schemes in all categories",
      statements: ["Section 4.3: BRMMS is the best of the four"],
    },
    {
      at: "5",
      says: "Managing a large number of rows costs the system time",
      notClaimed: "the paper's simulation has no such cost, and neither has ours",
    },
    {
      at: "5",
      says: "Several slots per job alone are unfair to small jobs and may use the processors less well",
      statements: [
        "Figure 4: small jobs take longer under BRMS",
        "Figure 5: the active ratio falls from BRMMS to BR to BRMS",
      ],
    },
    {
      at: "5",
      says: "BRMMS improves the performance of system and jobs",
      statements: ["Table 2: turnaround falls from BC to BRMS to BR to BRMMS"],
    },
    {
      at: "5",
      says: "No process migrates, so the scheme suits clusters",
      notClaimed: "about implementations on real machines; our checker makes sure that no process migrates",
    },
    {
      at: "5",
      says: "Limited memory, a waiting queue and swapping need further study",
      notClaimed:
        "future work of the paper; docs/findings.md has ours, with the parameters rows, memory and queue",
    },
  ],
  added: {
    shown: [
      "Table 1, load 2 % below nominal",
      "Table 2, load 2 % below nominal",
      "Table 1, other readings",
      "Table 2, other readings",
    ],
    statements: [],
  },
};
