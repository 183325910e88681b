/** The page that `tutti lab torture --html` writes: a recorded life. */
import "../page/style.css";
import { formatDigits, plural } from "@tutti/kernel/core/format.ts";
import type { Recording } from "@tutti/torture/run/recorded.ts";
import { render } from "preact";
import { partText } from "../page/packed-part.ts";
import { Shell, type View } from "../page/shell.tsx";
import { RecordedFaults, RecordedMatrixView, RecordedTimeline } from "./recorded.tsx";

async function show(): Promise<void> {
  const recording: Recording = JSON.parse(await partText("recording"));
  const views: readonly View[] = [
    {
      id: "timeline",
      label: "Timeline",
      key: "t",
      Page: () => <RecordedTimeline recording={recording} />,
    },
    { id: "matrix", label: "Matrix", key: "m", Page: () => <RecordedMatrixView recording={recording} /> },
    {
      id: "faults",
      label: "Faults",
      key: "f",
      Page: () => <RecordedFaults recording={recording} matrixView="matrix" />,
    },
  ];
  const head = <Head recording={recording} />;
  render(<Shell title="A simulated life" views={views} head={head} />, document.getElementById("app")!);
}

function Head({ recording }: { readonly recording: Recording }) {
  const { seed, hash, fromMs, toMs, runs, faults, problems } = recording;
  const hours = formatDigits((toMs - fromMs) / 3_600_000, 1);
  return (
    <>
      <strong>Seed {seed}</strong>
      <span class="muted">
        {hours} simulated hours, {plural(runs.length, "run")} of jobs, {plural(faults.length, "fault")},{" "}
        {plural(problems.length, "problem")} · trace {hash}
      </span>
    </>
  );
}

void show();
