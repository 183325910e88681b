/** How Silva and Scherson 1999 was read where it leaves things open, and what was not reproduced. */
import { OPEN } from "./cells.ts";

const s = (ms: number) => `${ms / 1000} s`;
const { times } = OPEN;

export const NOTES: readonly string[] = [
  "The paper prints no parameters of its programs, no slot length and no seed. We chose ours by hand, once for all tables: we tried about fifteen settings on other seeds until idle times and completions had roughly the printed size. So agreement in size is no evidence; the tables can only show direction.",
  `Arrivals and service times are hyper-Erlang for each range of sizes (1, 2, 3–4, 5–8, 9–16, 17–32). They come from a refit to the paper's log, since the published tables are not available. Times between arrivals are multiplied by ${OPEN.interarrivalFactor} and service times by ${OPEN.serviceFactor}: the printed idle times require a matrix that fills early and stays full, and the printed completions require few, long jobs.`,
  `Slots of ${s(OPEN.slotMs)}. All durations are uniform around their means. I/O jobs: ${s(times["I/O"].compute.meanMs)} of computing ± 50 %, ${s(times["I/O"].io.meanMs)} of I/O ± 50 %. Communication: ${s(times.communication.compute.meanMs)} ± 30 %, then one message to another task and one message from another task, which take ${s(times.communication.latency.meanMs)} ± 50 % to arrive. Synchronisation: ${s(times.synchronisation.compute.meanMs)} ± 70 %, then a barrier. Computation: one statement. Mixed: ${s(times.mixed.compute.meanMs)} ± 50 %, then one of I/O, messages or barrier.`,
  "The mixed workload has jobs of the four pure kinds and mixed jobs, one fifth each.",
  "All five workloads of a replication have the same jobs (arrivals, sizes, service times), except that the mixed workload runs longer. Both schedulers run the same programs. Under gang scheduling a job needs about its service time in its own slots, whatever it does there, so tables 3, 5 and 7 have nearly equal completions. I/O continues outside the slots, so table 1 has more completions.",
  "First fit is by capacity, as in section 2.3: a job takes the first slice with enough idle processors, wherever they are (gang:place=any), and it keeps them until it ends.",
  "A task that can go on within its own slot takes its processor back at once (“the Gang Scheduler has precedence over the local task scheduler”). The paper also says that the other task keeps the processor until the next clock signal; figure B5 shows both readings.",
  "Grades come from a task's own slots only. Before its first slot a task has grade 0 in all classes, so the local scheduler takes it last.",
  "Figures B3: time lost in switches is not idle time, so idle time falls as the cost rises, while fewer jobs complete.",
  "Jobs of one processor have no other task to send to or to wait for. In the communication and synchronisation workloads they only compute.",
  "The tables have 10 replications and the figures B have 4; ± is the 95 % confidence interval of the mean. The paper's numbers are single runs.",
];
