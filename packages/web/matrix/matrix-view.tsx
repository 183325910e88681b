/**
 * The Ousterhout matrix: rows × processors, the lit row turning, all cells of a gang lit under the pointer.
 * The live page and the laboratory both use it.
 *
 *   <MatrixView grid={grid} sequence={7} turn={() => ({ slot: 120, row: 1 })} label="Matrix of this machine"
 *     selection={selection} onSelect={change} onOpen={(job) => goTo("jobs", [String(job)])} />
 *
 * `grid` comes from `gridOfAnswer` or `gridOfSnapshot`, `selection` and `onSelect` from `useSelection`.
 */
import "./matrix.css";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKey } from "../page/keys.ts";
import { Button } from "../page/parts.tsx";
import { cellsOf, gangOf } from "./cells.ts";
import { changesBetween, changesText } from "./changes.ts";
import type { Grid } from "./grid.ts";
import { type Cell, cellAt, cellText } from "./layout.ts";
import { isStill, onTheme } from "./motion.ts";
import { MatrixPainter } from "./painter.ts";
import { type MatrixSelection, visibleSpan, zoomed } from "./selection-query.ts";
import { type Turn, useTurning } from "./turning.ts";
import { TwinTable } from "./twin-table.tsx";

interface MatrixViewProps {
  readonly grid: Grid;
  /** Number of the matrix. Another number with another grid is drawn as a movement. */
  readonly sequence: number;
  /** Whose turn it is now; left out if rows do not take turns. */
  readonly turn?: (() => Turn) | undefined;
  /** What the picture is, for screen readers. */
  readonly label: string;
  /** Height that the picture may take in CSS pixels. It takes more if rows would be too low. */
  readonly heightPx?: number;
  readonly selection: MatrixSelection;
  readonly onSelect: (changes: Partial<MatrixSelection>) => void;
  /** Opens a job. */
  readonly onOpen?: ((job: number) => void) | undefined;
}

const DEFAULT_HEIGHT_PX = 360;
const HELP =
  "Arrow keys move by cell, Enter opens the job, . and , go to the next and previous gang, F fits, Escape unpins.";

export function MatrixView({
  grid,
  sequence,
  turn,
  label,
  heightPx = DEFAULT_HEIGHT_PX,
  selection,
  onSelect,
  onOpen,
}: MatrixViewProps) {
  const picture = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const painter = useRef<MatrixPainter>(null);
  const shown = useRef<{ readonly grid: Grid; readonly sequence: number }>(null);
  const [widthPx, setWidth] = useState(0);
  const [ink, setInk] = useState(0);
  const [hovered, setHovered] = useState<Cell>();
  const [cursor, setCursor] = useState<Cell>();
  const [happened, setHappened] = useState("");
  const cells = useMemo(() => cellsOf(grid, grid.processors), [grid]);
  const span = visibleSpan(selection.span, grid.processors);
  const pointed = hovered ?? cursor;
  const jobAt = (cell: Cell | undefined) =>
    cell === undefined || cell.row >= cells.rows
      ? undefined
      : cells.jobs[gangOf(cells.values[cell.row * cells.processors + cell.processor])];
  const pinned = cells.jobs.includes(selection.pinned ?? -1) ? selection.pinned : undefined;
  const lit = jobAt(hovered) ?? pinned;

  useLayoutEffect(() => {
    painter.current = new MatrixPainter(image.current!, marks.current!);
    const sizes = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    sizes.observe(picture.current!);
    const stopTheme = onTheme(() => {
      painter.current!.readInk();
      setInk((count) => count + 1);
    });
    return () => {
      sizes.disconnect();
      stopTheme();
    };
  }, []);

  const { first, end } = span;
  const scene = useMemo(
    () => (widthPx === 0 ? undefined : { grid, cells, span: { first, end }, widthPx, heightPx, lit, cursor }),
    [grid, cells, first, end, widthPx, heightPx, lit, cursor, ink],
  );
  // Before the browser paints, so that the picture never differs from the table and the words around it.
  useLayoutEffect(() => {
    if (scene === undefined) return;
    picture.current!.dataset.sequence = String(sequence);
    const before = shown.current;
    shown.current = { grid, sequence };
    if (before === null || before.grid === grid) {
      painter.current!.show(scene);
      return;
    }
    const changes = changesBetween(before.grid, grid);
    if (before.sequence !== sequence) setHappened(changesText(changes));
    const isChanged = changes.moves.length + changes.gone.length + changes.added.length > 0;
    const isShown = isChanged && !isStill.peek() && before.grid.processors === grid.processors;
    painter.current!.show(scene, isShown ? { before: before.grid, changes } : undefined);
  }, [scene, grid, sequence]);
  const step = useTurning(picture, painter, turn, scene);

  const toCell = ({ clientX, clientY }: MouseEvent): Cell | undefined => {
    const box = image.current!.getBoundingClientRect();
    const { raster, geometry, isMoving } = painter.current!;
    if (raster === undefined || isMoving) return undefined;
    return cellAt(cells, raster, geometry, clientX - box.left, clientY - box.top);
  };
  const pin = (job: number | undefined) => onSelect({ pinned: job === pinned ? undefined : job });
  const next = (by: number) => {
    const { jobs } = cells;
    if (jobs.length === 0) return;
    const at = pinned === undefined ? (by > 0 ? -1 : 0) : jobs.indexOf(pinned);
    onSelect({ pinned: jobs[(at + by + jobs.length) % jobs.length] });
  };
  const go = (rows: number, processors: number) => {
    const from = cursor ?? { row: 0, processor: span.first };
    if (cells.rows === 0) return;
    const to = {
      row: Math.max(0, Math.min(cells.rows - 1, from.row + rows)),
      processor: Math.max(0, Math.min(grid.processors - 1, from.processor + processors)),
    };
    setHovered(undefined);
    setCursor(cursor === undefined ? from : to);
    if (to.processor < span.first || to.processor >= span.end) {
      const size = span.end - span.first;
      const first = to.processor < span.first ? to.processor : to.processor - size + 1;
      onSelect({ span: { first, end: first + size } });
    }
  };
  const zoom = (closer: boolean) =>
    onSelect({
      span: zoomed(span, grid.processors, pointed?.processor ?? (span.first + span.end) >> 1, closer),
    });
  const fit = () => {
    const own = grid.job.flatMap((job, i) => (job === pinned ? [i] : []));
    const around = {
      first: Math.min(...own.map((i) => grid.first[i])),
      end: Math.max(...own.map((i) => grid.end[i])),
    };
    const isFitted = own.length === 0 || (around.first === span.first && around.end === span.end);
    onSelect({ span: isFitted ? undefined : around });
  };
  const open = (job: number | undefined) => {
    if (job !== undefined) onOpen?.(job);
  };

  useKey(".", "next gang", () => next(1));
  useKey(",", "previous gang", () => next(-1));
  useKey("f", "fit the pinned gang, or everything", fit);
  useKey("ArrowLeft", "in the matrix: one CPU to the left", () => go(0, -1), picture);
  useKey("ArrowRight", "in the matrix: one CPU to the right", () => go(0, 1), picture);
  useKey("ArrowUp", "in the matrix: one row up", () => go(-1, 0), picture);
  useKey("ArrowDown", "in the matrix: one row down", () => go(1, 0), picture);
  useKey(" ", "in the matrix: pin the gang", () => pin(jobAt(cursor)), picture);
  useKey("Enter", "in the matrix: open the job", () => open(jobAt(cursor) ?? pinned), picture);
  useKey("+", "in the matrix: zoom in", () => zoom(true), picture);
  useKey("-", "in the matrix: zoom out", () => zoom(false), picture);

  const words =
    pointed !== undefined && pointed.row < cells.rows
      ? cellText(grid, cells, pointed)
      : pinned !== undefined
        ? `pinned: ${gangText(pinned)}`
        : happened;
  function gangText(job: number): string {
    const i = grid.job.indexOf(job);
    return cellText(grid, cells, { row: grid.row[i], processor: grid.first[i] });
  }

  return (
    <div class="matrix">
      {selection.pinned !== undefined && <Unpin act={() => onSelect({ pinned: undefined })} />}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: useKey offers the same by keys */}
      <div
        ref={picture}
        class="matrix-picture"
        role="application"
        aria-roledescription="matrix"
        aria-label={`${label}: ${grid.rows} ${grid.rows === 1 ? "row" : "rows"}, ${grid.processors} CPUs, ${cells.jobs.length} gangs. ${HELP}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the role is interactive
        tabIndex={0}
        onPointerMove={(event) => {
          const cell = toCell(event);
          if (cell?.row !== hovered?.row || cell?.processor !== hovered?.processor) setHovered(cell);
        }}
        onPointerLeave={() => setHovered(undefined)}
        onClick={(event) => {
          const cell = toCell(event);
          if (cell === undefined) return;
          setCursor(cell);
          pin(jobAt(cell));
        }}
        onDblClick={(event) => open(jobAt(toCell(event)))}
        onBlur={() => setCursor(undefined)}
      >
        <canvas ref={image} />
        <div class="matrix-turns" hidden>
          <div class="matrix-veil" />
          <div class="matrix-veil" />
        </div>
        <canvas ref={marks} />
        <div class="matrix-light" hidden />
      </div>
      <div class="matrix-line">
        <output aria-live="polite">{words}</output>
        {step !== "" && <span class="muted">{step}</span>}
        <span class="matrix-buttons">
          <Button aria-label="zoom in" onClick={() => zoom(true)}>
            +
          </Button>
          <Button aria-label="zoom out" disabled={selection.span === undefined} onClick={() => zoom(false)}>
            −
          </Button>
          <Button onClick={fit}>Fit</Button>
        </span>
      </div>
      <TwinTable grid={grid} cells={cells} sequence={sequence} />
    </div>
  );
}

function Unpin({ act }: { readonly act: () => void }) {
  useKey("Escape", "unpin the gang", act);
  return null;
}
