/** Lists every table, figure and claim of silva1999, in the paper's order, for the index of papers. */
import type { PaperIndex } from "../../../lab/papers/paper.ts";

const DEFINITION = "a definition; src/models/tasks implements it, and its checker tests it";
const FIELD = "about the field, cited from other papers";
const REASON = "the authors' reason for a choice, without numbers";
const OTHER_PAPERS = "cited; no system of the paper is compared with it";
const SCALING =
  "about messages between computers; the simulations of the paper have none, and neither have ours";
const EXPLANATION = "the authors' explanation of the tables; the tables themselves are in the index";

export const INDEX: PaperIndex = {
  entries: [
    {
      at: "abstract and 1",
      says: "Gang service is responsive, shares resources well and is easy to program for; its problems are scaling and tasks that block",
      notClaimed: FIELD,
    },
    {
      at: "abstract and 1",
      says: "Concurrent Gang generalises gang scheduling",
      notClaimed:
        "follows from the definition: without local choices it is the gang scheduling of the tables, and our simulator makes both from one program",
    },
    {
      at: "1",
      says: "Gang service looks to a job like a machine of its own, and suits every model of computation",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "Under time slicing an arriving job is served at once; under variable partitioning it may have to wait",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "With time slicing, performance falls gradually as the load rises",
      notClaimed: "stated without numbers; the paper does not vary the load",
    },
    {
      at: "1",
      says: "Fine-grain applications run much faster than without coordination (cited from Feitelson and Rudolph 1992)",
      notClaimed: OTHER_PAPERS,
    },
    {
      at: "1",
      says: "SPMD is the most used style of parallel programming, and Concurrent Gang is made for it",
      notClaimed: FIELD,
    },
    {
      at: "1",
      says: "The model of the machine: processors, a network and a synchroniser with a fixed period",
      notClaimed: DEFINITION,
    },
    {
      at: "2.1, figure 1",
      says: "Slice, slot, period, cycle and idling ratio; arrivals, ends and changes of the number of eligible tasks are noticed between periods",
      notClaimed: DEFINITION,
    },
    {
      at: "2.2",
      says: "Grade of membership: the share of a slot spent on I/O, averaged over the last five times that the task was scheduled; four classes are possible, of which the priority uses two",
      notClaimed: DEFINITION,
    },
    {
      at: "2.2",
      says: "Many jobs have phases, and an average over five slots notices that a task has entered another one",
      notClaimed: REASON,
    },
    {
      at: "2.3",
      says: "Some tasks must run as a gang, such as those of fine grain; for others, such as local or I/O-bound tasks, it is not mandatory",
      notClaimed: FIELD,
    },
    {
      at: "2.3",
      says: "Under gang scheduling, I/O-bound jobs respond more slowly, and processors may be poorly used (cited from Lee et al. 1997)",
      notClaimed:
        "cited; the paper prints no response times (tables 1 and 2 have the idle time of such jobs under both schedulers)",
    },
    {
      at: "2.3",
      says: "UNIX schedulers suit I/O-bound tasks: the task that soon blocks again runs first, and shortest job first is best for total completion time (cited)",
      notClaimed: OTHER_PAPERS,
    },
    {
      at: "2.3",
      says: "Embarrassingly parallel jobs mainly need processor time, even without coordination",
      notClaimed: "stated without numbers; no scheduler of the paper is uncoordinated",
    },
    {
      at: "2.3",
      says: "The user, or the grades, tell tasks that must run as a gang from other tasks",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "The scheduler is nonclairvoyant: it knows little about a job except its size and memory",
      notClaimed:
        "a definition; in the tables, our local scheduler knows of tasks only what their past slots have shown",
    },
    {
      at: "2.3",
      says: "A local scheduler on each processor runs another task when the own one blocks or the slot is empty, until the next clock signal, by the priority max(α λ_IO, λ_COMP), round robin among equals",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "α = 2 puts I/O-bound tasks before computing ones, because they are more likely to block",
      notClaimed: `${REASON}; figures B1 vary α`,
    },
    {
      at: "2.3",
      says: "I/O-bound and computing jobs have priority because they gain most from uncoordinated scheduling",
      notClaimed: `${REASON}; no scheduler of the paper is uncoordinated`,
    },
    {
      at: "2.3",
      says: "Jobs that synchronise or communicate have low priority, since they need coordination to be efficient (cited)",
      notClaimed: OTHER_PAPERS,
    },
    {
      at: "2.3",
      says: "A phase of synchronisation or communication lowers the grade of the computing class, and so the task's chance to be chosen locally",
      notClaimed: "follows from the definition of the grades; src/models/tasks tests the grades",
    },
    {
      at: "2.3, figure 2",
      says: "The front end allocates jobs at changes of the workload; local schedulers switch tasks on their own",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "All processors switch at once at the clock signal, and all local queues are as long as the period has slices",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "Only the processors that a change of the workload concerns are notified",
      notClaimed: SCALING,
    },
    {
      at: "2.3",
      says: "First fit takes the first slice with enough capacity, best fit the smallest sufficient one",
      notClaimed: DEFINITION,
    },
    {
      at: "2.3",
      says: "A task that is created or that ends changes the workload, and the local scheduler informs the front end",
      notClaimed: DEFINITION,
    },
    {
      at: "abstract and 3",
      says: "A global clock and local decisions let Concurrent Gang scale",
      notClaimed: SCALING,
    },
    {
      at: "3",
      says: "In usual gang scheduling a central controller switches whole jobs, which limits scaling",
      notClaimed: SCALING,
    },
    {
      at: "3",
      says: "Switching whole jobs centrally also limits the use of processors when a task blocks",
      statements: ["I/O workload: idle time", "communication workload: idle time"],
    },
    {
      at: "3",
      says: "Distributed Hierarchical Control scales, too, but has no solution for tasks that block",
      notClaimed: "about other papers",
    },
    {
      at: "3",
      says: "Without a hierarchy, each processor decides alone what to run when a task blocks",
      notClaimed: DEFINITION,
    },
    {
      at: "4",
      says: "First fit without migration is no worse than other packings without migration, under the paper's workload model (cited from Silva and Scherson 1999)",
      notClaimed: "cited from another paper of the authors; the tables have first fit only",
    },
    {
      at: "4",
      says: "First fit has the lower complexity",
      notClaimed: REASON,
    },
    {
      at: "4.1",
      says: "The simulator turns distributions into a graph of tasks, which then behaves deterministically",
      notClaimed:
        "about the authors' simulator; in ours, both schedulers run the same programs, drawn before the run",
    },
    {
      at: "4.2",
      says: "Arrivals and service times are hyper-Erlang by range of sizes, after a log of 17,440 jobs, and match its first three moments (cited)",
      notClaimed: "the tables of this model are not available; the notes say what we use",
    },
    {
      at: "4.3",
      says: "The setup: 32 processors in a mesh, six ranges of sizes, five workloads, first fit, sends that do not block, barriers over whole jobs, the same jobs for both schedulers",
      notClaimed: "settings; ours are the same, and the notes say why the mesh has no effect",
    },
    {
      at: "4.3",
      says: "Waiting for I/O, messages and barriers counts as idle time",
      notClaimed: "a definition of the measurement; table A splits the idle time by cause",
    },
    {
      at: "4.3",
      says: "Switches cost nothing in the simulation, since their cost depends on operating system and processor",
      notClaimed: `${REASON}; figures B3 vary the cost of a switch`,
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
      at: "4.3",
      says: "This was expected, since such jobs need the flexibility that Concurrent Gang has and gang scheduling lacks",
      notClaimed: EXPLANATION,
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
      says: "For jobs that communicate or synchronise, gang scheduling beats uncoordinated scheduling",
      notClaimed: "stated without numbers; the paper does not simulate uncoordinated scheduling",
    },
    {
      at: "4.3",
      says: "The cause: ready tasks run as soon as possible, so that receivers are blocked for a shorter time",
      notClaimed: EXPLANATION,
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
      notClaimed: EXPLANATION,
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
      at: "4.3",
      says: "The cause: whenever the current task blocks, the local scheduler tries to run an eligible one",
      notClaimed: EXPLANATION,
    },
    {
      at: "5",
      says: "The main differences from usual gang scheduling are the external global clock and the local task scheduler",
      notClaimed: "a definition; the clock may be hardware or software, which a simulation cannot tell apart",
    },
    {
      at: "5",
      says: "Workloads that need flexible scheduling gain more, such as those with much I/O (we test that these gain)",
      statements: ["I/O workload: "],
    },
    {
      at: "5",
      says: "For workloads that need coordination it becomes equivalent to gang scheduling",
      statements: ["section 5: for workloads that need coordination"],
    },
    {
      at: "5",
      says: "Idle time falls because other tasks run in idle slots: local tasks (which the paper does not simulate) and tasks that do not coordinate at the moment",
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
