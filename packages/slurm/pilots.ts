/**
 * Obtains nodes from Slurm by pilots, jobs that only hold nodes. What jobs want decides how many there are,
 * and of which kind and size (need.ts). Every few seconds, this class asks Slurm about them and compares the
 * answer with what it knows:
 *
 *   no answer of sbatch      look for the mark in the comments of our jobs, submit again if it is absent
 *   waiting                  `trouble` names the reason; unknown for 15 s: lost, submit another one
 *   running                  `allocated`; a node that leaves its list is `nodeDown`
 *   waiting after running    Slurm lost its latest state: gangs go on; unknown: while a conductor answers
 *   completing               who ends it is known when it has ended: until then, no pilot is asked for
 *   ended                    `released`; cancelled by others: no other pilot until `again`
 *
 * A job is cancelled only if it has our mark.
 */
import type {
  AllocatedNode,
  Allocation,
  ClusterListener,
} from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { AllocationState, Bill, Demand } from "@tutti/live/daemon/executor/executor.ts";
import { allocationOf, endOf } from "./allocation.ts";
import { SlurmError } from "./commands.ts";
import type { QueuedJob } from "./formats/queue.ts";
import { Need } from "./need.ts";
import {
  ASKED_MS,
  added,
  billOf,
  CANCEL_AGAIN_MS,
  COMPLETING_MS,
  EARLY_MS,
  END_TOLERANCE_MS,
  ENDED,
  endText,
  heldOf,
  isAtEnd,
  LEFT_TOLERANCE_S,
  learnRan,
  lostNodes,
  lostText,
  MAX_REFUSALS,
  NO_BILL,
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
import { adviseWaiting, comingText, nextText, type PilotSetup } from "./waiting.ts";

/** Slurm says what has become of a node or a pilot some moments after the processes there have ended. */
const SUSPICION_MS = 1000;
/** How often the time that pilots have used is written to the disk. */
const SAVE_BILL_MS = 60_000;
/** As often at most when gangs begin and end. */
const MANY_CHANGES_MS = 5000;

export class Pilots {
  readonly #setup: PilotSetup;
  readonly #content: PilotContent;
  readonly #list: PilotList;
  readonly #pilots: readonly Pilot[];
  #listener: ClusterListener | undefined;
  readonly #need: Need;
  readonly #telling = new Telling();
  #billSavedMs = Number.NEGATIVE_INFINITY;
  #earlyEnds = 0;
  #lostInARow = 0;
  #stopTimer = () => {};
  /** Ends the wait for the next save; undefined: nothing is to save. */
  #saveTimer: (() => void) | undefined;
  /** When Slurm is asked next. */
  #dueMs = Number.POSITIVE_INFINITY;
  #turning: Promise<void> | undefined;
  #isClosed = false;
  #released: Promise<void> | undefined;
  /** When the turn has begun. */
  #turnFromMs = Number.NEGATIVE_INFINITY;
  /** Something has changed since then. */
  #isUrgent = false;
  /** Jobs wait for a pilot, but it would need more node time than may be asked for. */
  #isExhausted = false;

  constructor(setup: PilotSetup) {
    this.#setup = setup;
    this.#content = setup.content;
    this.#need = new Need(setup.settings, setup.kinds);
    this.#list = new PilotList(setup.content, setup.store, setup.clock.nowMs());
    this.#pilots = this.#list.all;
  }

  /** The pilot in use that has a node. */
  pilotOf(node: string): Pick<Pilot, "jobId" | "mark"> | undefined {
    return this.#inUse.findLast(({ allocation }) => allocation!.nodes.some((one) => one.node === node));
  }

  get #inUse(): Pilot[] {
    return this.#pilots.filter(({ allocation }) => allocation !== undefined);
  }

  /** Whether a pilot that an earlier front end has used may still run. */
  get isFinding(): boolean {
    return this.#pilots.some(({ hasBegun, isSeen, isGivenUp }) => hasBegun && !isSeen && !isGivenUp);
  }

  get status(): AllocationState[] {
    return this.#pilots.map(statusOf);
  }

  /** Node time of all pilots so far. */
  get bill(): Bill {
    return this.#pilots.reduce(added, this.#content.bill ?? NO_BILL);
  }

  /** Why there are no nodes now; undefined: there are, or they are being asked for. */
  get trouble(): string | undefined {
    return troubleText({
      hasNodes: this.#inUse.length > 0,
      halted: this.#content.halted ?? (this.#isExhausted ? this.#exhaustedText : undefined),
      failure: this.#telling.failure,
      pilots: this.#pilots,
      mayAdd: this.#mayAdd(),
    });
  }

  get rests(): string | undefined {
    const isNone = this.#pilots.length === 0 && this.#content.halted === undefined && this.#mayAdd();
    return isNone && !this.#need.wantsPilot ? RESTS : undefined;
  }

  /** What follows the pilots in use. */
  get next(): string | undefined {
    return nextText(this.#pilots, this.#mayAsk && !this.#isExhausted, this.#need.isForLost);
  }

  get coming(): string | undefined {
    return comingText(this.#pilots);
  }

  get #exhaustedText(): string {
    const hours = (this.#setup.settings.maxNodeMs ?? 0) / 3_600_000;
    return `What is left of the ${hours} node-hours of --max-node-hours is less than the waiting jobs need`;
  }

  start(listener: ClusterListener): void {
    this.#listener = listener;
    this.#telling.start(listener);
    // What an earlier front end has started has ended with its pilot.
    if (this.#pilots.length === 0) this.#tellReleased(undefined, "there is no pilot");
    this.#arm(0);
  }

  /** On how many nodes of each pilot gangs run or end. */
  setBusy(nodes: ReadonlyMap<string, number>): void {
    this.#count();
    this.#need.setBusy(nodes);
    this.#noteIdle();
    this.#consider();
  }

  /** What jobs want of the pilots in use, or of the first one. */
  setDemand(demand: Demand | undefined): void {
    const isOther = this.#need.setDemand(demand);
    this.#need.note(this.#setup.clock.nowMs());
    if (isOther) this.#consider();
  }

  /** A connection to a node was lost: Slurm may have ended its pilot, or taken the node away. */
  suspect(): void {
    const dueMs = this.#setup.clock.nowMs() + SUSPICION_MS;
    if (this.#isClosed || this.#turning !== undefined || this.#dueMs <= dueMs) return;
    this.#arm(SUSPICION_MS);
  }

  /** Keeps which jobs have lost an attempt on this node of a pilot in use. */
  setLostJobs(node: string, jobs: readonly number[]): void {
    const pilot = this.#inUse.findLast(({ allocation }) =>
      allocation!.nodes.some((one) => one.node === node),
    );
    if (pilot === undefined || this.#isClosed) return;
    setLostJobs(pilot, node, jobs);
    this.#list.save();
  }

  /** Somebody asks for pilots. */
  again(): void {
    delete this.#content.halted;
    this.#content.submitted = 0;
    this.#content.usedSinceAskedMs = 0;
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
    this.#setup.endConductors(undefined);
    this.#count();
    for (const pilot of [...this.#pilots]) {
      await this.#giveUp(pilot);
      this.#list.bill(pilot);
    }
    delete this.#content.halted;
    this.#content.submitted = 0;
    this.#list.save();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer();
    this.#saveTimer?.();
    this.#count();
    this.#list.save();
  }

  /** Acts at once if there is a reason to. Without one, Slurm is not asked: jobs come and go often. */
  #consider(): void {
    const nowMs = this.#setup.clock.nowMs();
    this.#need.note(nowMs);
    const isLeaving = this.#inUse.some((pilot) => this.#isLeaving(pilot));
    const request = this.#request();
    const isNews = request === "exhausted" ? !this.#isExhausted : request !== undefined;
    const mustAct = isLeaving || isNews;
    this.#isUrgent ||= mustAct;
    const dueMs = this.#need.dueMs(nowMs);
    if (mustAct) this.#arm(0);
    else if (dueMs < this.#dueMs) this.#arm(dueMs - nowMs);
    if (this.#pilots.length === 0) this.#tell();
  }

  #arm(waitMs: number): void {
    this.#stopTimer();
    if (this.#isClosed || this.#listener === undefined) return;
    const { clock } = this.#setup;
    this.#dueMs = clock.nowMs() + waitMs;
    this.#stopTimer = clock.at(this.#dueMs, () => {
      this.#turning ??= this.#turn().finally(() => {
        this.#turning = undefined;
        const nowMs = clock.nowMs();
        const dueMs = Math.min(nowMs + turnWaitMs(this.#pilots, nowMs), this.#need.dueMs(nowMs));
        const nextMs = this.#isUrgent ? 0 : dueMs - nowMs;
        this.#arm(this.#telling.againMs ?? nextMs);
      });
    });
  }

  async #turn(): Promise<void> {
    this.#isUrgent = false;
    this.#turnFromMs = this.#setup.clock.nowMs();
    // What changes while Slurm is asked may be the end of a pilot, which the answer does not show yet: that
    // is for the next turn.
    const leaving = this.#inUse.filter((pilot) => this.#isLeaving(pilot));
    const wasRequested = this.#request() !== undefined;
    try {
      const listed = await this.#listed();
      // A node that one has lost may be in another one that begins.
      const first = this.#inUse;
      for (const pilot of new Set([...first, ...this.#pilots])) {
        if (this.#pilots.includes(pilot)) await this.#look(pilot, listed);
      }
      this.#count();
      this.#need.note(this.#setup.clock.nowMs());
      this.#closeLost();
      await this.#giveBackIdle();
      await this.#retire(leaving);
      await this.#submitNext(wasRequested);
      const isOld = this.#setup.clock.nowMs() >= this.#billSavedMs + SAVE_BILL_MS;
      if (this.#inUse.length > 0 && isOld) this.#saveBill();
      this.#list.retry();
      this.#telling.answered();
    } catch (error) {
      this.#telling.failed((error as Error).message);
    }
    this.#tell();
  }

  /** One question for all: about one job if there is one pilot, else about all jobs of the user. */
  async #listed(): Promise<readonly QueuedJob[]> {
    const ids = this.#pilots.flatMap(({ jobId }) => jobId ?? []);
    if (ids.length === 0) return [];
    const { slurm } = this.#setup;
    if (ids.length > 1) return slurm.queue();
    return [await slurm.job(ids[0])].flatMap((job) => job ?? []);
  }

  async #look(pilot: Pilot, listed: readonly QueuedJob[]): Promise<void> {
    if (this.#isClosed) return;
    if (pilot.jobId === undefined) return this.#submit(pilot);
    const job = listed.find(({ id }) => id === pilot.jobId);
    // The id may belong to somebody's other job by now.
    pilot.job = job?.comment === pilot.mark ? job : undefined;
    if (pilot.job === undefined) return this.#unknown(pilot, job);
    pilot.unknownSinceMs = undefined;
    this.#lostInARow = 0;
    if (pilot.job.state === "COMPLETING") pilot.completingSinceMs ??= this.#setup.clock.nowMs();
    else pilot.completingSinceMs = undefined;
    if (pilot.job.state !== "RUNNING" || pilot.isGivenUp) pilot.isSeen = true;
    if (pilot.allocation === undefined) learnRan(pilot, pilot.job, this.#setup.clock.unixMs());
    const { state, leftS } = pilot.job;
    // Slurm lost its latest state, and with it the start of the pilot.
    if (state === "RUNNING") pilot.leftS = leftS ?? pilot.leftS;
    else if (
      leftS !== undefined &&
      leftS > pilot.leftS + LEFT_TOLERANCE_S &&
      pilot.allocation !== undefined
    ) {
      this.#forgotten(pilot, "its time begins again");
    }
    if (pilot.isGivenUp && !ENDED.has(state)) return this.#cancel(pilot);
    if (ENDED.has(state)) this.#ended(pilot, endText(pilot.jobId, state), state);
    else if (state === "RUNNING") await this.#running(pilot, pilot.job);
    else if (pilot.allocation === undefined) await adviseWaiting(pilot, this.#setup);
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

  /** Adds a pilot if jobs need one. One in each turn: what the first one will hold is known then. */
  async #submitNext(wasRequested: boolean): Promise<void> {
    // Before somebody asked, Slurm may have said that one is there whose end was to come.
    if ((this.#content.askedMs ?? -Infinity) < this.#turnFromMs && this.#staysAny) this.#need.answered();
    const request = this.#request();
    this.#isExhausted = request === "exhausted";
    if (request === undefined || request === "exhausted") return;
    if (!wasRequested) {
      this.#isUrgent = true;
      return;
    }
    this.#need.answered();
    const { kind, nodes, timeS } = request;
    const asked = { kind: kind.name, nodes, timeMs: 1000 * timeS };
    await this.#submit(this.#list.add(asked, this.#setup.clock.nowMs()));
    // Other jobs may need another kind.
    this.#isUrgent = true;
  }

  /** Whether a pilot is there, or on its way, that neither ends nor goes back. */
  get #staysAny(): boolean {
    const nowMs = this.#setup.clock.nowMs();
    return this.#pilots.some((pilot) => !pilot.isGivenUp && !heldOf(pilot, true, nowMs).isEnding);
  }

  get #mayAsk(): boolean {
    return !this.#isClosed && this.#content.halted === undefined && this.#mayAdd();
  }

  #request() {
    const nowMs = this.#setup.clock.nowMs();
    const isEndUnknown = this.#pilots.some(
      ({ isGivenUp, completingSinceMs = Number.NEGATIVE_INFINITY }) =>
        !isGivenUp && nowMs < completingSinceMs + COMPLETING_MS,
    );
    if (!this.#mayAsk || !this.#need.wantsPilot || isEndUnknown) return undefined;
    return this.#need.request(this.#held(), this.#leftNodeMs, nowMs);
  }

  #held() {
    const nowMs = this.#setup.clock.nowMs();
    return this.#pilots.map((pilot) => heldOf(pilot, this.#need.isServing(pilot.jobId ?? ""), nowMs));
  }

  /** Of the node time that may be asked for: a pilot counts as if it will last until its limit. */
  get #leftNodeMs(): number {
    const { maxNodeMs = Number.POSITIVE_INFINITY } = this.#setup.settings;
    const asked = this.#pilots.reduce((sum, pilot) => sum + billOf(pilot).askedNodeMs, 0);
    return maxNodeMs - (this.#content.usedSinceAskedMs ?? 0) - asked;
  }

  #mayAdd(): boolean {
    return this.#content.submitted < (this.#setup.settings.pilots ?? Number.POSITIVE_INFINITY);
  }

  // ── A pilot in use ──────────────────────────────────────────────────────────────────────────────────────

  async #running(pilot: Pilot, job: QueuedJob): Promise<void> {
    const { allocation } = pilot;
    if (allocation === undefined) return this.#allocate(pilot, job);
    const { isForgotten: isBack } = pilot;
    if (isBack) this.#notice("pilot-back", `Slurm runs the pilot ${job.id} again`);
    pilot.isForgotten = false;
    const { nodes, end, ...same } = allocation;
    const isIn = ({ node }: AllocatedNode) => job.nodes.includes(node);
    pilot.allocation = { ...allocation, nodes: nodes.filter(isIn) };
    for (const { node } of nodes.filter((one) => !isIn(one))) {
      this.#notice("node-down", `Slurm has taken ${node} out of the pilot ${job.id}: the node is down`, node);
      this.#listener?.nodeDown(node);
    }
    const present = endOf(job, this.#setup.clock.nowMs(), this.#setup.settings);
    if (Math.abs((present?.stopAtMs ?? Infinity) - (end?.stopAtMs ?? Infinity)) > END_TOLERANCE_MS) {
      if (!isBack) this.#notice("pilot-end", `Somebody has changed the time limit of the pilot ${job.id}`);
      pilot.allocation = { ...same, nodes: nodes.filter(isIn), ...(present && { end: present }) };
      this.#listener?.allocated(pilot.allocation);
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
    const allocation = await allocationOf(slurm, clock, job, settings, pilot);
    for (const id of await cancelStrays(slurm, markOf(this.#content), this.#pilots)) {
      this.#notice("pilot-cancelled", `Cancelled the job ${id}: Slurm had taken a pilot twice`);
    }
    // One that was attached, or of an earlier version, did not say what it had asked for.
    pilot.kind ??= settings.kinds[0].name;
    pilot.nodes ??= job.nodes.length;
    const limitMs = (pilot.ranMs ?? 0) + 1000 * (job.leftS ?? 0);
    if (job.leftS !== undefined) pilot.timeMs ??= 60_000 * Math.round(limitMs / 60_000);
    pilot.startedMs = clock.nowMs() - (pilot.ranMs ?? 0);
    pilot.handedOutMs = clock.nowMs();
    pilot.hasBegun = true;
    pilot.isSeen = true;
    pilot.wasAllocated = true;
    this.#list.save();
    pilot.allocation = this.#withoutTaken(allocation);
    const nodes = pilot.allocation.nodes.map(({ node }) => node).join(", ");
    this.#notice("pilot-begun", `The pilot ${job.id} runs on ${nodes || "no node of its own"}`);
    this.#need.begin(allocation.name);
    this.#listener?.allocated(pilot.allocation);
  }

  /** Slurm may give a node to two jobs: the second pilot goes without it, so that a node is one pilot's. */
  #withoutTaken(allocation: Allocation): Allocation {
    const taken = new Set(this.#inUse.flatMap((pilot) => pilot.allocation!.nodes.map(({ node }) => node)));
    const nodes = allocation.nodes.filter(({ node }) => !taken.has(node));
    if (nodes.length === allocation.nodes.length) return allocation;
    for (const { node } of allocation.nodes.filter((one) => !nodes.includes(one)))
      this.#notice(
        "node-twice",
        `node ${node} is in two pilots: it does not take part in ${allocation.name}`,
        node,
      );
    const memoryBytes = Math.floor((allocation.memoryBytes * nodes.length) / allocation.nodes.length);
    return { ...allocation, nodes, memoryBytes };
  }

  /** Adds what pilots have used since they were counted last. */
  #count(): void {
    const nowMs = this.#setup.clock.nowMs();
    for (const pilot of this.#inUse) {
      const { name, nodes } = pilot.allocation!;
      const sinceMs = Math.max(0, nowMs - (pilot.countedMs ?? nowMs));
      pilot.countedMs = nowMs;
      pilot.ranMs = (pilot.ranMs ?? 0) + sinceMs;
      pilot.idleNodeMs = (pilot.idleNodeMs ?? 0) + this.#idleNodesOf(name, nodes.length) * sinceMs;
    }
  }

  #idleNodesOf(name: string, nodes: number): number {
    return Math.max(0, nodes - (this.#need.busyNodes(name) ?? nodes));
  }

  /** After a front end that is killed, as many nodes count as idle as were when it saved last. */
  #noteIdle(): void {
    let isOther = false;
    for (const pilot of this.#inUse) {
      const { name, nodes } = pilot.allocation!;
      const idle = this.#idleNodesOf(name, nodes.length);
      isOther ||= pilot.idleNodes !== idle;
      pilot.idleNodes = idle;
    }
    if (!isOther || this.#saveTimer !== undefined) return;
    const { clock } = this.#setup;
    const atMs = Math.max(clock.nowMs(), this.#billSavedMs + MANY_CHANGES_MS);
    this.#saveTimer = clock.at(atMs, () => this.#saveBill());
  }

  #saveBill(): void {
    this.#saveTimer?.();
    this.#saveTimer = undefined;
    this.#billSavedMs = this.#setup.clock.nowMs();
    this.#list.save();
  }

  /** Whether the pilot goes back to Slurm now: it is at its end or of no use, and no gang runs. */
  #isLeaving(pilot: Pilot): boolean {
    const { allocation, completingSinceMs } = pilot;
    // One that Slurm ends already is not given back by us.
    if (allocation === undefined || completingSinceMs !== undefined) return false;
    if (this.#need.isBusy(allocation.name)) return false;
    const isAtIts = isAtEnd(pilot, allocation, this.#pilots, this.#setup.clock.nowMs());
    return isAtIts || this.#need.isOfNoUse(allocation.name);
  }

  /** Jobs have waited long for nodes that it has lost, and no other is on its way: nothing else starts. */
  #closeLost(): void {
    const isAwaited = this.#held().some(({ awaited }) => awaited !== undefined);
    if (isAwaited || !this.#need.hasWaitedForLost(this.#setup.clock.nowMs())) return;
    for (const pilot of this.#inUse) {
      const hasLost = pilot.allocation!.nodes.length < (pilot.nodes ?? 0) || lostNodes(pilot) > 0;
      if (pilot.isClosing || !hasLost) continue;
      pilot.isClosing = true;
      const text = `The pilot ${pilot.jobId} has lost nodes that jobs wait for: nothing else starts on it, and another pilot follows when no gang runs`;
      this.#notice("pilot-closed", text);
      this.#listener?.closing(pilot.allocation!.name, text);
    }
  }

  /** Gives pilots back for which there is no work. */
  async #giveBackIdle(): Promise<void> {
    const nowMs = this.#setup.clock.nowMs();
    const isQuiet = this.#need.isQuiet(nowMs);
    for (const pilot of [...this.#pilots]) {
      if (pilot.isGivenUp || pilot.completingSinceMs !== undefined) continue;
      if (pilot.allocation === undefined) {
        if (isQuiet) await this.#giveUp(pilot);
      } else if (this.#need.isIdle(pilot.allocation.name, nowMs)) {
        await this.#giveBack(pilot, ": no job runs or waits");
      }
    }
  }

  /** Nothing runs on them, so their nodes can be taken away at once. */
  async #retire(leaving: readonly Pilot[]): Promise<void> {
    for (const pilot of this.#inUse) {
      if (!this.#isLeaving(pilot)) continue;
      if (!leaving.includes(pilot)) {
        this.#isUrgent = true;
        continue;
      }
      const { name } = pilot.allocation!;
      const isOfNoUse = this.#need.isOfNoUse(name);
      const because = isOfNoUse ? this.#need.noUse(name) : undefined;
      await this.#giveBack(pilot, isOfNoUse ? ": the jobs that wait need other nodes" : "");
      if (because !== undefined) this.#halt(because);
    }
  }

  /** Nothing must start on its nodes meanwhile. */
  async #giveBack(pilot: Pilot, because: string): Promise<void> {
    const { name } = pilot.allocation!;
    this.#count();
    this.#setup.endConductors(pilot.allocation!.nodes.map(({ node }) => node));
    pilot.allocation = undefined;
    this.#need.end(name);
    this.#tellReleased(name, `The pilot ${pilot.jobId} is given back${because}`);
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
    if (pilot.allocation !== undefined && this.#setup.isHeard(pilot.allocation!) && !pilot.isGivenUp)
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
    this.#count();
    this.#list.bill(pilot);
    const name = pilot.allocation?.name;
    pilot.allocation = undefined;
    if (name !== undefined) this.#need.end(name);
    // It ended while no front end was there: nobody has reported the end of its jobs.
    const isUnseen = pilot.hasBegun && !pilot.wasAllocated && this.#inUse.length === 0;
    const ranMs = pilot.hasBegun ? this.#setup.clock.nowMs() - pilot.startedMs : 0;
    this.#notice("pilot-ended", because);
    if (name !== undefined || isUnseen) this.#tellReleased(name, because);
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
      if (pilot.allocation !== undefined) continue;
      if (pilot.jobId === undefined && !pilot.mayExist) this.#list.remove(pilot);
      else pilot.isGivenUp = true;
    }
    this.#list.save();
    this.#notice("pilots-halted", `${because}; no other pilot until: tutti allocations start`);
  }

  #notice(kind: string, text: string, node?: string): void {
    this.#telling.notice(kind, text, node);
  }

  #tellReleased(name: string | undefined, because: string): void {
    this.#listener?.released(name, because);
    if (this.#inUse.length === 0) this.#telling.forget();
  }

  #tell(): void {
    if (!this.#isClosed) this.#telling.tell(this.trouble, this.rests);
  }
}
