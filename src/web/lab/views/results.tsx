/** The view of a finished run. */
import { linkTo } from "../../page/navigation.ts";
import { commandLine } from "../experiment.ts";
import { experiment, finished } from "../state.ts";
import { ComparisonTable } from "./comparison-table.tsx";

export function Results() {
  const done = finished.value;
  if (done === undefined) {
    return (
      <>
        <h1>Results</h1>
        <p>
          There are none yet. Put together an <a href={linkTo("experiment")}>experiment</a> and run it.
        </p>
      </>
    );
  }
  const { comparison, mismatches, of, ms } = done;
  const { instance } = comparison;
  return (
    <>
      <h1>Results</h1>
      <p>
        <strong>{instance.workload.name}</strong>: {instance.count.toLocaleString("en")} jobs on{" "}
        {instance.processors.toLocaleString("en")} processors, in {(ms / 1000).toFixed(1)} s
      </p>
      {of === experiment.value ? null : (
        <p role="status" class="alarm">
          The experiment has changed since this run. These results are of: <code>{commandLine(of)}</code>
        </p>
      )}
      {mismatches === 0 ? null : (
        <p role="alert" class="alarm">
          {mismatches === 1 ? "One summary" : `${mismatches} summaries`} came out differently when computed
          twice and had to be computed again. This is a fault of the browser’s compiler; the numbers below
          agreed twice. Update the browser.
        </p>
      )}
      <ComparisonTable done={done} />
    </>
  );
}
