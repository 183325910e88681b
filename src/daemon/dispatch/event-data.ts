/** Turns what happened to an attempt into data of events, which must be flat. */
import { cpusText, type NodeCpus } from "../../core/machine.ts";
import type { AttemptEnd } from "../../protocol/attempts.ts";
import { type Units, unitsText } from "../../protocol/resources.ts";
import { shownCpus } from "../contract/record.ts";

/** The end of an attempt as data of an event. */
export function dataOf({ ranMs, cpuMs, code, signal }: AttemptEnd, reason: string) {
  return { reason, ranMs, cpuMs, code, signal };
}

/** CPUs as data of an event. The data must be flat, so nodes and their CPUs become one text. */
export function cpusData(cpus: readonly NodeCpus[]) {
  const { cpus: numbers, nodes } = shownCpus(cpus);
  return { cpus: numbers.join(","), nodes: nodes && cpusText(numbers, nodes) };
}

/** Units of countable resources as data of an event, such as `gpu 0,1; licence 2`. */
export function unitsData(units: Units | undefined) {
  return units !== undefined && { units: unitsText(units) };
}
