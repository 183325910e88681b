/** The reproduced papers: published values next to ours, and tables that the page computes again. */

import { formatCount, formatDuration, plural } from "@tutti/kernel/core/format.ts";
import { useEffect } from "preact/hooks";
import { address, linkTo } from "../../page/navigation.ts";
import { Alarm, Bullets, Button } from "../../page/parts.tsx";
import { cancelTable, loadPapers, papers, running, runOf, runTable } from "../papers-state.ts";
import type { ShownPaper } from "../worker/papers.ts";
import { differentValues, PaperTable } from "./paper-table.tsx";
import { Progress } from "./progress.tsx";

export function Papers() {
  useEffect(() => {
    void loadPapers();
  }, []);
  const list = papers.value;
  const [key] = address.value.rest;
  if (list === undefined) return <p role="status">Loading the papers…</p>;
  if (typeof list === "string") return <Alarm>{list}</Alarm>;
  const paper = list.find((one) => one.paper.key === key);
  return paper === undefined ? <PaperList list={list} unknown={key} /> : <OnePaper shown={paper} />;
}

function PaperList({
  list,
  unknown,
}: {
  readonly list: readonly ShownPaper[];
  readonly unknown: string | undefined;
}) {
  return (
    <>
      <h1>Papers</h1>
      {unknown === undefined ? null : <Alarm>There is no paper “{unknown}”: choose one of these.</Alarm>}
      <p>
        Five papers on scheduling parallel jobs. Each page has the published values next to ours, says what it
        does not claim, and computes its tables again in this page.
      </p>
      <ul class="papers">
        {list.map(({ paper: { key, title, authors, published }, claimed }) => (
          <li key={key} class="card">
            <h2>
              <a href={linkTo("papers", [key])}>{title}</a>
            </h2>
            <p class="muted">
              {authors}, {published}
            </p>
            <Bullets texts={claimed.slice(0, 3)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function OnePaper({ shown }: { readonly shown: ShownPaper }) {
  const { paper, seed, claimed, notClaimed, undecided, tables, runs } = shown;
  const { key, title, authors, published } = paper;
  return (
    <>
      <p>
        <a href={linkTo("papers")}>All papers</a>
      </p>
      <h1>{title}</h1>
      <p class="muted">
        {authors}, {published}
      </p>
      <h2>What this page claims</h2>
      <Bullets texts={claimed} />
      <h2>What it does not claim</h2>
      <Bullets texts={notClaimed} />
      {undecided.length === 0 ? null : (
        <details>
          <summary>{plural(undecided.length, "part")} of the paper that Tutti does not decide</summary>
          <dl class="undecided">
            {undecided.map(({ at, says, notClaimed: why }) => (
              <div key={at + says}>
                <dt>
                  {at}: {says}
                </dt>
                <dd class="muted">{why}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      <p>
        <code>
          tutti lab reproduce {key} --seed {seed}
        </code>{" "}
        computes all of it on the command line, with the figures and the sentences of the paper.
      </p>
      {tables.map((table, at) => (
        <TableSection key={table.anchor} shown={shown} at={at} runs={runs[at]} />
      ))}
    </>
  );
}

interface TableSectionProps {
  readonly shown: ShownPaper;
  readonly at: number;
  readonly runs: number;
}

function TableSection({ shown, at, runs }: TableSectionProps) {
  const table = shown.tables[at];
  const name = { paper: shown.paper.key, table: at };
  const heading = `table-${table.anchor}`;
  const run = runOf(name);
  const done = run?.state === "done" ? run : undefined;
  const different = done && differentValues(table, done.table);
  const count = table.rows.reduce((sum, { values }) => sum + values.length, 0);
  return (
    <div data-table={table.anchor}>
      <h2 id={heading}>
        {table.id}. {table.title}
      </h2>
      <p class="row">
        {run?.state === "running" ? (
          <>
            <Button onClick={cancelTable}>Cancel</Button>
            <Progress
              share={run.of === 0 ? 0 : run.done / run.of}
              done={run.done}
              of={run.of}
              fromMs={run.fromMs}
            />
          </>
        ) : (
          <Button
            disabled={running.value !== undefined}
            aria-describedby={heading}
            onClick={() => void runTable(name)}
          >
            Run here
          </Button>
        )}
        <span role="status">
          {done === undefined || different === undefined
            ? ""
            : `Same digits as the published page: ${formatCount(count - different.size)} of ${formatCount(count)}, computed here in ${formatDuration(done.ms / 1000)}.`}
        </span>
        {run === undefined ? <span class="muted">{plural(runs, "simulation")}</span> : null}
      </p>
      {run?.state === "failed" ? <Alarm>{run.message}</Alarm> : null}
      {different === undefined || different.size === 0 ? null : (
        <Alarm>
          The marked values differ from the published page. Update the browser; if they still differ, the
          browser computes differently from others.
        </Alarm>
      )}
      <PaperTable table={done?.table ?? table} different={different} />
    </div>
  );
}
