/** Computes what a schedule of phases was worth: throughput, duty, waits, switches and fairness. */
import { sumOf } from "@tutti/kernel/metrics/compensated-sum.ts";
import type { PhasesInstance, PhasesSchedule } from "./contract.ts";

export interface PhasesNumbers {
  readonly gangsEnded: number;
  readonly turns: number;
  /** Turns ÷ hours from the first submission until the last gang has left. */
  readonly turnsPerHour: number;
  /** Share of the time of all units in which a turn works. */
  readonly duty: number;
  /** Share of the time of all units in which they save or restore. */
  readonly switching: number;
  /** Turns that began with a restore. */
  readonly switches: number;
  readonly meanWaitS: number;
  /** 95 % of the turns waited for no longer. */
  readonly p95WaitS: number;
  readonly longestWaitS: number;
  /** Of a gang, from its submission until it leaves ÷ the time that it takes with units of its own. */
  readonly meanSlowdown: number;
  readonly worstSlowdown: number;
  /** Of a gang, the time that it takes with units of its own ÷ time from its admission until it leaves. */
  readonly meanPace: number;
  /** Jain's index of the paces: 1 if all gangs are slowed down equally, 1/n if only one of n moves. */
  readonly fairness: number;
}

export function summarisePhases(instance: PhasesInstance, schedule: PhasesSchedule): PhasesNumbers {
  const { turns, firstTurn, submitMs, pools, gangs } = instance;
  const { beganMs, yieldedMs, wantedMs, gotMs, admittedMs, leftMs, freedMs, isSwitch } = schedule;
  const allMs = schedule.stopMs - (submitMs[0] ?? 0);
  const units = pools.reduce((sum, pool) => sum + pool.units, 0);
  const ended = [...yieldedMs.keys()].filter((turn) => !Number.isNaN(yieldedMs[turn]));
  const waitsS = ended.map((turn) => (gotMs[turn] - wantedMs[turn]) / 1000).sort((a, b) => a - b);
  const heldMs = sumOf(ended.map((turn) => turns.units[turn] * (yieldedMs[turn] - beganMs[turn])));
  const switchMs = sumOf(
    ended.map((turn) => turns.units[turn] * (beganMs[turn] - gotMs[turn] + freedMs[turn] - yieldedMs[turn])),
  );
  const gone = [...gangs.keys()].filter((gang) => !Number.isNaN(leftMs[gang]));
  const ownMs = gone.map((gang) => ownTime(instance, firstTurn[gang], firstTurn[gang + 1]));
  const slowdowns = gone.map((gang, i) => (leftMs[gang] - submitMs[gang]) / ownMs[i]);
  const paces = gone.map((gang, i) => ownMs[i] / (leftMs[gang] - admittedMs[gang]));
  return {
    gangsEnded: gone.length,
    turns: ended.length,
    turnsPerHour: ended.length / (allMs / 3_600_000),
    duty: heldMs / (units * allMs),
    switching: switchMs / (units * allMs),
    switches: isSwitch.reduce((sum, one) => sum + one, 0),
    meanWaitS: sumOf(waitsS) / waitsS.length,
    p95WaitS: waitsS[Math.ceil(0.95 * waitsS.length) - 1] ?? Number.NaN,
    longestWaitS: waitsS.at(-1) ?? Number.NaN,
    meanSlowdown: sumOf(slowdowns) / slowdowns.length,
    worstSlowdown: Math.max(...slowdowns),
    meanPace: sumOf(paces) / paces.length,
    fairness: sumOf(paces) ** 2 / (paces.length * sumOf(paces.map((pace) => pace * pace))),
  };
}

function ownTime({ turns }: PhasesInstance, first: number, end: number): number {
  let ms = 0;
  for (let turn = first; turn < end; turn++) ms += turns.holdMs[turn] + turns.waitMs[turn];
  return ms;
}
