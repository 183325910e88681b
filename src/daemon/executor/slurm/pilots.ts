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
import { assert } from "../../../core/errors.ts";
import type { Clock } from "../../../host/clock.ts";
import type { AllocatedNode, Allocation, ClusterListener } from "../cluster/cluster.ts";
import { allocationOf, endOf } from "./allocation.ts";
import { cancelPilot, cancelStrays } from "./cancel.ts";
import { SlurmError } from "./commands.ts";
import type { SlurmJob } from "./formats/squeue.ts";
import {
  ASKED_MS,
  CANCEL_AGAIN_MS,
  EARLY_MS,
  END_TOLERANCE_MS,
  ENDED,
  endText,
  failureWaitMs,
  LEFT_TOLERANCE_S,
  lostText,
  MAX_REFUSALS,
  newPilot,
  type Pilot,
  type PilotStatus,
  REPORTED_FAILURES,
  setLostJobs,
  statusOf,
  troubleText,
  turnWaitMs,
  UNKNOWN_MS,
} from "./pilot.ts";
import { markOf, PatientStore, type PilotContent, type PilotStore, storedOf } from "./pilot-file.ts";
import type { Slurm } from "./slurm.ts";
import { adviseWaiting, nextText, type PilotSettings } from "./waiting.ts";

interface PilotSetup {
  readonly slurm: Slurm;
  readonly clock: Clock;
  readonly store: PilotStore;
  readonly content: PilotContent;
  readonly settings: PilotSettings;
  /** Whether a conductor of the allocation has sent anything within the last seconds. */
  isHeard(): boolean;
  /** Ends the conductors of an allocation that Slurm may have forgotten. */
  endConductors(): void;
}

export class Pilots {
  readonly #setup: PilotSetup;
  readonly #content: PilotContent;
  readonly #pilots: Pilot[];
  readonly #disk: PatientStore;
  #listener: ClusterListener | undefined;
  #allocation: (Allocation & { readonly pilot: Pilot }) | undefined;
  #isBusy = true;
  #failures = 0;
  #failure = "";
  #earlyEnds = 0;
  #lostInARow = 0;
  #stopTimer = () => {};
  #turning: Promise<void> | undefined;
  #isClosed = false;
  #released: Promise<void> | undefined;
  #trouble: string | undefined;

  constructor(setup: PilotSetup) {
    this.#setup = setup;
    this.#content = setup.content;
    this.#disk = new PatientStore(setup.store);
    this.#pilots = setup.content.pilots.map((stored) => newPilot(stored, setup.clock.nowMs()));
  }

  /** Job id of the pilot in use. */
  get jobId(): string | undefined {
    return this.#allocation?.pilot.jobId;
  }

  /** Its mark. */
  get mark(): string | undefined {
    return this.#allocation?.pilot.mark;
  }

  get status(): PilotStatus[] {
    return this.#pilots.map(statusOf);
  }

  /** Why there are no nodes now; undefined: there are, or they are being asked for. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** What follows the pilot in use. */
  get next(): string | undefined {
    return nextText(this.#pilots, this.#allocation?.pilot, this.#mayAdd());
  }

  start(listener: ClusterListener): void {
    this.#listener = listener;
    this.#arm(0);
  }

  /** Whether a gang runs or ends on the allocation. */
  setBusy(isBusy: boolean): void {
    if (isBusy === this.#isBusy) return;
    this.#isBusy = isBusy;
    if (!isBusy && this.#isLeaving()) this.#arm(0);
  }

  /** Keeps which jobs have lost an attempt on this node of the pilot in use. */
  setLostJobs(node: string, jobs: readonly number[]): void {
    if (this.#allocation === undefined || this.#isClosed) return;
    setLostJobs(this.#allocation.pilot, node, jobs);
    this.#save();
  }

  /** Somebody asks for pilots. */
  again(): void {
    delete this.#content.halted;
    this.#content.submitted = 0;
    this.#earlyEnds = 0;
    this.#lostInARow = 0;
    this.#content.askedMs = this.#setup.clock.nowMs();
    for (const pilot of this.#pilots) pilot.refusals = 0;
    this.#save();
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
      this.#remove(pilot);
    }
    delete this.#content.halted;
    this.#content.submitted = 0;
    this.#save();
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  #arm(waitMs: number): void {
    this.#stopTimer();
    if (this.#isClosed || this.#listener === undefined) return;
    const { clock } = this.#setup;
    this.#stopTimer = clock.at(clock.nowMs() + waitMs, () => {
      this.#turning ??= this.#turn().finally(() => {
        this.#turning = undefined;
      });
    });
  }

  async #turn(): Promise<void> {
    try {
      for (const pilot of [...this.#pilots]) {
        if (this.#pilots.includes(pilot)) await this.#look(pilot);
      }
      await this.#retire();
      await this.#submitNext();
      this.#disk.retry();
      if (this.#failures >= REPORTED_FAILURES) this.#notice("slurm-back", "Slurm answers again");
      this.#failures = 0;
    } catch (error) {
      this.#failure = (error as Error).message;
      if (++this.#failures === REPORTED_FAILURES) {
        this.#notice("slurm-away", `${this.#failure}; running gangs go on, and Tutti tries again every 15 s`);
      }
    }
    this.#tellTrouble();
    this.#arm(
      this.#failures > 0
        ? failureWaitMs(this.#failures)
        : turnWaitMs(this.#pilots, this.#allocation, this.#setup.clock.nowMs()),
    );
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

  /** Submits the pilot, unless an earlier try has worked without an answer. */
  async #submit(pilot: Pilot): Promise<void> {
    const { slurm, settings } = this.#setup;
    if (pilot.mayExist) {
      const found = (await slurm.ownJobs()).findLast(({ comment }) => comment === pilot.mark);
      if (found !== undefined) return this.#submitted(pilot, found.id);
      if (pilot.isGivenUp) return this.#remove(pilot);
    }
    // A disk that refused the pilot before must have it now.
    this.#disk.retry();
    pilot.mayExist = true;
    const { options, script } = settings.submission(pilot.mark);
    try {
      this.#submitted(pilot, await slurm.submit(options, script));
    } catch (error) {
      if (error instanceof SlurmError && !error.isAway && ++pilot.refusals >= MAX_REFUSALS) {
        this.#remove(pilot);
        this.#halt(`Slurm refused the pilot ${MAX_REFUSALS} times: ${error.message}`);
        return;
      }
      throw error;
    }
  }

  #submitted(pilot: Pilot, jobId: string): void {
    pilot.jobId = jobId;
    this.#save();
    this.#notice("pilot-submitted", `Slurm has the pilot ${jobId}`);
  }

  /** Adds a pilot if there is none, or if the one in use drains. */
  async #submitNext(): Promise<void> {
    const content = this.#content;
    if (this.#isClosed || content.halted !== undefined || !this.#mayAdd()) return;
    const { end } = this.#allocation ?? {};
    const now = this.#setup.clock.nowMs();
    const isDraining = end !== undefined && now >= end.drainAtMs;
    if (this.#pilots.length > (isDraining ? 1 : 0)) return;
    content.counter++;
    content.submitted++;
    const pilot = newPilot({ mark: markOf(content) }, now);
    pilot.mayExist = false;
    this.#pilots.push(pilot);
    this.#save();
    await this.#submit(pilot);
  }

  #mayAdd(): boolean {
    return this.#content.submitted < (this.#setup.settings.pilots ?? Number.POSITIVE_INFINITY);
  }

  // ── A pilot in use ──────────────────────────────────────────────────────────────────────────────────────

  async #running(pilot: Pilot, job: SlurmJob): Promise<void> {
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

  async #allocate(pilot: Pilot, job: SlurmJob): Promise<void> {
    const { slurm, clock, settings } = this.#setup;
    const allocation = await allocationOf(slurm, clock, job, settings, pilot.lostJobs);
    for (const id of await cancelStrays(slurm, markOf(this.#content), this.#pilots)) {
      this.#notice("pilot-cancelled", `Cancelled the job ${id}: Slurm had taken a pilot twice`);
    }
    pilot.startedMs = clock.nowMs();
    pilot.hasBegun = true;
    pilot.wasAllocated = true;
    this.#save();
    this.#allocation = { ...allocation, pilot };
    this.#isBusy = true;
    this.#listener?.allocated(allocation);
  }

  /** Whether the pilot in use goes back to Slurm as soon as no gang runs. */
  #isLeaving(): boolean {
    if (this.#allocation === undefined) return false;
    const { pilot, nodes, end } = this.#allocation;
    if (pilot.lostBatchHost || nodes.every(({ node }) => pilot.lostJobs?.[node])) return true;
    const now = this.#setup.clock.nowMs();
    if (end === undefined || now < end.drainAtMs) return false;
    const hasSuccessor = this.#pilots.some((other) => other !== pilot && other.job?.state === "RUNNING");
    return hasSuccessor || now >= end.stopAtMs;
  }

  /** Nothing runs on it, so its nodes can be taken away at once: nothing must start there meanwhile. */
  async #retire(): Promise<void> {
    if (this.#isBusy || !this.#isLeaving()) return;
    const { pilot } = this.#allocation!;
    this.#setup.endConductors();
    this.#allocation = undefined;
    this.#listener?.released(`The pilot ${pilot.jobId} is given back`);
    await this.#giveUp(pilot);
    if (pilot.isForgotten) this.#ended(pilot, `Slurm had forgotten the pilot ${pilot.jobId}`, "FORGOTTEN");
  }

  /** From now on, its end is no surprise. */
  async #giveUp(pilot: Pilot): Promise<void> {
    pilot.isGivenUp = true;
    this.#save();
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

  #unknown(pilot: Pilot, found: SlurmJob | undefined): void {
    const now = this.#setup.clock.nowMs();
    pilot.unknownSinceMs ??= now;
    const isLong = now - pilot.unknownSinceMs >= UNKNOWN_MS;
    if (this.#isInUse(pilot) && this.#setup.isHeard() && !pilot.isGivenUp)
      this.#forgotten(pilot, "its id is unknown or another job's");
    else if (isLong && pilot.hasBegun)
      this.#ended(pilot, `Slurm no longer knows the pilot ${pilot.jobId}`, "FORGOTTEN");
    else if (isLong) {
      this.#content.submitted--;
      this.#remove(pilot);
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
    this.#remove(pilot);
    const wasInUse = this.#isInUse(pilot);
    if (wasInUse) this.#allocation = undefined;
    // It ended while no front end was there: nobody has reported the end of its jobs.
    const isUnseen = pilot.hasBegun && !pilot.wasAllocated && this.#allocation === undefined;
    const ranMs = pilot.hasBegun ? this.#setup.clock.nowMs() - pilot.startedMs : 0;
    this.#notice("pilot-ended", because);
    if (wasInUse || isUnseen) this.#listener?.released(because);
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
      if (pilot.jobId === undefined && !pilot.mayExist) this.#remove(pilot);
      else pilot.isGivenUp = true;
    }
    this.#save();
    this.#notice("pilots-halted", `${because}; no other pilot until: tutti pilot start`);
  }

  #isInUse(pilot: Pilot): boolean {
    return this.#allocation?.pilot === pilot;
  }

  #remove(pilot: Pilot): void {
    const index = this.#pilots.indexOf(pilot);
    assert(index >= 0, `the pilot ${pilot.mark} is not in the list`);
    this.#pilots.splice(index, 1);
    this.#save();
  }

  /** What a disk refuses is written at a later turn: what happens in Slurm counts all the same. */
  #save(): void {
    this.#content.pilots = this.#pilots.map(storedOf);
    this.#disk.save(this.#content);
  }

  #notice(kind: string, text: string, node?: string): void {
    this.#listener?.notice(kind, text, node);
  }

  #tellTrouble(): void {
    const text = troubleText({
      hasNodes: this.#allocation !== undefined,
      halted: this.#content.halted,
      failure: this.#failures > 0 ? this.#failure : undefined,
      pilots: this.#pilots,
      mayAdd: this.#mayAdd(),
    });
    if (text === this.#trouble || this.#isClosed) return;
    this.#trouble = text;
    this.#listener?.trouble(text);
  }
}
