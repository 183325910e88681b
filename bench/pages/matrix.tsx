/**
 * The page that `bench/web-matrix.ts` drives: a matrix of a given size whose rows turn and whose gangs
 * change. Everything is seeded.
 */
import "@tutti/web/page/style.css";
import { signal } from "@preact/signals";
import { type Grid, gridOfSnapshot, type Stretches } from "@tutti/web/matrix/grid.ts";
import { MatrixView } from "@tutti/web/matrix/matrix-view.tsx";
import { MatrixPlayer } from "@tutti/web/matrix/player.tsx";
import { useSelection } from "@tutti/web/matrix/selection.ts";
import { render } from "preact";
import type { BenchPage, FrameNumbers } from "./matrix-messages.ts";

interface Shown {
  readonly grid: Grid;
  readonly sequence: number;
  readonly slotMs: number;
  readonly heightPx: number;
}

const shown = signal<Shown | undefined>(undefined);

interface Piece {
  readonly job: number;
  readonly first: number;
  readonly end: number;
}
let rows: Piece[][] = [];
let lastJob = 0;
let state = 1;

/** Numerical Recipes' generator: from 0 to less than `below`. */
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

/** Gangs of 1 to 32 processors, and an idle fragment here and there. */
function fill(processors: number): Piece[] {
  const row: Piece[] = [];
  for (let first = 0; first < processors; ) {
    const end = Math.min(processors, first + 1 + random(32));
    if (random(10) > 0) row.push({ job: ++lastJob, first, end });
    first = end;
  }
  return row;
}

/** Processors before which no gang of either row is cut. */
function legalCuts(a: readonly Piece[], b: readonly Piece[]): number[] {
  const starts = [0, ...a.map(({ first }) => first)];
  return starts.filter((cut) => b.every(({ first, end }) => cut <= first || cut >= end));
}

/** What a scheduler would send. */
function stretchesNow(): Stretches {
  const flat = rows.flatMap((row, position) => row.map((piece) => ({ ...piece, row: position })));
  return {
    rows: rows.length,
    row: flat.map(({ row }) => row),
    first: flat.map(({ first }) => first),
    end: flat.map(({ end }) => end),
    job: flat.map(({ job }) => job),
  };
}

/** Some gang leaves, another one comes, and a legal exchange moves gangs between two rows. */
function evolve(processors: number): void {
  const [a, b] = [random(rows.length), random(rows.length)];
  const gone = random(rows[a].length);
  rows[a] = rows[a].map((piece, i) => (i === gone ? { ...piece, job: ++lastJob } : piece));
  const cuts = [...legalCuts(rows[a], rows[b]), processors];
  const at = random(cuts.length - 1);
  const isWithin = ({ first, end }: Piece) => first >= cuts[at] && end <= cuts[at + 1];
  const mixed = (own: readonly Piece[], other: readonly Piece[]) =>
    [...own.filter((piece) => !isWithin(piece)), ...other.filter(isWithin)].sort((x, y) => x.first - y.first);
  [rows[a], rows[b]] = [mixed(rows[a], rows[b]), mixed(rows[b], rows[a])];
}

/** The matrix that the next change shows. It is made between frames: a page would receive it. */
let next: Stretches | undefined;

function prepare(): void {
  if (next !== undefined) return;
  evolve(shown.peek()!.grid.processors);
  next = stretchesNow();
}

const played = signal<Parameters<BenchPage["play"]> | undefined>(undefined);

const page: BenchPage = {
  play(...record) {
    played.value = record;
  },
  show(count, processors, slotMs, heightPx) {
    rows = Array.from({ length: count }, () => fill(processors));
    next = undefined;
    shown.value = { grid: gridOfSnapshot(stretchesNow(), processors), sequence: 1, slotMs, heightPx };
  },
  change() {
    prepare();
    const { grid, sequence, slotMs, heightPx } = shown.peek()!;
    const changed = gridOfSnapshot(next!, grid.processors);
    next = undefined;
    shown.value = { grid: changed, sequence: sequence + 1, slotMs, heightPx };
  },
  measure: (forMs, changeMs) => new Promise((done) => new Frames(forMs, changeMs, done)),
};

/** Counts frames, and the time of each until the next message of the page's queue. */
class Frames {
  readonly #forMs: number;
  readonly #changeMs: number;
  readonly #done: (numbers: FrameNumbers) => void;
  readonly #after = new MessageChannel();
  readonly #workMs: number[] = [];
  #firstMs = 0;
  #changedMs = 0;
  #beganMs = 0;

  constructor(forMs: number, changeMs: number, done: (numbers: FrameNumbers) => void) {
    this.#forMs = forMs;
    this.#changeMs = changeMs;
    this.#done = done;
    this.#after.port1.onmessage = () => {
      this.#workMs.push(performance.now() - this.#beganMs);
      prepare();
    };
    requestAnimationFrame(this.#frame);
  }

  readonly #frame = (nowMs: number): void => {
    this.#beganMs = performance.now();
    if (this.#firstMs === 0) this.#firstMs = nowMs;
    if (nowMs - this.#firstMs >= this.#forMs) {
      const ms = this.#workMs.sort((a, b) => a - b);
      const at = (share: number) => ms[Math.min(ms.length - 1, Math.floor(share * ms.length))];
      const framesPerS = (1000 * ms.length) / (nowMs - this.#firstMs);
      this.#done({ framesPerS, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1) });
      return;
    }
    if (nowMs - this.#changedMs >= this.#changeMs) {
      this.#changedMs = nowMs;
      page.change();
    }
    this.#after.port2.postMessage(0);
    requestAnimationFrame(this.#frame);
  };
}

function App() {
  const [selection, select] = useSelection();
  if (played.value !== undefined) {
    const [record, processors] = played.value;
    return (
      <main>
        <h1>Player</h1>
        <MatrixPlayer record={record} processors={processors} label="Matrix" />
      </main>
    );
  }
  if (shown.value === undefined) return null;
  const { grid, sequence, slotMs, heightPx } = shown.value;
  const turn = () => {
    const slot = Math.floor(performance.now() / slotMs);
    return { slot, row: slot % grid.rows };
  };
  return (
    <main>
      <h1>Matrix</h1>
      <MatrixView
        grid={grid}
        sequence={sequence}
        turn={turn}
        label="Matrix"
        heightPx={heightPx}
        selection={selection}
        onSelect={select}
      />
    </main>
  );
}

render(<App />, document.getElementById("bench")!);
Object.assign(globalThis, { tuttiMatrix: page });
