/** The timeline, the matrix and the faults of a life that was recorded. */
import { formatDuration, plural } from "@tutti/kernel/core/format.ts";
import type { Recording } from "@tutti/torture/run/recorded.ts";
import { useMemo } from "preact/hooks";
import { parsePlace } from "../matrix/playback.ts";
import { MatrixPlayer } from "../matrix/player.tsx";
import { address, linkTo, setQuery } from "../page/navigation.ts";
import { Bullets, Headings } from "../page/parts.tsx";
import { queryOf, readState } from "../timeline/state.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { recordedMatrix, recordedTimeline } from "./recorded-data.ts";

interface RecordedProps {
  readonly recording: Recording;
}

export function RecordedTimeline({ recording }: RecordedProps) {
  const data = useMemo(() => recordedTimeline(recording), [recording]);
  return (
    <>
      <Timeline
        data={data}
        state={readState(address.value.query)}
        onState={(changes, keepStep) => setQuery(queryOf(changes), keepStep)}
        label={`Timeline of the life of seed ${recording.seed}`}
      />
      <p class="muted">
        Lines are faults, and shades are faults that lasted. A box is a job in the matrix, as the scheduler
        said; times are since the beginning of the life.
      </p>
    </>
  );
}

export function RecordedMatrixView({ recording }: RecordedProps) {
  const { snapshots, busiest, processors } = useMemo(() => recordedMatrix(recording), [recording]);
  if (snapshots.length === 0) return <p class="muted">The matrix was empty all the time.</p>;
  const { atMs } = recording.pictures[parsePlace(address.value.query.at, snapshots.length, busiest)];
  const fault = recording.faults.findLast(({ fromMs }) => fromMs <= atMs);
  return (
    <>
      <MatrixPlayer
        record={{ snapshots, busiest }}
        processors={processors}
        label={`Matrix of the life of seed ${recording.seed}`}
        originS={0}
      />
      {fault !== undefined && (
        <p>
          Last fault before this picture: {fault.name}, {formatDuration((atMs - fault.fromMs) / 1000)} before.
        </p>
      )}
    </>
  );
}

/** @param matrixView where the matrix is shown at the time of a fault; undefined: nowhere */
export function RecordedFaults({
  recording: { fromMs, toMs, faults, pictures, problems },
  matrixView,
}: RecordedProps & { readonly matrixView?: string }) {
  const since = (ms: number) => formatDuration(Math.floor((ms - fromMs) / 1000));
  const pictureAt = (ms: number) => Math.max(1, pictures.filter(({ atMs }) => atMs <= ms).length);
  return (
    <>
      {problems.length === 0 ? (
        <p>No problem was found.</p>
      ) : (
        <>
          <p class="alarm">{plural(problems.length, "problem")}</p>
          <Bullets texts={problems} />
        </>
      )}
      <div class="scroll">
        <table>
          <Headings titles={["fault", "after", "lasted"]} />
          <tbody>
            {faults.map((fault, i) => (
              <tr key={i}>
                <th scope="row">
                  {matrixView === undefined ? (
                    fault.name
                  ) : (
                    <a href={linkTo(matrixView, [], { at: String(pictureAt(fault.fromMs)) })}>{fault.name}</a>
                  )}
                </th>
                <td class="number">{since(fault.fromMs)}</td>
                <td class="number">
                  {formatDuration(Math.round(((fault.toMs ?? toMs) - fault.fromMs) / 1000))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
