/** Brings the front end's matrix to the nodes whenever it, or what is in it, has changed. */
import type { Clock } from "@tutti/host/clock.ts";
import { type AttemptKey, gangName } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix } from "@tutti/protocol/conductor.ts";
import type { Matrix } from "../executor.ts";
import type { Gangs } from "./gangs.ts";
import type { Turning, Wish } from "./turning.ts";

/** While there is no matrix. */
const DEFAULT_SLOT_MS = 100;

type PlacedGang = Matrix["rows"][number][number];

/** Whether a gang takes its turns now: not if one of its nodes does not answer. */
type Admission = "open" | "closed" | "absent";

type Rows = PlacedOnNode[][];
type PlacedOnNode = ConductorMatrix["rows"][number][number];

const NO_SLOTS: ReadonlyMap<string, string> = new Map();

interface RowsFacts {
  readonly admissionOf: (gang: PlacedGang) => Admission;
  /** Nodes of a gang; undefined: they are not known, so it may be on each. */
  readonly nodesOf: (gang: AttemptKey) => readonly string[] | undefined;
}

/** The front end's matrix, from the view of each node. */
function wishOf(matrix: Matrix, { admissionOf, nodesOf }: RowsFacts): Wish {
  const { slotMs, fromSlot = 0, rows: placed, paused = [] } = matrix;
  const count = placed.length;
  const byNode = new Map<string, Rows>();
  /** The same object for the same text: nodes have mostly the same gangs. */
  const slotsOf = new Map<string, string>();
  for (const [index, gangs] of placed.entries()) {
    // Its slots are those with this remainder.
    const slots = `${slotMs} ${count} ${(((index + fromSlot) % count) + count) % count}`;
    for (const gang of gangs) {
      const admission = admissionOf(gang);
      if (admission === "absent") continue;
      const isClosed = admission === "closed";
      const { job, attempt } = gang;
      if (!isClosed) {
        const name = gangName(gang);
        slotsOf.set(name, slotsOf.has(name) ? `${slotsOf.get(name)}+${slots}` : slots);
      }
      for (const [node, cpus] of cpusByNode(gang)) {
        let rows = byNode.get(node);
        if (rows === undefined) {
          rows = placed.map(() => []);
          byNode.set(node, rows);
        }
        rows[index].push({ job, attempt, cpus, ...(isClosed && { closed: true as const }) });
      }
    }
  }
  const pausedOn = (node: string) => paused.filter((gang) => nodesOf(gang)?.includes(node) !== false);
  const none: Rows = placed.map(() => []);
  return {
    slotMs,
    on: kept((node) => {
      const rows = byNode.get(node) ?? none;
      const pausedHere = paused.length === 0 ? paused : pausedOn(node);
      // A closed gang changes nothing, so its rows need not be sent before it is ready.
      const running = rows.flat().filter(({ closed }) => closed === undefined);
      const slotsHere =
        running.length === 0
          ? NO_SLOTS
          : new Map(running.map((gang) => [gangName(gang), slotsOf.get(gangName(gang))!]));
      const cpusHere = running.map((gang) => `${gangName(gang)}:${gang.cpus}`);
      return {
        text:
          running.length + pausedHere.length === 0
            ? ""
            : `${[...slotsHere].join(" ")} ${cpusHere.join(" ")} ${pausedHere.map(gangName)}`,
        slotsOf: slotsHere,
        matrix: (sequence) => ({
          sequence,
          slotMs,
          mode: "gang",
          fromSlot,
          strict: true,
          rows,
          ...(matrix.paused !== undefined && { paused: pausedHere }),
        }),
      };
    }),
  };
}

function cpusByNode({ nodes }: PlacedGang): ReadonlyMap<string, readonly number[]> {
  const all = new Map<string, readonly number[]>();
  for (const { node, cpus } of nodes) {
    const others = all.get(node);
    all.set(node, others === undefined ? cpus : [...others, ...cpus]);
  }
  return all;
}

/** The same answer for the same question. */
function kept<Value>(of: (node: string) => Value): (node: string) => Value {
  const answers = new Map<string, Value>();
  return (node) => {
    let answer = answers.get(node);
    if (answer === undefined) {
      answer = of(node);
      answers.set(node, answer);
    }
    return answer;
  };
}

interface RowSenderOptions {
  readonly clock: Clock;
  readonly gangs: Gangs;
  readonly turning: Turning;
  /** Whether the node takes part. */
  readonly isUp: (node: string) => boolean;
}

export class RowSender {
  readonly #options: RowSenderOptions;
  #matrix: Matrix | undefined;
  #isDue = false;

  constructor(options: RowSenderOptions) {
    this.#options = options;
  }

  get slotMs(): number {
    return this.#matrix?.slotMs ?? DEFAULT_SLOT_MS;
  }

  set(matrix: Matrix): void {
    this.#matrix = matrix;
    this.changed();
  }

  /** The nodes are others, and have no rows yet. */
  clear(): void {
    this.#matrix = undefined;
  }

  /** Sends the rows again, once for all changes of this moment, to the nodes that have others. */
  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.soon(() => {
      this.#isDue = false;
      if (this.#matrix === undefined) return;
      const { gangs, turning } = this.#options;
      turning.wish(
        wishOf(this.#matrix, {
          admissionOf: (gang) => this.#admissionOf(gang),
          nodesOf: (gang) => gangs.find(gang)?.facts.nodes,
        }),
      );
    });
  }

  /** A gang takes turns only if all its nodes answer, and passes its gates only when all are ready. */
  #admissionOf(placed: Matrix["rows"][number][number]): Admission {
    const { gangs, isUp } = this.#options;
    const gang = gangs.find(placed);
    if (gang === undefined || !gang.takesTurns || !gang.facts.nodes.every(isUp)) return "absent";
    return gang.isOpen ? "open" : "closed";
  }
}
