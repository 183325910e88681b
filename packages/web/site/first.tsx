/** The first page of the site plays a run that was recorded when the site was made. */
import type { MatrixSnapshot } from "@tutti/lab/results/matrix-record.ts";
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { gridOfSnapshot } from "../matrix/grid.ts";
import { MatrixView } from "../matrix/matrix-view.tsx";
import { isStill } from "../matrix/motion.ts";
import { momentText } from "../matrix/playback.ts";
import type { MatrixSelection } from "../matrix/selection-query.ts";
import { Button } from "../page/parts.tsx";

/** Set by scripts/site/first-page.ts in the bundle. */
declare const TUTTI_RECORDED: {
  readonly processors: number;
  readonly policy: string;
  readonly snapshots: readonly MatrixSnapshot[];
};

const { processors, policy, snapshots } = TUTTI_RECORDED;
const place = document.getElementById("motion")!;
/** Rows take turns this slowly, so that the eye can follow. */
const SHOWN_SLOT_MS = 600;
/** As long as a few turns. */
const PICTURE_MS = 3000;
const HEIGHT_PX = 250;
/** The first picture that is shown has at least this number of rows, enough to see them take turns. */
const FIRST_ROWS = 4;

function Motion() {
  const [isPlaying, setPlaying] = useState(!isStill.peek());
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      snapshots.findIndex(({ rows }) => rows >= FIRST_ROWS),
    ),
  );
  const [selection, select] = useState<MatrixSelection>({ span: undefined, pinned: undefined });
  const shown = snapshots[at];
  const grid = useMemo(() => gridOfSnapshot(shown, processors), [shown]);
  const step = (by: number) => setAt((at + by + snapshots.length) % snapshots.length);
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setTimeout(() => step(1), PICTURE_MS);
    return () => clearTimeout(timer);
  });
  const turn = () => {
    const slot = Math.floor(performance.now() / SHOWN_SLOT_MS);
    return { slot, row: slot % Math.max(1, grid.rows) };
  };
  return (
    <>
      <p class="row">
        <Button onClick={() => setPlaying(!isPlaying)}>{isPlaying ? "Pause" : "Play"}</Button>
        <Button aria-label="picture before" onClick={() => step(-1)}>
          ◀
        </Button>
        <Button aria-label="next picture" onClick={() => step(1)}>
          ▶
        </Button>
        <span>{momentText(shown, snapshots[0].atS, processors)}</span>
      </p>
      <MatrixView
        grid={grid}
        sequence={at + 1}
        turn={isPlaying ? turn : undefined}
        label={`The matrix under ${policy}`}
        heightPx={HEIGHT_PX}
        selection={selection}
        onSelect={(changes) => select({ ...selection, ...changes })}
      />
      <p class="muted">
        Across are {processors} CPUs, and each box is a job. Jobs in one line run at the same time; the lines
        take turns. This is a recorded run of the policy <code>{policy}</code>;{" "}
        <a href={place.dataset.link}>run it here</a>.
      </p>
    </>
  );
}

render(<Motion />, place);
