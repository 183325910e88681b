/**
 * Obtains nodes from Slurm by pilots, jobs that only hold nodes. At most two exist: the one in use and the
 * one that follows it. Every few seconds, this class asks Slurm about them and compares the answer with
 * what it knows:
 *
 *   no answer of sbatch      look for the mark in the comments of our jobs, submit again if it is absent
 *   waiting                  `trouble` names the reason; unknown for 15 s: lost, submit another one
 *   running                  `allocated`; a node that leaves its list is `nodeDown`
 *   waiting after running    Slurm lost its latest state: gangs go on; unknown: while a conductor answers
 *   ended                    `released`; cancelled by others: no other pilot until `again`
 *
 * The next pilot is submitted when the one in use drains. A job is cancelled only if it has our mark.
 */
import type {
  AllocatedNode,
  Allocation,
  ClusterListener,
} from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { AllocationState, Demand } from "@tutti/live/daemon/executor/executor.ts";
import { allocationOf, endOf } from "./allocation.ts";
import { SlurmError } from "./commands.ts";
import type { QueuedJob } from "./formats/queue.ts";
import { Need } from "./need.ts";
import {
  ASKED_MS,
  CANCEL_AGAIN_MS,
  EARLY_MS,
  END_TOLERANCE_MS,
  ENDED,
  endText,
  isAtEnd,
  LEFT_TOLERANCE_S,
  lostText,
  MAX_REFUSALS,
  type Pilot,
  PilotList,
  RESTS,
  setLostJobs,
  statusOf,
  troubleText,
  turnWaitMs,
  UNKNOWN_MS,
} from "./pilot.ts";
import { markOf, type PilotContent } from "./pilot-file.ts";
import { cancelPilot, cancelStrays, submitPilot } from "./submitting.ts";
import { Telling } from "./telling.ts";
import { adviseWaiting, nextText, type PilotSetup } from "./waiting.ts";

export class Pilots {
  readonly #setup: PilotSetup;
  readonly #content: PilotContent;
  readonly #list: PilotList;
  readonly #pilots: readonly Pilot[];
  #listener: ClusterListener | undefined;
  #allocation: (Allocation & { readonly pilot: Pilot }) | undefined;
  readonly #need: Need;
  readonly #telling = new Telling();
  #earlyEnds = 0;
  #lostInARow = 0;
  #stopTimer = () => {};
  #turning: Promise<void> | undefined;
  #isClosed = false;
  #released: Promise<void> | undefined;
  /** Something has changed since the turn has begun. */
  #isUrgent = false;

  constructor(setup: PilotSetup) {
    this.#setup = setup;
    this.#content = setup.content;
    this.#need = new Need(setup.settings);
    this.#list = new PilotList(setup.content, setup.store, setup.clock.nowMs());
    this.#pilots = this.#list.all;
  }

  get inUse(): Pick<Pilot, "jobId" | "mark"> | undefined {
    return this.#allocation?.pilot;
  }

  get status(): AllocationState[] {
    return this.#pilots.map(statusOf);
  }

  /** Why there are no nodes now; undefined: there are, or they are being asked for. */
  get trouble(): string | undefined {
    return troubleText({
      hasNodes: this.#allocation !== undefined,
      halted: this.#content.halted,
      failure: this.#telling.failure,
      pilots: this.#pilots,
      mayAdd: this.#mayAdd(),
    });
  }

  get rests(): string | undefined {
    const isNone = this.#pilots.length === 0 && this.#content.halted === undefined && this.#mayAdd();
    return isNone && !this.#need.wantsPilot(false) ? RESTS : undefined;
  }

  /** What follows the pilot in use. */
  get next(): string | undefined {
    return nextText(this.#pilots, this.#allocation?.pilot, this.#mayAdd(), this.#need.isForLost);
  }

  start(listener: ClusterListener): void {
    this.#listener = listener;
    this.#telling.start(listener);
    // What an earlier front end has started has ended with its pilot.
    if (this.#pilots.length === 0) this.#tellReleased("there is no pilot");
    this.#arm(0);
  }

  /** Whether a gang runs or ends on the allocation. */
  setBusy(isBusy: boolean): void {
    if (this.#need.setBusy(isBusy)) this.#consider();
  }

  /** What jobs want of the pilot in use, or of the first one. */
  setDemand(demand: Demand | undefined): void {
    if (this.#need.setDemand(demand)) this.#consider();
  }

  /** Keeps which jobs have lost an attempt on this node of the pilot in use. */
  setLostJobs(node: string, jobs: readonly number[]): void {
    if (this.#allocation === undefined || this.#isClosed) return;
    setLostJobs(this.#allocation.pilot, node, jobs);
    this.#list.save();
  }

  /** Somebody asks for pilots. */
  again(): void {
    delete this.#content.halted;
    this.#content.submitted = 0;
    this.#earlyEnds = 0;
    this.#lostInARow = 0;
    this.#content.askedMs = this.#setup.clock.nowMs();
    this.#need.ask();
    for (const pilot of this.#pilots) pilot.refusals = 0;
    this.#list.save();
    this.#arm(0);
  }

  /**
   * Cancels all pilots and forgets them.
   * @throws SlurmError with the job ids if Slurm does not answer
   */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    this.close();
    await this.#turning;
    this.#setup.endConductors();
    for (const pilot of [...this.#pilots]) {
      await this.#giveUp(pilot);
      this.#list.remove(pilot);
    }
    delete this.#content.halted;
    this.#content.submitted = 0;
    this.#list.save();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  /** Acts at once if there is a reason to. Without one, Slurm is not asked: jobs come and go often. */
  #consider(): void {
    const isIdle = this.#pilots.length === 0;
    const mustAct = isIdle ? this.#need.wantsPilot(false) : !this.#need.isBusy && this.#isLeaving();
    this.#isUrgent ||= mustAct;
    if (mustAct) this.#arm(0);
    else if (isIdle) this.#tell();
  }

  #arm(waitMs: number): void {
    this.#stopTimer();
    if (this.#isClosed || this.#listener === undefined) return;
    const { clock } = this.#setup;
    this.#stopTimer = clock.at(clock.nowMs() + waitMs, () => {
      this.#turning ??= this.#turn().finally(() => {
        this.#turning = undefined;
        const nowMs = clock.nowMs();
        const nextMs = this.#isUrgent ? 0 : turnWaitMs(this.#pilots, this.#allocation, nowMs);
        this.#arm(this.#telling.againMs ?? nextMs);
      });
    });
  }

  async #turn(): Promise<void> {
    this.#isUrgent = false;
    try {
      for (const pilot of [...this.#pilots]) {
        if (this.#pilots.includes(pilot)) await this.#look(pilot);
      }
      this.#closeLost();
      await this.#giveBackIdle();
      await this.#retire();
      await this.#submitNext();
      this.#list.retry();
      this.#telling.answered();
    } catch (error) {
      this.#telling.failed((error as Error).message);
    }
    this.#tell();
  }

  async #look(pilot: Pilot): Promise<void> {
    if (this.#isClosed) return;
    if (pilot.jobId === undefined) return this.#submit(pilot);
    const job = await this.#setup.slurm.job(pilot.jobId);
    // The id may belong to somebody's other job by now.
    pilot.job = job?.comment === pilot.mark ? job : undefined;
    if (pilot.job === undefined) return this.#unknown(pilot, job);
    pilot.unknownSinceMs = undefined;
    this.#lostInARow = 0;
    const { state, leftS } = pilot.job;
    // Slurm lost its latest state, and with it the start of the pilot.
    if (state === "RUNNING") pilot.leftS = leftS ?? pilot.leftS;
    else if (leftS !== undefined && leftS > pilot.leftS + LEFT_TOLERANCE_S && this.#isInUse(pilot)) {
      this.#forgotten(pilot, "its time begins again");
    }
    if (pilot.isGivenUp && !ENDED.has(state)) return this.#cancel(pilot);
    if (ENDED.has(state)) this.#ended(pilot, endText(pilot.jobId, state), state);
    else if (state === "RUNNING") await this.#running(pilot, pilot.job);
    else if (!this.#isInUse(pilot)) await adviseWaiting(pilot, this.#setup);
    else if (state === "PENDING") this.#forgotten(pilot, "it waits in the queue again");
  }

  // ── Submitting ──────────────────────────────────────────────────────────────────────────────────────────

  async #submit(pilot: Pilot): Promise<void> {
    const { slurm, settings } = this.#setup;
    try {
      // A disk that refused the pilot before must have it now.
      const id = await submitPilot(pilot, slurm, settings, () => this.#list.retry());
      if (id === undefined) this.#list.remove(pilot);
      else this.#submitted(pilot, id);
    } catch (error) {
      if (error instanceof SlurmError && !error.isAway && ++pilot.refusals >= MAX_REFUSALS) {
        this.#list.remove(pilot);
        this.#halt(`Slurm refused the pilot ${MAX_REFUSALS} times: ${error.message}`);
        return;
      }
      throw error;
    }
  }

  #submitted(pilot: Pilot, jobId: string): void {
    pilot.jobId = jobId;
    this.#list.save();
    this.#notice("pilot-submitted", `Slurm has the pilot ${jobId}`);
  }

  /** Adds a pilot if there is none, or if the one in use drains. */
  async #submitNext(): Promise<void> {
    if (this.#isClosed || this.#content.halted !== undefined || !this.#mayAdd()) return;
    const now = this.#setup.clock.nowMs();
    const isDraining = now >= (this.#allocation?.end?.drainAtMs ?? Number.POSITIVE_INFINITY);
    if (this.#pilots.length > (isDraining ? 1 : 0)) return;
    if (!this.#need.wantsPilot(this.#allocation !== undefined)) return;
    this.#need.submitted();
    await this.#submit(this.#list.add(now));
  }

  #mayAdd(): boolean {
    return this.#content.submitted < (this.#setup.settings.pilots ?? Number.POSITIVE_INFINITY);
  }

  // ── A pilot in use ──────────────────────────────────────────────────────────────────────────────────────

  async #running(pilot: Pilot, job: QueuedJob): Promise<void> {
    if (this.#allocation === undefined) return this.#allocate(pilot, job);
    if (!this.#isInUse(pilot)) return;
    const { isForgotten: isBack } = pilot;
    if (isBack) this.#notice("pilot-back", `Slurm runs the pilot ${job.id} again`);
    pilot.isForgotten = false;
    const { nodes, end } = this.#allocation;
    const isIn = ({ node }: AllocatedNode) => job.nodes.includes(node);
    this.#allocation = { ...this.#allocation, nodes: nodes.filter(isIn) };
    for (const { node } of nodes.filter((one) => !isIn(one))) {
      this.#notice("node-down", `Slurm has taken ${node} out of the pilot ${job.id}: the node is down`, node);
      this.#listener?.nodeDown(node);
    }
    const present = endOf(job, this.#setup.clock.nowMs(), this.#setup.settings);
    if (Math.abs((present?.stopAtMs ?? Infinity) - (end?.stopAtMs ?? Infinity)) > END_TOLERANCE_MS) {
      if (!isBack) this.#notice("pilot-end", `Somebody has changed the time limit of the pilot ${job.id}`);
      const { pilot: _, end: __, ...same } = this.#allocation;
      const changed: Allocation = { ...same, ...(present && { end: present }) };
      this.#allocation = { ...changed, pilot };
      this.#listener?.allocated(changed);
    }
    // Slurm does not choose another batch host, so nobody starts a conductor's step again.
    if (!pilot.lostBatchHost && job.batchHost !== "" && !job.nodes.includes(job.batchHost)) {
      pilot.lostBatchHost = true;
      const text = `The pilot ${job.id} has lost its first node ${job.batchHost}: gangs go on, and another pilot follows when no gang runs`;
      this.#notice("batch-host-lost", text, job.batchHost);
    }
  }

  async #allocate(pilot: Pilot, job: QueuedJob): Promise<void> {
    const { slurm, clock, settings } = this.#setup;
    const allocation = await allocationOf(slurm, clock, job, settings, pilot.lostJobs);
    for (const id of await cancelStrays(slurm, markOf(this.#content), this.#pilots)) {
      this.#notice("pilot-cancelled", `Cancelled the job ${id}: Slurm had taken a pilot twice`);
    }
    pilot.startedMs = clock.nowMs();
    pilot.hasBegun = true;
    pilot.wasAllocated = true;
    this.#list.save();
    this.#allocation = { ...allocation, pilot };
    this.#need.begin();
    this.#listener?.allocated(allocation);
  }

  /** Whether the pilot in use goes back to Slurm as soon as no gang runs. */
  #isLeaving(): boolean {
    if (this.#allocation === undefined) return false;
    return this.#need.isOfNoUse || isAtEnd(this.#allocation, this.#pilots, this.#setup.clock.nowMs());
  }

  /** Jobs have waited long enough for nodes that it has lost: nothing else starts on it. */
  #closeLost(): void {
    const pilot = this.#allocation?.pilot;
    const isTime = pilot !== undefined && this.#need.hasWaitedForLost(this.#setup.clock.nowMs());
    if (!isTime || pilot.isClosing) return;
    pilot.isClosing = true;
    const text = `The pilot ${pilot.jobId} has lost nodes that jobs wait for: nothing else starts on it, and another pilot follows when no gang runs`;
    this.#notice("pilot-closed", text);
    this.#listener?.closing(text);
  }

  /** Gives all pilots back for which there is no work. */
  async #giveBackIdle(): Promise<void> {
    if (!this.#need.isIdle(this.#allocation !== undefined, this.#setup.clock.nowMs())) return;
    for (const pilot of [...this.#pilots]) {
      if (pilot.isGivenUp) continue;
      if (this.#isInUse(pilot)) await this.#giveBack(pilot, ": no job runs or waits");
      else await this.#giveUp(pilot);
    }
  }

  /** Nothing runs on it, so its nodes can be taken away at once. */
  async #retire(): Promise<void> {
    if (this.#need.isBusy || !this.#isLeaving()) return;
    const isOfNoUse = this.#need.isOfNoUse;
    await this.#giveBack(this.#allocation!.pilot, isOfNoUse ? ": the jobs that wait need other nodes" : "");
    const because = isOfNoUse ? this.#need.noUse() : undefined;
    if (because !== undefined) this.#halt(because);
  }

  /** Nothing must start on its nodes meanwhile. */
  async #giveBack(pilot: Pilot, because: string): Promise<void> {
    this.#setup.endConductors();
    this.#allocation = undefined;
    this.#tellReleased(`The pilot ${pilot.jobId} is given back${because}`);
    await this.#giveUp(pilot);
    if (pilot.isForgotten) this.#ended(pilot, `Slurm had forgotten the pilot ${pilot.jobId}`, "FORGOTTEN");
  }

  /** From now on, its end is no surprise. */
  async #giveUp(pilot: Pilot): Promise<void> {
    pilot.isGivenUp = true;
    this.#list.save();
    await this.#cancel(pilot);
  }

  /** Slurm can forget a cancellation, so it is repeated while the job is alive. */
  async #cancel(pilot: Pilot): Promise<void> {
    const { slurm, clock } = this.#setup;
    if (clock.nowMs() - pilot.cancelledMs < CANCEL_AGAIN_MS) return;
    await cancelPilot(slurm, clock, pilot);
    pilot.cancelledMs = clock.nowMs();
  }

  // ── Pilots that are gone ────────────────────────────────────────────────────────────────────────────────

  #unknown(pilot: Pilot, found: QueuedJob | undefined): void {
    const now = this.#setup.clock.nowMs();
    pilot.unknownSinceMs ??= now;
    const isLong = now - pilot.unknownSinceMs >= UNKNOWN_MS;
    if (this.#isInUse(pilot) && this.#setup.isHeard() && !pilot.isGivenUp)
      this.#forgotten(pilot, "its id is unknown or another job's");
    else if (isLong && pilot.hasBegun)
      this.#ended(pilot, `Slurm no longer knows the pilot ${pilot.jobId}`, "FORGOTTEN");
    else if (isLong) {
      this.#content.submitted--;
      this.#list.remove(pilot);
      const text = lostText(pilot, found);
      const isLast = ++this.#lostInARow >= MAX_REFUSALS;
      if (isLast) this.#halt(`${MAX_REFUSALS} pilots in a row were lost: ${text}`);
      else this.#notice("pilot-forgotten", `${text}: another one is submitted`);
    }
  }

  #forgotten(pilot: Pilot, how: string): void {
    if (pilot.isForgotten) return;
    pilot.isForgotten = true;
    const text = `Slurm has forgotten that the pilot ${pilot.jobId} runs (${how}): its gangs go on`;
    this.#notice("pilot-forgotten", text);
  }

  #ended(pilot: Pilot, because: string, state: string): void {
    this.#list.remove(pilot);
    const wasInUse = this.#isInUse(pilot);
    if (wasInUse) this.#allocation = undefined;
    // It ended while no front end was there: nobody has reported the end of its jobs.
    const isUnseen = pilot.hasBegun && !pilot.wasAllocated && this.#allocation === undefined;
    const ranMs = pilot.hasBegun ? this.#setup.clock.nowMs() - pilot.startedMs : 0;
    this.#notice("pilot-ended", because);
    if (wasInUse || isUnseen) this.#tellReleased(because);
    if (pilot.isGivenUp) return;
    // Slurm itself ends steps that it has forgotten, and calls that cancelled.
    const isAsked = Math.abs(this.#setup.clock.nowMs() - (this.#content.askedMs ?? -Infinity)) < ASKED_MS;
    if (state === "CANCELLED" && !pilot.isForgotten && !isAsked) this.#halt(`${because} by somebody else`);
    else if (isAsked || state === "FORGOTTEN" || ranMs >= EARLY_MS) this.#earlyEnds = 0;
    else if (++this.#earlyEnds >= MAX_REFUSALS) {
      this.#halt(`${MAX_REFUSALS} pilots in a row ended within a minute, the last one: ${because}`);
    }
  }

  /** No pilot until somebody asks. A pilot that waits is not wanted either. */
  #halt(because: string): void {
    this.#content.halted = because;
    for (const pilot of [...this.#pilots]) {
      if (this.#isInUse(pilot)) continue;
      if (pilot.jobId === undefined && !pilot.mayExist) this.#list.remove(pilot);
      else pilot.isGivenUp = true;
    }
    this.#list.save();
    this.#notice("pilots-halted", `${because}; no other pilot until: tutti allocations start`);
  }

  #isInUse(pilot: Pilot): boolean {
    return this.#allocation?.pilot === pilot;
  }

  #notice(kind: string, text: string, node?: string): void {
    this.#telling.notice(kind, text, node);
  }

  #tellReleased(because: string): void {
    this.#listener?.released(because);
    this.#telling.forget();
  }

  #tell(): void {
    if (!this.#isClosed) this.#telling.tell(this.trouble, this.rests);
  }
}
