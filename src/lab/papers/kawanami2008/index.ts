/** Lists every table, figure and claim of kawanami2008, in the paper's order, for the index of papers. */
import type { PaperIndex } from "../paper.ts";

const DEFINITION = "a rule; the policy connected-reservation implements it, and its tests follow the text";
const FIELD = "about the field; the paper does not measure it";
const SITE = "about the log of the HPC2500, which is not public";

/** The paper compares the proposal with the conventional scheduler; the lowest of three is below it. */
const SMALL_WAITS = [
  "figure 2, ss8: the median wait of proposal 2 is the lowest",
  "figure 3, ss8: the longest wait of proposal 2 is below",
  "figure 3, s8: the longest wait of proposal 2 is below",
];

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Demand for fast computers grows, and many organisations run supercomputers",
      notClaimed: FIELD,
    },
    {
      at: "abstract and 2.3",
      says: "Scheduling decides the performance of a supercomputer; with batch queues, which most of them have, small and large jobs must both be treated fairly and efficiently",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "A wait should match the run time: half an hour is no problem for a job of two hours, but too much for one of five minutes",
      notClaimed: "a goal; the paper measures waits, but not in relation to run times",
    },
    {
      at: "1",
      says: "On a crowded system, the way of scheduling can make small jobs wait far too long",
      notClaimed: FIELD,
    },
    {
      at: "1, table 1",
      says: "Median CPU time by parallelism: it rises steeply over all, though not from 4 to 8 and from 32 to 64; so waits should match parallelism, too",
      shown: ["Table 1"],
    },
    {
      at: "1",
      says: "On the HPC2500, queues for small jobs had waits that were far too long",
      notClaimed: SITE,
    },
    {
      at: "2.1",
      says: "Queueing systems are cheap, and most systems are of this kind, but they guarantee no start or end",
      notClaimed: FIELD,
    },
    {
      at: "2.1",
      says: "Letting jobs pass a queue's head raises utilisation, but jobs of high parallelism may starve",
      notClaimed: `${FIELD}; docs/findings.md compares such policies`,
    },
    {
      at: "2.1",
      says: "Planning systems guarantee every job a start and have more throughput and utilisation, but cost more",
      notClaimed: FIELD,
    },
    {
      at: "2.2",
      says: "Queues by size absorb the diversity of jobs, and each queue can have the policy that suits its jobs; users choose the queue, and large jobs have few to choose from",
      notClaimed: FIELD,
    },
    {
      at: "2.2",
      says: "If many users choose queues at random, demand may concentrate on some of them, and because queues have partitions, jobs may wait although processors are free",
      notClaimed: "stated without numbers; the model of jobs assumes how users choose, so it cannot show it",
    },
    {
      at: "2.3",
      says: "The load changes over time, so no single policy suits it; dynP chooses one (cited from Streit 2004)",
      notClaimed: "cited; not a part of the proposal",
    },
    {
      at: "2.3",
      says: "FPFS, FPMPFS and FCFS with backfilling use processors better than FCFS and shorten the mean response (cited from Aida et al. 1998)",
      notClaimed: "cited; docs/findings.md compares these policies",
    },
    {
      at: "2.3",
      says: "Aida et al. limit the wait against starvation: a job beyond the limit counts as the head of the queue, but from then on nothing is guaranteed",
      notClaimed: "about another paper",
    },
    {
      at: "2.3",
      says: "Since a prioritised job takes over the processors of particular jobs, it does not lengthen the waits of other jobs",
      notClaimed:
        'stated without numbers; in our runs other jobs do wait for processors that are held for a requester (table "Held processors")',
    },
    {
      at: "3",
      says: "On the HPC2500 queues are first come, first served with first fit; no start is guaranteed, and passing jobs may use some nodes only, against starvation",
      notClaimed: `${SITE}; the conventional scheduler of our page follows this text`,
    },
    {
      at: "3",
      says: "First fit can starve jobs that are much larger than a node; some of them need the administrator's hand",
      notClaimed: SITE,
    },
    {
      at: "3",
      says: "The proposal makes small jobs more responsive (tested here by their waits under proposal 2)",
      statements: SMALL_WAITS,
    },
    {
      at: "3 and 5",
      says: "Connected reservations end starvation: large jobs surely run",
      notClaimed:
        "the paper shows no job that starves; in our runs every job runs in the end, since arrivals end",
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
        ...SMALL_WAITS,
        ...["s128", "d32", "d128", "d512"].map(
          (queue) => `figure 2, ${queue}: the median wait of proposal 2 is much above`,
        ),
      ],
    },
    { at: "3.1, table 2", says: "The classes of the queues", shown: ["Table 2"] },
    {
      at: "3.1",
      says: "Which queue a job goes to: the one with the tightest limit that admits it; the job manager must know how the job is parallel",
      notClaimed: DEFINITION,
    },
    {
      at: "3.2",
      says: "A new job starts at once if it can, past the waiting jobs; otherwise it goes to the end of its queue, which has first fit",
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
      at: "3.3",
      says: "All queues share all processors, so a large job that arrives when most are busy is likely to starve; the third case guarantees that it runs",
      notClaimed: "the authors' reason for the third case, without numbers",
    },
    {
      at: "3.3",
      says: "Each queue has a limit on reservations at a time; beyond it, a request is rejected and the job waits like any other",
      notClaimed: DEFINITION,
    },
    {
      at: "4, tables 3 and 4",
      says: "Thresholds, and limits on reservations at a time, which tell proposals 1 and 2 apart",
      shown: ["Tables 3 and 4"],
    },
    {
      at: "4",
      says: "ss8 and s8 get no reservations, because the purpose is to keep large jobs from starving",
      notClaimed: "the authors' reason for a setting; our page has the same setting",
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
      says: "Proposal 2 has a much higher median than the conventional scheduler in the other queues",
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
      says: "In the other four queues, and over all jobs, the longest waits of proposal 1 are about those of the conventional scheduler",
      statements: ["ss8", "s8", "d32", "d512", "all jobs"].map(
        (queue) => `figure 3, ${queue}: the longest wait of proposal 1 is about`,
      ),
    },
    {
      at: "4",
      says: "Proposal 2 has lower longest waits than the conventional scheduler in ss8, s8 and s128",
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
      says: "The cause of small jobs' poor response is that classes of queues and jobs do not match, and automatic selection removes it",
      notClaimed:
        'a cause; the table "Figure 2, by shape" has the waits of jobs by the queue that suits them',
    },
    {
      at: "5",
      says: "The proposal shortens median and longest waits in queues for small jobs, compared with the conventional scheduler (for the median of s8, section 4 says the opposite)",
      statements: SMALL_WAITS,
    },
    {
      at: "5",
      says: "With reservations, median and longest waits rise a lot in queues for large jobs and fall in queues for small jobs (read as proposal 2 against proposal 1; we test the direction only)",
      statements: ["section 5, "],
    },
    {
      at: "5",
      says: "The proposal shortens the median wait of all jobs, compared with the conventional scheduler",
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
