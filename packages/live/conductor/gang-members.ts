/** Carries out what only the conductors of a cluster are asked for: to join gangs of several nodes. */
import { monotonicMs } from "@tutti/host/clock.ts";
import type { AttemptKey, EndReason, IdentifiedAttempt, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import type { MemberSpec, ToConductor } from "@tutti/protocol/conductor.ts";
import type { GangPart, Machine } from "./attempts/gang-part.ts";
import { Member } from "./attempts/member.ts";
import { inOwnFolder, withUserHere } from "./attempts/own-folder.ts";
import { rightsFor } from "./attempts/rights.ts";
import { Step } from "./attempts/step.ts";
import type { Reports } from "./reports.ts";
import type { SavedState } from "./state-file.ts";

/**
 * For this time after the end of a gang, the cluster may still start processes that it was asked for
 * before.
 */
const LATECOMERS_MS = 30_000;
const LATECOMERS_AGAIN_MS = 1000;

interface GangMembersOptions {
  readonly machine: Machine;
  readonly attempts: Map<string, GangPart>;
  readonly reports: Reports;
  /** There is another gang, or a gang has changed. */
  readonly onChange: () => void;
}

export class GangMembers {
  readonly #options: GangMembersOptions;
  readonly #endedAtMs = new WeakMap<GangPart, number>();

  constructor(options: GangMembersOptions) {
    this.#options = options;
    setInterval(() => this.#killLatecomers(), LATECOMERS_AGAIN_MS).unref();
  }

  receive(message: Extract<ToConductor, { type: "join" | "step" }>): void {
    if (message.type === "join") this.#join(message.member);
    else this.#step(message.spec, message.step);
  }

  /** Takes over the gangs of an earlier conductor. */
  adopt(saved: SavedState): void {
    const { attempts, machine } = this.#options;
    for (const one of saved.members ?? []) {
      const member = Member.adopt(machine, one, saved);
      attempts.set(member.name, member);
    }
  }

  /** The gang may have processes here. */
  #join(asked: MemberSpec): void {
    const { attempts, reports, machine } = this.#options;
    const known = attempts.get(gangName(asked));
    if (known !== undefined) {
      if (known instanceof Member && known.spec.identity === asked.identity) reports.repeat(known);
      else this.#refuse(asked, "the conductor already has another attempt with this number, expected none");
      return;
    }
    let member: Member | undefined;
    try {
      const spec = inOwnFolder(withUserHere(asked), asked.ranks);
      member = new Member(machine, spec);
      rightsFor(spec);
      member.makeFolders();
    } catch (error) {
      member?.forgotten();
      this.#refuse(asked, (error as Error).message);
      return;
    }
    attempts.set(member.name, member);
    this.#options.onChange();
  }

  /** Starts the tasks of a gang that has joined here and on its other nodes. */
  #step(asked: LaunchSpec, command: readonly string[] | undefined): void {
    const { attempts, reports, machine } = this.#options;
    const member = attempts.get(gangName(asked));
    if (!(member instanceof Member) || member.spec.identity !== asked.identity) {
      this.#refuse(asked, "it has not joined here, expected `join` before `step`");
    } else if (member.isOver || member.step !== undefined) reports.repeat(member);
    else if (member.phase === "launching") {
      const { uid, gid, ranks } = member.spec;
      try {
        const spec = inOwnFolder({ ...asked, uid, gid }, ranks);
        member.step =
          command === undefined ? Step.startOwn(machine, spec, ranks) : Step.start(machine, spec, command);
      } catch (error) {
        member.abandon(`Cannot start job ${member.name}: ${(error as Error).message}`);
      }
      this.#options.onChange();
    }
  }

  /** Kills what an unknown gang has here, and reports its end. */
  stopUnknown(key: AttemptKey, identity: string | undefined, reason: EndReason): void {
    const nothing = { folder: "/", graceMs: 0, nodes: [], tasksRun: "once", ranks: [] } as const;
    const { job, attempt } = key;
    const member = new Member(this.#options.machine, { job, attempt, identity, ...nothing });
    this.#options.attempts.set(member.name, member);
    member.stop(reason, true);
    this.#options.onChange();
  }

  /** Kills what the cluster has started for gangs after their end here. */
  #killLatecomers(): void {
    const { attempts, machine } = this.#options;
    const { freezer } = machine.containment;
    const now = monotonicMs();
    for (const part of attempts.values()) {
      if (!part.isOver) continue;
      const endedAtMs = this.#endedAtMs.get(part) ?? now;
      this.#endedAtMs.set(part, endedAtMs);
      if (now > endedAtMs + LATECOMERS_MS) continue;
      freezer.enter(part.name);
      freezer.kill(part.name);
      freezer.leave(part.name);
    }
  }

  #refuse(spec: IdentifiedAttempt, why: string): void {
    const lost = `Cannot start job ${gangName(spec)}: ${why}; its command never ran here`;
    this.#options.reports.notStarted(spec, "none", lost, true);
  }
}
