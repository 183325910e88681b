/** Lists every table, figure and claim of silva1999, in the paper's order, for the index of papers. */
import type { PaperIndex } from "../../../lab/papers/paper.ts";

const DEFINITION = "a definition; src/models/tasks implements it, and its checker tests it";
const REASON = "the authors' reason for a choice, cited from other papers";
const SCALING =
  "about messages between computers; the simulations of the paper have none, and neither have ours";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "1",
      says: "Gang service is responsive, shares resources well and is easy to program for; its problems are scaling and tasks that block",
      notClaimed: "about the field, cited from other papers",
    },
    {
      at: "2.1, figure 1",
      says: "Slice, slot, period and cycle; arrivals, ends and changes of the number of eligible tasks are noticed between periods",
      notClaimed: DEFINITION,
    },
    {
      at: "2.2",
      says: "Grade of membership: the share of the last slot, averaged over the last five",
      notClaimed: DEFINITION,
    },
    {
      at: "2.2",
      says: "An average over five slots notices that a task has entered another phase",
      notClaimed: REASON,
    },
    {
      at: "2.3",
      says: "A local scheduler on each processor runs another task when the own one blocks, by the priority max(α λ_IO, λ_COMP)",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "I/O-bound jobs suffer under gang scheduling, and processors stay idle (cited from Lee et al. 1997)",
      statements: ["I/O workload: idle time is lower"],
    },
    {
      at: "2.3",
      says: "Jobs with much I/O and jobs that only compute gain most from uncoordinated scheduling, those that coordinate gain least",
      notClaimed: `${REASON}; the tables of the five workloads show the gains`,
    },
    {
      at: "2.3",
      says: "The user, or the grades, tell tasks that must run as a gang from other tasks",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "A task that is created or that ends changes the workload, and the local scheduler informs the front end",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3, figure 2",
      says: "The front end allocates jobs at changes of the workload; local schedulers switch tasks on their own",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "First fit takes the first slice with enough capacity, best fit the smallest sufficient one",
      notClaimed: DEFINITION,
    },
    {
      at: "3",
      says: "A global clock and local decisions let Concurrent Gang scale where a central controller does not",
      notClaimed: SCALING,
    },
    {
      at: "4",
      says: "First fit costs nothing compared with other packings without migration (cited from Silva and Scherson 1999)",
      notClaimed: "cited from another paper of the authors",
    },
    {
      at: "4.2",
      says: "Arrivals and service times are hyper-Erlang by range of sizes, after a log of 17,440 jobs",
      notClaimed: "the tables of this model are not available; the notes say what we use",
    },
    {
      at: "4.3",
      says: "Waiting for I/O, messages and barriers counts as idle time; switches cost nothing",
      notClaimed: "definitions of the measurement; figures B3 vary the cost of a switch",
    },
    {
      at: "4.3, tables 1 and 2",
      says: "I/O workload: completions and idle time of both schedulers",
      shown: ["Table 1", "Table 2", "Figure A1"],
    },
    {
      at: "4.3",
      says: "I/O workload: Concurrent Gang has far less idle time and completes more jobs",
      statements: ["I/O workload: "],
    },
    {
      at: "4.3, tables 3 and 4",
      says: "Computation workload: completions and idle time of both schedulers",
      shown: ["Table 3", "Table 4", "Figure A2"],
    },
    {
      at: "4.3",
      says: "Computation workload: Concurrent Gang is better here, too",
      statements: ["computation workload: "],
    },
    {
      at: "4.3",
      says: "The cause: it uses the idle slots of gang scheduling",
      statements: ["section 4.3: for computing jobs"],
    },
    {
      at: "4.3, tables 5 and 6",
      says: "Communication workload: completions and idle time of both schedulers",
      shown: ["Table 5", "Table 6", "Figure A3"],
    },
    {
      at: "4.3",
      says: "Communication workload: Concurrent Gang is better, although such jobs need coordination",
      statements: ["communication workload: "],
    },
    {
      at: "4.3",
      says: "Gang scheduling is better than uncoordinated scheduling for jobs that communicate or synchronise",
      notClaimed: "stated without numbers; the paper does not simulate uncoordinated scheduling",
    },
    {
      at: "4.3",
      says: "The cause: ready tasks run as soon as possible, so that receivers are blocked for a shorter time",
      notClaimed: "the authors' explanation of tables 5 and 6",
    },
    {
      at: "4.3, tables 7 and 8",
      says: "Synchronisation workload: completions and idle time of both schedulers",
      shown: ["Table 7", "Table 8", "Figure A4"],
    },
    {
      at: "4.3",
      says: "Synchronisation workload: Concurrent Gang has far less idle time and completes more jobs",
      statements: ["synchronisation workload: "],
    },
    {
      at: "4.3",
      says: "The cause: tasks that are late reach the barrier within the same round",
      notClaimed: "the authors' explanation of tables 7 and 8",
    },
    {
      at: "4.3, tables 9 and 10",
      says: "Mixed workload: completions and idle time of both schedulers",
      shown: ["Table 9", "Table 10", "Figure A5"],
    },
    {
      at: "4.3",
      says: "Mixed workload: Concurrent Gang has far less idle time and completes more jobs",
      statements: ["mixed workload: "],
    },
    {
      at: "5",
      says: "Workloads that need flexible scheduling gain most, such as those with much I/O",
      statements: ["I/O workload: "],
    },
    {
      at: "5",
      says: "For workloads that need coordination it becomes equivalent to gang scheduling",
      statements: ["section 5: for workloads that need coordination"],
    },
    {
      at: "5",
      says: "Idle time falls because other tasks run in idle slots, such as local tasks and tasks that do not coordinate at the moment",
      notClaimed: "the authors' explanation; table A shows what the idle time consists of",
    },
    {
      at: "5",
      says: "Migration would reduce idle time further",
      notClaimed: "stated without numbers; no system of the paper migrates tasks",
    },
    {
      at: "5",
      says: "The paper assumes that the memory suffices for all tasks; heavy workloads need further study",
      notClaimed: "an assumption and future work of the paper",
    },
  ],
  added: {
    shown: [
      "Table A",
      "Figure B1a",
      "Figure B1b",
      "Figure B2a",
      "Figure B2b",
      "Figure B3a",
      "Figure B3b",
      "Figure B4a",
      "Figure B4b",
      "Figure B5a",
      "Figure B5b",
    ],
    statements: [],
  },
};
