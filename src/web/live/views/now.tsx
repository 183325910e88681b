/** What runs and waits at this moment. */
import { formatCount } from "../../../report/text/format.ts";
import { gangCss } from "../../page/gang-colours.ts";
import { changes, jobs, matrix, status } from "../store.ts";

export function Now() {
  const { value: now } = status;
  if (now === undefined) return <p class="muted">Loading</p>;
  const { cpus, busyCpus, counts } = now;
  return (
    <>
      <h1>Now</h1>
      <dl class="numbers">
        <Fact
          title="free CPUs"
          value={`${formatCount(Math.max(0, cpus - Math.ceil(busyCpus)))} of ${formatCount(cpus)}`}
        />
        <Fact title="rows" value={formatCount(matrix.value?.answer.rows.length ?? 0)} />
        <Fact title="running" value={formatCount(counts.running ?? 0)} />
        <Fact title="waiting" value={formatCount(counts.queued ?? 0)} />
      </dl>
      <Rows />
    </>
  );
}

/** The gangs of each row. */
function Rows() {
  changes.value;
  const rows = matrix.value?.answer.rows ?? [];
  return (
    <ol>
      {rows.map((row, i) => (
        <li key={i} class="row">
          {row.map(({ job, cpus }) => (
            <span key={job} class="gang" style={{ background: gangCss(job) }}>
              {job} {jobs.get(job)?.name ?? ""} ({cpus.length})
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}

function Fact({ title, value }: { readonly title: string; readonly value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  );
}
