import type { PhasesInstance } from "./contract.ts"; // an oracle: written from the rules in words alone
export interface PlainOptions { policy: "lock" | "pool" | "rows"; groups?: number[];
  order?: "wanted" | "served"; most?: number; extra?: boolean }
export function plainPhases(instance: PhasesInstance, options: PlainOptions) {
  const { policy, groups: sizes = [Infinity], order, most = Infinity, extra = true } = options;
  const { pools, resident, firstTurn, submitMs, turns: { pool: poolOf, units: sizeOf, ...ms } } = instance;
  const turns = [...poolOf.keys()], gangOf = turns.map(t => firstTurn.findLastIndex(first => first <= t));
  const gangs = [...submitMs.keys()], need = gangs.map(g => pools.map((_, p) => // 0: does not use the pool
    Math.max(0, ...turns.filter(t => gangOf[t] === g && poolOf[t] === p).map(t => sizeOf[t]))));
  const isLock = policy === "lock", keeps = (t: number) => ms.keepMs[t] >= 0 && gangOf[t + 1] === gangOf[t];
  const nodeOf: number[] = [], groups: number[][][] = pools.map(() => []); // by unit; by pool, their units
  for (const [p, { units, unitsPerNode }] of pools.entries()) { // in each pool, sizes begin again
    const all = Array.from({ length: units }, (_, i) => nodeOf.length + i), first = all[0];
    nodeOf.push(...all.map(u => first + Math.floor((u - first) / unitsPerNode)));
    while (all.length) groups[p].push(all.splice(0, isLock ? sizes[groups[p].length % sizes.length] : units));
  }
  const column = <T>(of: number[], value: T): T[] => of.map(() => value);
  const [gotMs, beganMs, yieldedMs, leftMs] = [turns, turns, turns, gangs].map(of => column(of, NaN));
  const [beginAt, endAt, freeAt] = [turns, turns, nodeOf].map(of => column(of, Infinity));
  const nextAt = [...submitMs], next = [...firstTurn], passed = column(turns, 0), rowOf = column(gangs, -1);
  const holder = column(nodeOf, -1), latest = column(nodeOf, -1), on = column<number[]>(turns, []);
  const lastGot = gangs.map(() => pools.map(() => -1)), had = column(gangs, true); // a turn in `last`
  let now = 0, last = -1, lowest = -1, waiting: number[] = [], queue: number[] = []; // rows; gangs; turns
  const seats = column<{ group: number[]; units: number[] }[]>(gangs, []); // by gang and pool
  const seat = (t: number) => seats[gangOf[t]][poolOf[t]], row = (t: number) => rowOf[gangOf[t]];
  const byNode = (units: number[]) => [...Map.groupBy(units, u => nodeOf[u]).values()];
  const load = (of: number[]) => seats.flat().flatMap(s => s?.units ?? []).filter(u => of.includes(u)).length;
  const room = (of: number[]) => Math.min(of.length, Math.floor(resident * of.length - load(of)));
  const sizeFor = (g: number, p: number) => !need[g][p] ? NaN : // of the smallest groups that suffice
    Math.min(...groups[p].map(group => group.length).filter(length => length >= need[g][p]));
  const inGroup = (g: number, p: number) => groups[p].filter(group => group.length === sizeFor(g, p))
    .sort((a, b) => load(a) - load(b)).map(group => ({ group, units: byNode(group) // on the fewest nodes
      .sort((a, b) => room(b) - room(a) || load(a) - load(b)).flatMap(node => node.slice(0, room(node)))
      .slice(0, need[g][p]) })).find(s => s.units.length === need[g][p])!;
  function inRow(g: number) { // the first gap that is wide enough; new rows get numbers never used before
    const placed = gangs.filter(g => seats[g].length), used = placed.map(g => rowOf[g]).sort((a, b) => a - b);
    const rows = used.length || lowest < 0 ? used : [lowest]; // one row stays although it is empty
    if (new Set(rows).size < Math.floor(resident)) rows.push(Math.max(...rowOf) + 1);
    const all = [...nodeOf.keys()], wide = need[g][0];
    const gaps = rows.flatMap(r => all.map(u => ({ r, units: all.slice(u, u + wide) })));
    const isIn = (r: number, u: number) => placed.some(o => rowOf[o] === r && seats[o][0].units.includes(u));
    const gap = gaps.find(({ r, units }) => units.length === wide && !units.some(u => isIn(r, u)));
    rowOf[g] = gap?.r ?? -1; return (gap && { group: gap.units, units: gap.units })!;
  }
  const isDue = (t: number) => row(t) === last && !had[gangOf[t]]; // never without rows
  function begin(t: number): void { // if its units are free or in its own save (lock, rows: all of its group)
    const { group, units: own } = seat(t), g = gangOf[t], isNew = (u: number) => Number(latest[u] !== g);
    const isTaken = (u: number) => queue.some(d => d !== t && isDue(d) && seat(d).units.includes(u));
    const free = group.filter(u => (holder[u] < 0 || holder[u] === g && freeAt[u] < Infinity) && !isTaken(u));
    const units = byNode(own).flatMap(part => free.filter(u => nodeOf[u] === nodeOf[part[0]])
      .sort((a, b) => isNew(a) - isNew(b) || a - b).slice(0, part.length)); // its latest, then the lowest
    if (units.length < own.length || (policy !== "pool" && free.length < group.length)) return;
    beginAt[t] = now + (lastGot[g][poolOf[t]] >= 0 && units.some(isNew) ? ms.restoreMs[t] : 0);
    gotMs[t] = lastGot[g][poolOf[t]] = now; on[t] = units; queue = queue.filter(other => other !== t);
    for (const u of units) [holder[u], latest[u], freeAt[u]] = [g, g, Infinity];
  }
  function decideInOrder(): void { // a turn is late if its units are not free or others hold it back
    const late: number[] = [], at = (t: number) => isLock ? seat(t).group : seat(t).units.map(u => nodeOf[u]);
    const rank = (t: number) => Math.max(...lastGot[gangOf[t]].filter((_, p) => !isLock || p === poolOf[t]));
    for (const t of order === "served" ? queue.toSorted((a, b) => rank(a) - rank(b)) : queue) {
      const rivals = late.filter(b => at(b).some(place => at(t).includes(place)));
      if (rivals.every(b => passed[b] < (isLock ? 0 : most))) begin(t);
      if (gotMs[t] >= 0) for (const b of rivals) passed[b]++; else late.push(t);
    }
  }
  function decideRows(): void {
    const isBusy = (t: number) => gotMs[t] >= 0 && !(yieldedMs[t] + ms.saveMs[t] <= now);
    for (;;) {
      for (const t of queue.filter(isDue)) { begin(t); had[gangOf[t]] = gotMs[t] >= 0; }
      if (queue.some(isDue) || (!extra && turns.some(isBusy))) break; had.fill(true);
      if (!queue.length) return; const round = queue.map(row).sort((a, b) => a - b);
      last = round.find(r => r > last) ?? round[0]; had.fill(false); // `last` deleted: the one after it
    }
    for (const t of queue) if (extra && !isDue(t)) begin(t);
  }
  const due = (at: number[]) => // only once
    [...at.keys()].filter(i => at[i] === now).map(i => { at[i] = Infinity; return i; });
  for (;;) {
    const wanted: number[] = [], stay: number[] = [];
    now = Math.min(...beginAt, ...endAt, ...freeAt, ...nextAt); // perhaps the same instant again
    if (now === Infinity) return { gotMs, beganMs, yieldedMs, leftMs };
    for (const t of due(beginAt)) {
      beganMs[t] = now; nextAt[gangOf[t]] = now + ms.holdMs[t] + ms.waitMs[t];
      if (!keeps(t)) endAt[t] = now + ms.holdMs[t]; if (keeps(t - 1)) endAt[t - 1] = now + ms.keepMs[t - 1];
    }
    for (const t of due(endAt)) { yieldedMs[t] = now; for (const u of on[t]) freeAt[u] = now + ms.saveMs[t]; }
    for (const u of due(freeAt)) holder[u] = -1;
    for (const g of due(nextAt)) // the gang comes, wants its next turn, or leaves
      if (!seats[g].length) waiting.push(g);
      else if (next[g] < firstTurn[g + 1]) wanted.push(next[g]++); else [leftMs[g], seats[g]] = [now, []];
    for (const g of waiting) { // gangs that stay hold back those after them (lock: of the same groups)
      const isPeer = (a: number) => !isLock || pools.some((_, p) => sizeFor(a, p) === sizeFor(g, p));
      const home = stay.some(isPeer) ? [] : pools.map((_, p) => policy === "rows" ? inRow(g) : inGroup(g, p));
      if (need[g].every((n, p) => !n || home[p])) { seats[g] = home; wanted.push(next[g]++); } else stay.push(g);
    }
    const used = rowOf.filter((_, g) => seats[g].length); if (used.length) lowest = Math.min(...used);
    waiting = stay; queue.push(...wanted.sort((a, b) => a - b));
    if (policy === "rows") decideRows(); else decideInOrder();
  }
}
