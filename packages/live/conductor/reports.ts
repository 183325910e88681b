/** Reports to the front end what happens to gangs. */
import { unixMs } from "@tutti/host/clock.ts";
import { allowedCpus } from "@tutti/host/machine.ts";
import { ownVersion } from "@tutti/host/version.ts";
import type { EndReason, IdentifiedAttempt, SlotStatistics } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { stateOf } from "./attempts/attempt-report.ts";
import { keyOf } from "./attempts/claim.ts";
import type { GangPart } from "./attempts/gang-part.ts";
import { Member } from "./attempts/member.ts";
import type { GangShares } from "./shares.ts";

type State = Extract<FromConductor, { type: "state" }>;

export class Reports {
  readonly emit: (message: FromConductor) => void;
  readonly #cluster: boolean;
  /** Gangs that the present front end knows to be ready. */
  #told = new WeakSet<GangPart>();
  #isLeaving = false;
  #makesWay = false;

  /** @param cluster whether the front end waits until a gang is ready on all nodes */
  constructor(emit: (message: FromConductor) => void, cluster: boolean) {
    this.emit = emit;
    this.#cluster = cluster;
  }

  /** Answers a hello. */
  greet(
    parts: Iterable<GangPart>,
    more: Required<Pick<State, "sequence" | "freezer" | "limitsMemory" | "epochMs" | "turning">>,
  ): void {
    this.#told = new WeakSet();
    this.emit({
      type: "state",
      protocol: 3,
      attempts: [...parts].map(stateOf),
      pid: process.pid,
      ...more,
      allowedCpus: allowedCpus(),
      version: ownVersion(),
    });
    if (this.#isLeaving) this.emit({ type: "leaving" });
  }

  /** The cluster takes the node away: nothing is started here from now on. */
  leave(): void {
    this.#isLeaving = true;
    this.emit({ type: "leaving" });
  }

  /** It ends, and the front end asks the next conductor again: nothing is started from now on. */
  makeWay(): void {
    this.#makesWay = true;
  }

  /** Refuses to start a gang on a node that is taken away. @returns whether it does not start */
  isTooLate(message: ToConductor): boolean {
    if (this.#makesWay) return ["launch", "join", "step"].includes(message.type);
    if (!this.#isLeaving || (message.type !== "launch" && message.type !== "join")) return false;
    this.notStarted(message.type === "launch" ? message.spec : message.member, "requeued");
    return true;
  }

  /** How punctual the last slots were, and what the gangs did in theirs. */
  slots(numbers: Omit<SlotStatistics, "gangs">, parts: Iterable<GangPart>, shares: GangShares): void {
    const gangs = [...parts]
      .filter(({ turns }) => turns)
      .map((part) => ({
        job: part.spec.job,
        ...shares.usage(part.name),
        ranMs: Math.round(part.ranMs()),
        memoryShare: part.memoryShare,
      }));
    this.emit({ type: "slots", statistics: { ...numbers, gangs } });
  }

  /** What happened to a gang when it took its next step. */
  news(part: GangPart, news: ReturnType<GangPart["advance"]>): void {
    if (this.#cluster && !this.#told.has(part)) this.#ready(part);
    if (news === "launched") this.#launched(part);
    else if (news === "ended") this.#ended(part);
  }

  /** Answers a command that was given before. */
  repeat(part: GangPart): void {
    if (part.end !== undefined) this.#ended(part);
    else {
      this.#ready(part);
      if (part.begun) this.#launched(part);
    }
  }

  /** The end of an attempt for which nothing was started. */
  notStarted(
    spec: IdentifiedAttempt,
    reason: EndReason,
    lost = "It was stopped before it started",
    neverBegan = false,
  ): void {
    const end = { ...keyOf(spec), reason, lost, endedAtMs: unixMs(), ranMs: 0 };
    this.emit({ type: "ended", end: { ...end, ...(neverBegan && { neverBegan }) } });
  }

  refuse(message: string): void {
    this.emit({ type: "refused", message });
  }

  #ready(part: GangPart): void {
    if (!this.#cluster || part.isOver || !part.isReady) return;
    this.#told.add(part);
    const { identity, ...attempt } = keyOf(part.spec);
    this.emit({ type: "ready", attempt, identity });
  }

  #launched(part: GangPart): void {
    const { spec, shim, startedAtMs } = part;
    // Of a gang's tasks, all must have begun.
    if (shim === undefined || (part instanceof Member && part.phase === "launching")) return;
    const { identity, ...attempt } = keyOf(spec);
    this.emit({ type: "launched", attempt, identity, shim, startedAtMs });
  }

  #ended({ end }: GangPart): void {
    if (end !== undefined) this.emit({ type: "ended", end });
  }
}
