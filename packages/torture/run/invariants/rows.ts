/**
 * Invariants of time sharing, looked at from time to time: gangs of different rows do not run on one CPU at
 * the same time for longer than a switch takes, and nothing stands still when nobody is left to continue it.
 */
import type { Life } from "../life.ts";

/** Between two looks, at most. */
const BETWEEN_MS = 4000;
/** A switch is over by then, also on a busy machine. */
const SWITCH_MS = 150;
/** A conductor that has just begun, or just gone on, first has to find its gangs. */
const HEALTHY_MS = 3000;
/** docs/reference-administration.md: the guardian lets all gangs run 5 s after the last sign of life. */
const GUARDIAN_MS = 9000;

interface Gang {
  readonly name: string;
  readonly cpus: ReadonlySet<number>;
}

/** What the conductor has written of an attempt. */
interface Saved {
  readonly spec: { readonly job: number; readonly attempt: number };
  readonly begun: boolean;
  readonly reason: string;
  readonly kept?: boolean;
  readonly end?: unknown;
}

/** A gang's part on a node, of which another one starts the command or none does. */
interface SavedMember extends Omit<Saved, "spec" | "begun"> {
  readonly member: Saved["spec"];
  readonly tasks: readonly { readonly begun: boolean }[];
}

function ofMember({ member, tasks, ...rest }: SavedMember): Saved {
  return { ...rest, spec: member, begun: tasks.every(({ begun }) => begun) };
}

export async function watchRows(life: Life): Promise<void> {
  const random = life.source.fork("rows");
  let healthySinceMs = Number.POSITIVE_INFINITY;
  let aloneSinceMs = Number.POSITIVE_INFINITY;
  while (!life.isOver) {
    await life.sleep(random.below(BETWEEN_MS));
    const nowMs = life.trueMs;
    const [conductor] = life.conductors();
    const isWell = conductor?.state === "S" && life.isCalm;
    healthySinceMs = isWell ? Math.min(healthySinceMs, nowMs) : Number.POSITIVE_INFINITY;
    const isAlone =
      conductor === undefined && life.guardians().length > 0 && life.machine.isOn && life.isCalm;
    aloneSinceMs = isAlone ? Math.min(aloneSinceMs, nowMs) : Number.POSITIVE_INFINITY;
    if (nowMs - aloneSinceMs > GUARDIAN_MS) checkNothingStands(life);
    if (nowMs - healthySinceMs < HEALTHY_MS || life.setting.mode !== "gang") continue;
    const before = overlaps(life);
    if (before.size === 0) continue;
    const pid = conductor?.pid;
    await life.sleep(SWITCH_MS);
    if (life.conductors()[0]?.pid !== pid || !life.isCalm) continue;
    for (const [pair, cpu] of overlaps(life))
      if (before.has(pair) && mustTakeTurns(life, pair))
        life.problem(`gangs ${pair} both ran on CPU ${cpu} for ${SWITCH_MS} ms or longer`);
  }
}

/** Pairs of gangs that run now, by a CPU that both may use. */
export function overlaps(life: Life, on = life.machine, leastMs = 0): Map<string, number> {
  const gangs: Gang[] = [];
  for (const gang of life.site.runningGangs(on, leastMs)) gangs.push(gang);
  const found = new Map<string, number>();
  for (const [i, one] of gangs.entries())
    for (const other of gangs.slice(i + 1)) {
      const cpu = [...one.cpus].find((each) => other.cpus.has(each));
      if (cpu !== undefined) found.set([one.name, other.name].sort().join(" and "), cpu);
    }
  return found;
}

/**
 * Whether neither of them is ending, kept for somebody, or not begun.
 * @param file in which their conductor has saved its state
 */
export function mustTakeTurns(
  life: Life,
  pair: string,
  file = `${life.state}/conductor/state.json`,
  on = life.machine,
): boolean {
  const text = life.site.read(file, on);
  if (text === undefined) return false;
  const {
    attempts,
    members = [],
    matrix,
  } = JSON.parse(text) as {
    readonly attempts: readonly Saved[];
    readonly members?: readonly SavedMember[];
    readonly matrix: {
      readonly rows: readonly (readonly { readonly job: number; readonly attempt: number }[])[];
    };
  };
  return pair.split(" and ").every((name) => {
    const saved = [...attempts, ...members.map(ofMember)].find(
      ({ spec }) => `${spec.job}.${spec.attempt}` === name,
    );
    const isInRow = matrix.rows.some((row) => row.some(({ job, attempt }) => `${job}.${attempt}` === name));
    const turns =
      saved?.begun === true && saved.reason === "none" && saved.kept !== true && saved.end === undefined;
    return turns && isInRow;
  });
}

function checkNothingStands(life: Life): void {
  for (const gang of life.site.stoppedGangs()) {
    if (life.site.read(`${life.state}/conductor/paused/${gang}`) !== undefined) continue;
    life.problem(`gang ${gang} is stopped, and there is no conductor for ${GUARDIAN_MS} ms`);
  }
}
