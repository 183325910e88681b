/** The view of a finished run. */
import type { ComponentType } from "preact";
import { useKey } from "../../page/keys.ts";
import { address, linkTo, setQuery } from "../../page/navigation.ts";
import { Alarm } from "../../page/parts.tsx";
import { commandLine } from "../experiment.ts";
import { experiment, type Finished, finished, hasResult, run } from "../state.ts";
import { ComparisonTable } from "./comparison-table.tsx";
import { Distributions } from "./distributions.tsx";
import { Gantt, hasGantt } from "./gantt.tsx";
import { LongestWait } from "./longest-wait.tsx";
import { hasMatrix, Matrix } from "./matrix.tsx";
import { Metrics } from "./metrics.tsx";
import { OverTime } from "./over-time.tsx";

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly Part: ComponentType<{ readonly done: Finished }>;
  /** Default: always. */
  readonly applies?: (done: Finished) => boolean;
}

const TABS: readonly Tab[] = [
  { id: "table", label: "Comparison", Part: ComparisonTable },
  { id: "metrics", label: "Metrics", Part: Metrics },
  { id: "waits", label: "Distributions", Part: Distributions },
  { id: "time", label: "Over time", Part: OverTime },
  { id: "gantt", label: "Gantt", Part: Gantt, applies: hasGantt },
  { id: "matrix", label: "Matrix", Part: Matrix, applies: hasMatrix },
  { id: "longest", label: "Longest wait", Part: LongestWait, applies: ({ run }) => run !== undefined },
];

function TabKey({ id, label, number }: Pick<Tab, "id" | "label"> & { readonly number: number }) {
  useKey(String(number), label, () => setQuery({ tab: id }, true));
  return null;
}

export function Results() {
  const done = finished.value;
  if (done === undefined) {
    return (
      <>
        <h1>Results</h1>
        {hasResult && run.value.state !== "failed" ? (
          <p role="status">Reading the result in this file.</p>
        ) : run.value.state === "running" || address.value.query.run !== undefined ? (
          <p role="status">The policies run on the jobs.</p>
        ) : (
          <None />
        )}
      </>
    );
  }
  const { comparison, run: made } = done;
  const { instance } = comparison;
  const { query } = address.value;
  const tabs = TABS.filter(({ applies }) => applies?.(done) ?? true);
  const isAll = query.tab === "all";
  const shown = tabs.find(({ id }) => id === query.tab) ?? tabs[0];
  const link = (id: string) => linkTo("results", [], { ...query, tab: id });
  return (
    <>
      <h1>Results</h1>
      <p>
        <strong>{instance.workload.name}</strong>: {instance.count.toLocaleString("en")} jobs on{" "}
        {instance.processors.toLocaleString("en")} processors
        {made === undefined ? null : <>, in {(made.ms / 1000).toFixed(1)} s</>}
      </p>
      {made === undefined ? null : <RunNotes made={made} />}
      <nav class="tabs" aria-label="Results">
        {tabs.map((tab, i) => (
          <a key={tab.id} href={link(tab.id)} aria-current={!isAll && tab === shown ? "page" : undefined}>
            <TabKey id={tab.id} label={tab.label} number={i + 1} />
            {tab.label}
          </a>
        ))}
        <a href={link("all")} aria-current={isAll ? "page" : undefined}>
          <TabKey id="all" label="All" number={tabs.length + 1} />
          All
        </a>
      </nav>
      {isAll ? (
        tabs.map(({ id, label, Part }) => (
          <section key={id} aria-label={label}>
            <Part done={done} />
          </section>
        ))
      ) : (
        <shown.Part done={done} />
      )}
    </>
  );
}

function None() {
  return (
    <p>
      There are none yet: press Run to compute them, or look at the{" "}
      <a href={linkTo("experiment")}>experiment</a> first. A link holds an experiment, not its results.
    </p>
  );
}

function RunNotes({ made: { of, mismatches } }: { readonly made: NonNullable<Finished["run"]> }) {
  return (
    <>
      {of === experiment.value ? null : (
        <p role="status" class="alarm">
          The experiment has changed since this run. These results are of: <code>{commandLine(of)}</code>
        </p>
      )}
      {mismatches === 0 ? null : (
        <Alarm>
          {mismatches === 1 ? "One summary" : `${mismatches} summaries`} came out differently when computed
          twice and had to be computed again. This is a fault of the browser’s compiler; the numbers below
          agreed twice. Update the browser.
        </Alarm>
      )}
    </>
  );
}
