/** Runs attacks one after the other, each with its own schedulers. */
import type { Attack, Outcome } from "./attack.ts";
import type { Stage } from "./stage.ts";

export interface Result {
  readonly attack: Attack;
  readonly outcome?: Outcome;
  /** Why the attack itself did not finish. */
  readonly failure?: string;
  readonly skipped?: string;
}

const LIMIT_MS = 600_000;

export async function runAttacks(stage: Stage, attacks: readonly Attack[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const attack of attacks) {
    const skipped = reasonToSkip(stage, attack);
    if (skipped !== undefined) {
      results.push({ attack, skipped });
      continue;
    }
    const fromMs = performance.now();
    const result = await runOne(stage, attack);
    results.push(result);
    const took = `${((performance.now() - fromMs) / 1000).toFixed(1)} s`;
    const what =
      result.failure ?? `${result.outcome?.held ? "held" : "GOT THROUGH"}: ${result.outcome?.detail}`;
    stage.note(`${attack.finding.padEnd(4)} ${attack.name.padEnd(24)} ${took.padStart(7)}  ${what}`);
  }
  return results;
}

export function reasonToSkip(stage: Stage, { needs, isLong = false }: Attack): string | undefined {
  if (needs === "users" && !stage.hasAccounts) return "needs root and useradd, for accounts";
  if (needs === "root" && process.getuid?.() !== 0) return "needs root";
  if (isLong && stage.isShort) return "takes minutes, not in the short form";
  return undefined;
}

/** Runs one attack, and then ends everything that it has started. */
export async function runOne(stage: Stage, attack: Attack): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const limitMs = LIMIT_MS + 60_000 * stage.minutes;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return { attack, outcome: await Promise.race([attack.run(stage), late]) };
  } catch (error) {
    return { attack, failure: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
    await stage.clear();
  }
}
