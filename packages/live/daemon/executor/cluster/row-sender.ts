/** Brings the front end's matrix to the nodes whenever it, or what is in it, has changed. */
import type { Clock } from "@tutti/host/clock.ts";
import type { ConductorMatrix } from "@tutti/protocol/conductor.ts";
import type { Matrix } from "../executor.ts";
import type { Gangs } from "./gangs.ts";
import type { Turning, Wish } from "./turning.ts";

type PlacedGang = Matrix["rows"][number][number];

/** Whether a gang takes its turns now: not if one of its nodes does not answer. */
type Admission = "open" | "closed" | "absent";

/** A wish, and a text that is equal for two wishes that run the same gangs in the same slots. */
interface Rows extends Wish {
  readonly text: string;
}

function rowsOf(
  { slotMs, fromSlot = 0, rows, paused }: Matrix,
  admissionOf: (gang: PlacedGang) => Admission,
): Rows {
  const placed = rows.map((gangs) =>
    gangs.flatMap((gang) => {
      const admission = admissionOf(gang);
      return admission === "absent" ? [] : [{ ...gang, isClosed: admission === "closed" }];
    }),
  );
  const onNode = (node: string): ConductorMatrix["rows"] =>
    placed.map((gangs) =>
      gangs.flatMap(({ job, attempt, nodes, isClosed }) => {
        const cpus = nodes.filter((entry) => entry.node === node).flatMap((entry) => entry.cpus);
        return cpus.length === 0 ? [] : [{ job, attempt, cpus, ...(isClosed && { closed: true as const }) }];
      }),
    );
  // The row of slot 0, 1, … in this order, so that the same round from another slot gives the same text.
  // A closed gang changes nothing, so its rows need not be sent before it is ready.
  const count = placed.length;
  const running = placed.map((gangs) => gangs.filter(({ isClosed }) => !isClosed));
  const inOrder = running.map((_, slot) => running[(((slot - fromSlot) % count) + count) % count]);
  const isIdle = running.every((gangs) => gangs.length === 0);
  return {
    slotMs,
    text: JSON.stringify([slotMs, isIdle ? [] : inOrder, paused]),
    on: (node, sequence) => ({
      sequence,
      slotMs,
      mode: "gang",
      fromSlot,
      strict: true,
      rows: onNode(node),
      paused,
    }),
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
  #text = "";
  #isDue = false;

  constructor(options: RowSenderOptions) {
    this.#options = options;
  }

  get slotMs(): number | undefined {
    return this.#matrix?.slotMs;
  }

  set(matrix: Matrix): void {
    this.#matrix = matrix;
    this.changed();
  }

  /** The nodes are others, and have no rows yet. */
  clear(): void {
    this.#matrix = undefined;
    this.#text = "";
  }

  /** Sends the rows again, once for all changes of this moment, and only if they are others. */
  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.soon(() => {
      this.#isDue = false;
      if (this.#matrix === undefined) return;
      const rows = rowsOf(this.#matrix, (gang) => this.#admissionOf(gang));
      if (rows.text === this.#text) return;
      this.#text = rows.text;
      this.#options.turning.wish(rows);
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
