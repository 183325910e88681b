/** The index of zhou2000: its tables, figures and sentences with a claim, in its order. */
import type { PaperIndex } from "../paper.ts";

const FIELD = "about the field; the paper itself does not measure it";
const EXPLANATION = "the authors' explanation of a number; the number itself is in the index";
const COST_OF_SEARCH =
  "the paper measures no cost of searching, and our times depend on our program (npm run bench:engine)";
const PROVED =
  "proved in zhou1999 and tested for our program on random matrices (src/structures/matrix/repacking.test.ts)";
const DEFINITION = "a definition; the notes say how we read it";
const BR_AND_BC = "Section 4.3: BR is no worse than BC";
const BR_FASTER = "Table 1: turnaround is shorter under BR than under BC";
const TABLE_2_ORDER = "Table 2: turnaround falls from BC to BRMS to BR to BRMMS";
const TABLE_2_ACTIVE = "Table 2: the active ratio is lower under BRMS than under BR";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Most commercial systems share only in space, which lets large jobs block small ones for a long time; time sharing has to be considered",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "Under time sharing, parallel jobs run efficiently only if their processes are coordinated; gang scheduling is the usual way (cited)",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "If each slot is allocated on its own, processors that a job has freed stay idle although jobs in other slots could use them",
      notClaimed: "stated without numbers; figure 1 of zhou1999 is an example, which its page makes",
    },
    {
      at: "1, 2 and 5",
      says: "Running jobs in several slots is the usual way to alleviate fragmentation (cited)",
      notClaimed: "cited; the entries on section 4.3 say when it helps",
    },
    {
      at: "1",
      says: "With jobs in several slots, buddy allocation has a far shorter mean turnaround than many other schemes (cited from Feitelson 1996)",
      notClaimed: "cited; the page of zhou1999 decides it, since that paper argues with it",
    },
    {
      at: "1",
      says: "Buddy allocation causes internal fragmentation",
      notClaimed:
        "follows from blocks that are powers of two; the tables with other readings show what exclusive blocks cost",
    },
    {
      at: "1",
      says: "Buddy blocks align jobs of about the same size, so that they have a better chance to run in several slots",
      notClaimed:
        "the authors' explanation of the cited result; the page of zhou1999 counts unifications, but compares only with random allocation",
    },
    {
      at: "2, figure 1",
      says: "What jobs in several slots and what re-packing make of the same freed slots; re-packing saves a slot",
      shown: ["Figure 1"],
      statements: ["Figure 1 (c)"],
    },
    {
      at: "2, figure 1 (b)",
      says: "If running jobs get the freed slots, most processors are busy, but a new job of more than one processor forces a fourth slot, which slows the jobs that have one slot",
      statements: ["Figure 1 (b)"],
    },
    {
      at: "2",
      says: "Re-packing of this kind improves the overall performance a lot (BR also balances the load; the paper does not separate the two)",
      statements: [BR_FASTER],
    },
    {
      at: "2 and 5",
      says: "Re-packing only changes the order of execution and migrates no process, so it suits distributed memory and clusters, where migration is expensive",
      notClaimed: "about implementations on real machines; our checker makes sure that no process migrates",
    },
    {
      at: "2",
      says: "A shift is legal if all processes of a job move together, and into one slot",
      notClaimed: "a definition; our matrix refuses any other shift (src/structures/matrix/matrix.test.ts)",
    },
    {
      at: "2",
      says: "Properties 1 and 2: adjacent fragments can be joined in one slot; if each processor has an idle slot, a slot can be saved",
      notClaimed: PROVED,
    },
    {
      at: "2",
      says: "Messages about re-packing may add overhead in a cluster, but it need not be high, since re-packing is done only when jobs arrive or end",
      notClaimed:
        "a cost of messages between computers, which neither program simulates; the page of zhou1999 counts the moves",
    },
    {
      at: "3, figure 2",
      says: "The tree's values for the drawn matrix, and where a job of four processors goes",
      shown: ["Figure 2"],
      statements: ["Figure 2: the tree"],
    },
    {
      at: "2, 3 and 5",
      says: "With the workload tree the search for processors is simpler, and the overhead of allocation falls",
      notClaimed: COST_OF_SEARCH,
    },
    {
      at: "3",
      says: "Without re-packing the tree may not help, because it does not say which slot of a processor is idle",
      notClaimed: "an argument from the definition of the tree; the paper has no scheme with a tree alone",
    },
    {
      at: "3",
      says: "Balanced processors matter, and the tree makes it easy to choose a subset that is less active",
      notClaimed: "a part of BR; the paper does not measure what it contributes",
    },
    {
      at: "3 and 5",
      says: "The tree shows whether a job can get another slot, such as J2 in figure 2",
      statements: ["Figure 2: J2"],
    },
    {
      at: "3",
      says: "Earlier proposals of jobs in several slots gave no method to find this out",
      notClaimed: "about other papers",
    },
    {
      at: "3 and 5",
      says: "A nonzero root shows that a slot can be deleted, such as after the end of J1 in figure 2",
      statements: ["Figure 2: when J1 ends"],
    },
    {
      at: "4.1",
      says: "What the four schemes do",
      notClaimed: `${DEFINITION}, and studies what other readings of BRMS and BRMMS weigh (docs/studies/zhou2000-brms.md, docs/studies/zhou2000-brmms.md)`,
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
      says: "The model of jobs follows observations on an Intel Paragon and an IBM SP2, and is widely used (cited from Downey 1997)",
      notClaimed: "cited; we use the same distributions (the workload downey)",
    },
    {
      at: "4.2",
      says: "Batch jobs are longer and larger than interactive jobs and usually run at night; only interactive jobs are simulated",
      notClaimed: "the authors' reason for the range of run times",
    },
    {
      at: "4.2",
      says: "The longest job takes 10 minutes, the mean about two",
      notClaimed:
        "follows from the distribution: uniform in log space on 1 to 120 slots has the mean 24.9 slots, of 5 s each",
    },
    {
      at: "4.3",
      says: "The measures; if allocation is efficient, r_a is close to ρ",
      notClaimed: "definitions; tables 1 and 2 have r_a next to ρ for every scheme",
    },
    { at: "4.3, table 1", says: "The means of 20 sets of 200 jobs", shown: ["Table 1"] },
    {
      at: "4.3",
      says: "BR is better than BC in all categories: re-packing and the tree improve both jobs' times and utilisation",
      statements: [BR_AND_BC, BR_FASTER],
    },
    {
      at: "4.3",
      says: "At ρ = 0.2 the improvement of BR over BC is not significant",
      statements: ["Section 4.3: at ρ = 0.2 the improvement of BR over BC"],
    },
    {
      at: "4.3",
      says: "BRMS has far more rows, both at most and on average",
      statements: ["Table 1: BRMS has at least 2 times as many rows as BR"],
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
      says: "Under BRMS small jobs take much longer, although users want them to end soonest",
      statements: ["Figure 4: small jobs take longer under BRMS"],
    },
    {
      at: "4.3 and 5",
      says: "The cause: long jobs gain slots over time, and a small job gets one of very many",
      notClaimed: EXPLANATION,
    },
    { at: "4.3, figure 5", says: "Active ratio by load", shown: ["Figure 5"] },
    {
      at: "4.3",
      says: "Jobs in several slots can raise the active ratio (BRMMS), but BRMS lowers it in the end",
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
      statements: [TABLE_2_ORDER],
    },
    {
      at: "4.3, table 2",
      says: "So several slots alone can lower utilisation and slow the jobs",
      statements: [TABLE_2_ORDER, TABLE_2_ACTIVE],
    },
    {
      at: "4.3",
      says: "BRMMS is the best of the four schemes in all categories",
      statements: ["Section 4.3: BRMMS is the best of the four"],
    },
    {
      at: "3 and 4.3",
      says: "Jobs should run in several slots, but this alone cannot guarantee better performance: the mean number of slots must be kept small, too",
      statements: [TABLE_2_ORDER, "Table 2: BRMMS has fewer rows than BR"],
    },
    {
      at: "5",
      says: "Several slots per job alone increase the mean number of rows a lot",
      statements: ["Table 1: BRMS has at least 2 times as many rows as BR, on average"],
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
        TABLE_2_ACTIVE,
      ],
    },
    {
      at: "5",
      says: "The workload tree greatly improves the buddy system's performance",
      statements: [BR_FASTER, BR_AND_BC],
    },
    {
      at: "5",
      says: "BRMMS combines all ideas and significantly improves the performance of system and jobs",
      statements: [TABLE_2_ORDER, "Section 4.3: BRMMS is the best of the four in all categories of table 2"],
    },
    {
      at: "5",
      says: "The paper assumes unlimited memory and unknown jobs; a waiting queue, swapping and known jobs need further study",
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
