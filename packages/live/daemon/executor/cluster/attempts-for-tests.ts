/** Attempts of simulated conductors, and their processes, which only need CPU time. */
import type { Clock } from "@tutti/host/clock.ts";
import type {
  AttemptEnd,
  AttemptKey,
  AttemptState,
  EndReason,
  IdentifiedAttempt,
  LaunchSpec,
  SlotStatistics,
} from "@tutti/protocol/attempts.ts";
import type { MemberSpec } from "@tutti/protocol/conductor.ts";

/** What a simulated process does. */
export interface Script {
  readonly computeMs: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly say?: string;
  readonly ignoresTerm?: boolean;
  /** Further processes of the gang on the lead, which end only by a kill. */
  readonly bombs?: number;
  /** Share of the gang's memory that its processes on each node have. */
  readonly memoryShare?: number;
  /** Starts a process on every other node of the gang, as srun inside the command does. */
  readonly isEverywhere?: boolean;
}

/** What a simulated process has done; times of the true clock. */
export type ScriptRecord =
  | { readonly kind: "begun"; readonly attempt: number; readonly node: string; readonly atMs: number }
  | {
      readonly kind: "ran";
      readonly attempt: number;
      readonly node: string;
      readonly fromMs: number;
      readonly toMs: number;
    };

/** What the nodes share: the disk, and what the test observes. */
export interface SharedWorld {
  readonly clock: Clock;
  readonly scriptOf: (spec: LaunchSpec) => Script;
  /** Identities that a shim has claimed, with the node. */
  readonly claims: Map<string, string>;
  readonly record: (job: number, record: ScriptRecord) => void;
  readonly say: (job: number, line: string) => void;
  /** Starts a process of the gang on another node. */
  readonly spread: (node: string, key: AttemptKey, script: Script) => void;
}

export interface Process {
  leftMs: number;
  readonly script: Script;
  readonly isMain: boolean;
}

export interface FakeAttempt {
  readonly key: IdentifiedAttempt;
  spec: LaunchSpec | undefined;
  member: MemberSpec | undefined;
  phase: AttemptState["phase"];
  /** Its processes wait at their gates. */
  isAtGate: boolean;
  begun: boolean;
  processes: Process[];
  onSinceMs: number | undefined;
  ranMs: number;
  isKept: boolean;
  /** It has got SIGTERM, so it runs in all slots. SIGKILL needs no CPU. */
  isTerminating: boolean;
  reason: EndReason;
  ends: { code?: number; signal?: string }[];
  end: AttemptEnd | undefined;
  cancel: (() => void) | undefined;
}

export function newAttempt(
  { job, attempt, identity }: IdentifiedAttempt,
  spec: LaunchSpec | undefined,
  member: MemberSpec | undefined,
): FakeAttempt {
  return {
    key: { job, attempt, ...(identity !== undefined && { identity }) },
    spec,
    member,
    phase: "launching",
    isAtGate: false,
    begun: false,
    processes: [],
    onSinceMs: undefined,
    ranMs: 0,
    isKept: false,
    isTerminating: false,
    reason: "none",
    ends: [],
    end: undefined,
    cancel: undefined,
  };
}

/** The attempt as a state lists it. */
export function stateOf(attempt: FakeAttempt): AttemptState {
  const { key, spec, member, phase, ranMs, end } = attempt;
  const nodes = member?.nodes ?? spec?.nodes?.map(({ node }) => node);
  const tasksRun = member?.tasksRun ?? spec?.tasksRun;
  return {
    ...key,
    about: {
      command: spec?.command ?? [],
      cwd: spec?.cwd ?? "/",
      folder: spec?.folder ?? member!.folder,
      ...(spec?.uid !== undefined && { uid: spec.uid }),
      ...(nodes !== undefined && { nodes }),
      ...(tasksRun !== undefined && { tasksRun }),
    },
    phase,
    ...(spec !== undefined && { shim: { bootId: "boot", pid: key.job, startTicks: key.attempt } }),
    ranMs,
    ...(end !== undefined && { end }),
  };
}

/** Statistics of switches that take no time. */
export function punctual(
  lateOfSlots: NonNullable<SlotStatistics["lateOfSlots"]>,
  attempts: Iterable<FakeAttempt>,
): SlotStatistics {
  const begun = [...attempts].filter((attempt) => attempt.begun);
  return {
    slots: lateOfSlots.length,
    lateP50Ms: 0,
    lateP99Ms: 0,
    lateMaxMs: 0,
    switchP50Us: 0,
    switchP99Us: 0,
    skipped: 0,
    lateOfSlots,
    gangs: begun.map(({ key, ranMs, processes }) => ({
      job: key.job,
      share: 1,
      gradeCompute: 1,
      ranMs,
      memoryShare: processes[0]?.script.memoryShare,
    })),
  };
}

export function limitOf({ spec, member }: FakeAttempt): number {
  // A part without ranks ends with the command.
  const limitMs = member === undefined || member.ranks.length > 0 ? (member ?? spec)?.limitMs : undefined;
  return limitMs ?? Number.POSITIVE_INFINITY;
}

export function nameOf({ job, attempt, identity = "" }: IdentifiedAttempt): string {
  return `${job}.${attempt} ${identity}`;
}
