/** Finds which nodes must change their rows in the same slot. */

/** The gangs that run on a node, by name, each with a text that is equal if its slots are the same. */
interface Running {
  readonly slotsOf: ReadonlyMap<string, string>;
}

/**
 * Two nodes are in one group if a gang that is on both gets other slots, or if others link them. Nodes of
 * which nothing is known may have the same gang, so they are in one group, too.
 * @param changes what the nodes that change get
 * @param heldBy what a node may have now; undefined: nobody knows
 */
export function groupsOf<Rows extends Running>(
  changes: ReadonlyMap<string, Rows>,
  heldBy: (node: string) => readonly Running[] | undefined,
): Map<string, Rows>[] {
  const groups = new Groups();
  for (const [node, { slotsOf }] of changes) {
    groups.add(node);
    const held = heldBy(node);
    if (held === undefined) groups.link(node, UNKNOWN);
    const gangs = new Set(slotsOf.keys());
    for (const one of held ?? []) for (const gang of one.slotsOf.keys()) gangs.add(gang);
    for (const gang of gangs) {
      const slots = slotsOf.get(gang);
      const isSame = held?.every((one) => one.slotsOf.get(gang) === slots);
      if (!isSame) groups.link(node, gang);
    }
  }
  const found = new Map<string, Map<string, Rows>>();
  for (const [node, rows] of changes) {
    const name = groups.nameOf(node);
    const group = found.get(name);
    if (group === undefined) found.set(name, new Map([[node, rows]]));
    else group.set(node, rows);
  }
  return [...found.values()];
}

const UNKNOWN = "";

/** Disjoint sets of nodes (union and find, with halved paths). */
class Groups {
  readonly #above = new Map<string, string>();
  /** The first node that was linked by something. */
  readonly #linked = new Map<string, string>();

  add(node: string): void {
    this.#above.set(node, node);
  }

  /** The node belongs together with all others that are linked by the same. */
  link(node: string, by: string): void {
    const other = this.#linked.get(by);
    if (other === undefined) this.#linked.set(by, node);
    else this.#above.set(this.nameOf(node), this.nameOf(other));
  }

  nameOf(node: string): string {
    let at = node;
    for (let above = this.#above.get(at)!; above !== at; above = this.#above.get(at)!) {
      this.#above.set(at, this.#above.get(above)!);
      at = above;
    }
    return at;
  }
}
