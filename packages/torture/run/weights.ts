/** How often things happen in a life: weights by name, drawn by the swarm. */
import type { Random } from "../world/contract.ts";

/** A swarm: each thing is left out of some lives, so that the others come through to what it would hide. */
const LEFT_OUT = 0.4;

export function drawWeights(
  all: readonly { readonly name: string; readonly weight?: number }[],
  random: Random,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    all.map(({ name, weight = 1 }) => [name, random.chance(LEFT_OUT) ? 0 : weight * (0.2 + random.unit())]),
  );
}
