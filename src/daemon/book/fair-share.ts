/**
 * Room that several share so that the smallest have all they want (max-min fairness): the highest level such that all amounts, each cut
 * to the level, fit into the room together. Nobody who has at most room ÷ number of those who share is cut.
 * @returns Infinity when all of it fits
 */
export function fairLevel(amounts: Iterable<number>, room: number): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  let left = room;
  for (let i = 0; i < sorted.length; i++) {
    const level = Math.floor(left / (sorted.length - i));
    if (sorted[i] > level) return level;
    left -= sorted[i];
  }
  return Number.POSITIVE_INFINITY;
}

/** Who of those who share a room has more than the fair share, and by how much. */
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
