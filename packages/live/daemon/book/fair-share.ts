/**
 * Finds the highest level at which all amounts, each cut down to this level, fit into the room together
 * (max-min fairness). An amount of at most room ÷ number of amounts is never cut.
 * @returns Infinity if all amounts fit
 */
export function fairLevel(amounts: Iterable<number>, room: number): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  let remaining = room;
  for (let i = 0; i < sorted.length; i++) {
    const level = Math.floor(remaining / (sorted.length - i));
    if (sorted[i] > level) return level;
    remaining -= sorted[i];
  }
  return Number.POSITIVE_INFINITY;
}

/** The users whose amounts are above the fair share of a room, and their excess. */
export function aboveFairShare<User>(
  amounts: Iterable<readonly [User, number]>,
  room: number,
): [User, number][] {
  const shares = [...amounts];
  const level = fairLevel(
    shares.map(([, amount]) => amount),
    room,
  );
  return shares.filter(([, amount]) => amount > level).map(([user, amount]) => [user, amount - level]);
}
