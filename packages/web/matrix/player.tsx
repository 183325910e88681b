/**
 * Plays the recorded matrix of a simulation: play, pause, step, speed, scrub, with what the policy did
 * between two pictures. The picture is that of the live page.
 *
 *   <MatrixPlayer record={matrixRecord} processors={128} idOf={(job) => ids[job]} label="Matrix under brmms"
 *     onOpen={(job) => goTo("job", [String(job)])} />
 *
 * The address keeps what is shown: `at` (number of the picture, from 1), `gang` and `cpus`. A view shows one
 * player at a time. Without snapshots there is nothing to play: show the player only if `record.snapshots` is
 * not empty.
 */

import type { MatrixRecord } from "@tutti/lab/results/matrix-record.ts";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useKey } from "../page/keys.ts";
import { address, setQuery } from "../page/navigation.ts";
import { Button, Choice, Tick } from "../page/parts.tsx";
import { gridOfSnapshot } from "./grid.ts";
import { MatrixView } from "./matrix-view.tsx";
import { decisionsText, momentText, parsePlace, placeText, SPEEDS } from "./playback.ts";
import { useSelection } from "./selection.ts";

interface MatrixPlayerProps {
  readonly record: Pick<MatrixRecord, "snapshots" | "busiest">;
  readonly processors: number;
  /** Number of a job by its index; default: the index. */
  readonly idOf?: (job: number) => number;
  /** What the picture is, for screen readers. */
  readonly label: string;
  /** Times are shown since this instant; default: the first picture. */
  readonly originS?: number;
  readonly heightPx?: number;
  /** Opens a job, by the number that `idOf` gives. */
  readonly onOpen?: (job: number) => void;
}

/** Rows take turns this slowly, so that the eye can follow. */
const SHOWN_SLOT_MS = 600;

export function MatrixPlayer({
  record: { snapshots, busiest },
  processors,
  idOf,
  label,
  originS = snapshots[0]?.atS ?? 0,
  heightPx,
  onOpen,
}: MatrixPlayerProps) {
  const [selection, select] = useSelection();
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(2);
  const [isTurning, setTurning] = useState(false);
  const at = parsePlace(address.value.query.at, snapshots.length, busiest);
  const shown = snapshots[at];
  const last = snapshots.length - 1;
  const grid = useMemo(() => gridOfSnapshot(shown, processors, idOf), [shown, processors, idOf]);
  const goTo = (index: number) => setQuery({ at: String(Math.max(0, Math.min(last, index)) + 1) });
  const step = (by: number) => {
    setPlaying(false);
    goTo(at + by);
  };
  const play = () => {
    if (!isPlaying && at === last) goTo(0);
    setPlaying(!isPlaying);
  };

  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setTimeout(() => {
      if (at === last) setPlaying(false);
      else goTo(at + 1);
    }, 1000 / speed);
    return () => clearTimeout(timer);
  });
  useKey("p", "play or pause the matrix", play);
  useKey("]", "next picture of the matrix", () => step(1));
  useKey("[", "picture of the matrix before", () => step(-1));

  const turn = () => {
    const slot = Math.floor(performance.now() / SHOWN_SLOT_MS);
    return { slot, row: slot % Math.max(1, grid.rows) };
  };
  return (
    <div class="matrix-player">
      <div class="player">
        <Button class="primary" onClick={play}>
          {isPlaying ? "Pause" : "Play"}
        </Button>
        <Button aria-label="picture before" disabled={at === 0} onClick={() => step(-1)}>
          ◀
        </Button>
        <Button aria-label="next picture" disabled={at === last} onClick={() => step(1)}>
          ▶
        </Button>
        <input
          type="range"
          aria-label="picture"
          aria-valuetext={momentText(shown, originS, processors)}
          min={0}
          max={last}
          value={at}
          onInput={({ currentTarget }) => {
            setPlaying(false);
            goTo(Number(currentTarget.value));
          }}
        />
        <span class="muted">{placeText(at, snapshots.length)}</span>
        <Choice
          title="Speed"
          value={String(speed)}
          options={SPEEDS.map((value) => [String(value), `${value} per second`])}
          onChoose={(value) => setSpeed(Number(value))}
        />
        <Tick isOn={isTurning} onTick={setTurning}>
          Let rows take turns, slowed down
        </Tick>
      </div>
      <p class="matrix-moment">{momentText(shown, originS, processors)}</p>
      <MatrixView
        grid={grid}
        sequence={at + 1}
        turn={isTurning ? turn : undefined}
        label={label}
        heightPx={heightPx}
        selection={selection}
        onSelect={select}
        onOpen={onOpen}
      />
      <p class="muted">{decisionsText(shown.done, snapshots[at - 1]?.done)}</p>
    </div>
  );
}
