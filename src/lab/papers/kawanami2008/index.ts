/** Lists every table, figure and claim of kawanami2008, in the paper's order, for the index of papers. */
import type { PaperIndex } from "../paper.ts";

const DEFINITION = "a rule; the policy connected-reservation implements it, and its tests follow the text";
const FIELD = "about the field; the paper does not measure it";
const SITE = "about the log of the HPC2500, which is not public";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Scheduling decides the performance of a supercomputer, and small and large jobs must both be treated fairly",
      notClaimed: FIELD,
    },
    { at: "1, table 1", says: "Median CPU time grows steeply with parallelism", shown: ["Table 1"] },
    {
      at: "1",
      says: "On the HPC2500, queues for small jobs had waits that were far too long",
      notClaimed: SITE,
    },
    {
      at: "2.1",
      says: "Queueing systems are cheap and give no guarantees; planning systems use processors better and cost more",
      notClaimed: FIELD,
    },
    {
      at: "2.2",
      says: "If many users choose queues at random, demand concentrates on some of them, and jobs wait although processors are free",
      notClaimed: "stated without numbers; the model of jobs assumes how users choose, so it cannot show it",
    },
    {
      at: "2.3",
      says: "The load changes over time, so no single policy suits it; dynP chooses one (cited from Streit 2004)",
      notClaimed: "cited; not a part of the proposal",
    },
    {
      at: "2.3",
      says: "FPFS and its kin use processors better than FCFS and shorten the mean response (cited from Aida et al. 1998)",
      notClaimed: "cited; docs/findings.md compares these policies",
    },
    {
      at: "3",
      says: "First fit can starve jobs that are much larger than a node; some of them need the administrator's hand",
      notClaimed: SITE,
    },
    {
      at: "3, figure 1",
      says: "The model of the proposal: a job manager chooses the queue",
      notClaimed: "a diagram without numbers",
    },
    {
      at: "3",
      says: "If more is asked than the system can do, small jobs wait less at the expense of large ones",
      statements: [
        "section 5, s8: the median wait",
        "section 5, ss8: the median wait",
        "section 5, s128: the median wait",
        "section 5, d32: the median wait",
        "section 5, d128: the median wait",
        "section 5, d512: the median wait",
      ],
    },
    { at: "3.1, table 2", says: "The classes of the queues", shown: ["Table 2"] },
    {
      at: "3.1",
      says: "Which queue a job goes to: the one with the tightest limit that admits it",
      notClaimed: DEFINITION,
    },
    {
      at: "3.2",
      says: "How a connected reservation chooses the jobs whose processors it takes over",
      notClaimed: DEFINITION,
    },
    {
      at: "3.3, formula 1",
      says: "A job that is passed gains priority, more if it is small for its queue",
      notClaimed: DEFINITION,
    },
    { at: "3.3", says: "The three cases in which a job asks for a reservation", notClaimed: DEFINITION },
    {
      at: "3.3",
      says: "If all queues used the second case, reservations would take too many processors",
      notClaimed: "the authors' reason for a choice, without numbers",
    },
    {
      at: "3.3, tables 3 and 4",
      says: "Thresholds, and limits on reservations at a time",
      shown: ["Tables 3 and 4"],
    },
    { at: "4, figure 2", says: "Median wait by queue", shown: ["Figure 2"] },
    {
      at: "4",
      says: "Proposal 1 has the lowest median in d32, d128 and over all jobs",
      statements: [
        "figure 2, d32: the median wait of proposal 1 is the lowest",
        "figure 2, d128: the median wait of proposal 1 is the lowest",
        "figure 2, all jobs: the median wait of proposal 1 is the lowest",
      ],
    },
    {
      at: "4",
      says: "Proposal 1 has a much higher median than the conventional scheduler in s8, s128 and d512",
      statements: [
        "figure 2, s8: the median wait of proposal 1 is much above",
        "figure 2, s128: the median wait of proposal 1 is much above",
        "figure 2, d512: the median wait of proposal 1 is much above",
      ],
    },
    {
      at: "4",
      says: "Proposal 2 has the lowest median wait in queue ss8",
      statements: ["figure 2, ss8: the median wait of proposal 2 is the lowest"],
    },
    {
      at: "4",
      says: "Proposal 2 has a much higher median in the other queues",
      statements: ["s8", "s128", "d32", "d128", "d512"].map(
        (queue) => `figure 2, ${queue}: the median wait of proposal 2 is much above`,
      ),
    },
    {
      at: "4",
      says: "Over all jobs the median of proposal 2 is about that of the conventional scheduler",
      statements: ["figure 2, all jobs: the median wait of proposal 2 is about"],
    },
    { at: "4, figure 3", says: "Longest wait by queue", shown: ["Figure 3"] },
    {
      at: "4",
      says: "Proposal 1 has the lowest longest wait in s128 and d128",
      statements: ["s128", "d128"].map(
        (queue) => `figure 3, ${queue}: the longest wait of proposal 1 is the lowest`,
      ),
    },
    {
      at: "4",
      says: "In the other queues the longest waits of proposal 1 are about those of the conventional scheduler",
      statements: ["ss8", "s8", "d32", "d512", "all jobs"].map(
        (queue) => `figure 3, ${queue}: the longest wait of proposal 1 is about`,
      ),
    },
    {
      at: "4",
      says: "Proposal 2 has lower longest waits in ss8, s8 and s128",
      statements: ["ss8", "s8", "s128"].map(
        (queue) => `figure 3, ${queue}: the longest wait of proposal 2 is below`,
      ),
    },
    {
      at: "4",
      says: "In ss8 and s8 the longest waits of proposal 2 are the lowest of all",
      statements: ["ss8", "s8"].map(
        (queue) => `figure 3, ${queue}: the longest wait of proposal 2 is the lowest`,
      ),
    },
    {
      at: "5",
      says: "With automatic selection each queue runs the jobs that suit its class",
      notClaimed: 'true by the rules of selection; the table "Jobs" has the numbers of jobs',
    },
    {
      at: "5",
      says: "The proposals shorten median and longest wait in queues for small jobs",
      statements: ["ss8", "s8"].flatMap((queue) => [
        `section 5, ${queue}: the median wait`,
        `section 5, ${queue}: the longest wait`,
        `figure 3, ${queue}: the longest wait of proposal 2`,
      ]),
    },
    {
      at: "5",
      says: "With reservations, median and longest waits rise a lot in queues for large jobs and fall in queues for small jobs",
      statements: ["section 5, "],
    },
    {
      at: "5",
      says: "The proposal shortens the median wait of all jobs",
      statements: ["figure 2, all jobs: the median wait of proposal 1 is the lowest"],
    },
    {
      at: "5",
      says: "The influence of the thresholds, and reservations for small jobs, need further study",
      notClaimed: "future work of the paper",
    },
  ],
  added: {
    shown: [
      "Figure 2 as numbers",
      "Figure 3 as numbers",
      "Figure 2, by shape",
      "Jobs",
      "Reservations",
      "Held processors",
    ],
    statements: [],
  },
};
