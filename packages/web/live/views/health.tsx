/** Whether the scheduler works as it should: conductor, forecasts, store, strays, and the rules in force. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import { formatPercent, plural } from "@tutti/kernel/core/format.ts";
import type {
  AllocationsAnswer,
  NodeAnswer,
  PolicyAnswer,
  StatusAnswer,
  Stray,
} from "@tutti/protocol/answers.ts";
import {
  allocationLines,
  billText,
  conductorText,
  forecastsText,
  machineText,
  nodesText,
  nodeText,
  nodeWarnings,
  resourcesText,
  straysText,
  strayText,
} from "@tutti/words/status.ts";
import { bytesText, clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useEffect, useState } from "preact/hooks";
import { Alarm, Bullets, Button } from "../../page/parts.tsx";
import { useAsked } from "../asked.ts";
import { ask } from "../client.ts";
import { changeJobs } from "../jobs/change.ts";
import { DrainBanner, DrainButton, WindowNotes } from "../now/drain.tsx";
import { events, matrix, status } from "../store.ts";

export function Health() {
  const { value: now } = status;
  if (now === undefined) return <p class="muted">Loading</p>;
  const {
    conductor,
    trouble,
    forecasts,
    strays = [],
    nodes,
    bill,
    machine,
    resources,
    version,
    residentBytes,
    startedAtMs,
    keptSinceMs,
  } = now;
  const warnings = nodeWarnings(nodes ?? []);
  const isWell =
    trouble === undefined && conductor.connected && conductor.silentMs === undefined && warnings.length === 0;
  return (
    <>
      <h1>Health</h1>
      <Alarm>{visibleLine(trouble ?? "")}</Alarm>
      {warnings.map((warning) => (
        <p key={warning} role="alert" class="alarm">
          {warning}
        </p>
      ))}
      <DrainBanner />
      <WindowNotes />
      <dl class="facts card">
        <Fact name="scheduler">
          {isWell && strays.length === 0 ? "works as it should" : "needs attention"}
        </Fact>
        <Fact name="conductor">{conductorText(conductor)}</Fact>
        {machine === undefined ? null : <Fact name="CPUs">{machineText(machine)}</Fact>}
        {resources === undefined ? null : <Fact name="units">{resourcesText(resources)}</Fact>}
        {nodes === undefined ? null : <Fact name="nodes">{nodesText(nodes)}</Fact>}
        {bill === undefined ? null : <Fact name="node time">{billText(bill)}</Fact>}
        <Fact name="forecasts">
          {forecasts === undefined ? "too few jobs have started after a forecast" : forecastsText(forecasts)}
        </Fact>
        <Fact name="store">
          {trouble === undefined ? "no trouble" : "see above"}
          {keptSinceMs === undefined
            ? ""
            : `; some jobs that ended before ${clockText(keptSinceMs)} are no longer kept`}
        </Fact>
        <Fact name="memory">{bytesText(residentBytes)} in the front end</Fact>
        <Fact name="version">
          Tutti {visibleLine(version)}, since {clockText(startedAtMs)}
        </Fact>
      </dl>
      {forecasts === undefined ? null : <Honesty record={forecasts} />}
      {strays.length === 0 ? null : <Strays strays={strays} />}
      {nodes === undefined ? null : <Allocations />}
      {nodes === undefined || nodes.length === 0 ? null : <Nodes nodes={nodes} />}
      <Policy />
      <DrainButton />
      <p class="muted">
        The same on the command line: <code>tutti status</code>, <code>tutti policy</code>,{" "}
        <code>tutti drain</code>, <code>tutti doctor</code>
      </p>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Nodes({ nodes }: { readonly nodes: readonly NodeAnswer[] }) {
  return (
    <section aria-label="Nodes">
      <h2>Nodes</h2>
      <ul>
        {nodes.map((node) => (
          <li key={node.node}>{nodeText(node)}</li>
        ))}
      </ul>
    </section>
  );
}

/** Nothing on clusters whose nodes neither come nor go, which refuse the question. */
function Allocations() {
  const { answer } = useAsked<AllocationsAnswer>({ path: "/v1/allocations" });
  if (answer === undefined) return null;
  return (
    <section aria-label="Allocations">
      <h2>Allocations</h2>
      <Bullets texts={allocationLines(answer)} />
    </section>
  );
}

/** The share of starts within the forecast interval, next to the share that the interval claims. */
function Honesty({ record }: { readonly record: NonNullable<StatusAnswer["forecasts"]> }) {
  const { withinShare, jobs } = record;
  const label = `${formatPercent(withinShare)} of ${plural(jobs, "start")} were between p10 and p90; 80 % should be`;
  return (
    <section aria-label="Record of the forecasts">
      <h2>Record of the forecasts</h2>
      <figure class="strip narrow">
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label={label}>
          <rect width="100" height="1" class="idle" />
          <rect width={100 * withinShare} height="1" class="interval" />
          <rect x="79.7" width="0.6" height="1" class="median" />
        </svg>
        <figcaption>{label}</figcaption>
      </figure>
    </section>
  );
}

function Strays({ strays }: { readonly strays: readonly Stray[] }) {
  const [report, setReport] = useState("");
  const end = async ({ job }: Stray) => {
    setReport("…");
    try {
      const [result] = await changeJobs("cancel", [job]);
      setReport(
        result !== undefined && "message" in result ? visibleLine(result.message) : `Job ${job} ends.`,
      );
    } catch (error) {
      setReport(messageOf(error));
    }
  };
  return (
    <section aria-label="Attempts without a record">
      <h2>Attempts without a record</h2>
      <p>{straysText(strays)}</p>
      <ul>
        {strays.map((stray) => (
          <li key={`${stray.job}.${stray.attempt}`} class="stray">
            {strayText(stray)}, in <code>{visibleLine(stray.folder)}</code>{" "}
            <Button onClick={() => end(stray)}>End job {stray.job}</Button>
          </li>
        ))}
      </ul>
      <p role="status">{report}</p>
    </section>
  );
}

/** The rules of the policy; asked for again when an event says that it has changed. */
function Policy() {
  const [answer, setAnswer] = useState<PolicyAnswer>();
  const current = matrix.value?.answer.policy;
  const changed = events.value.findLast(({ kind }) => kind === "policy")?.sequence;
  useEffect(() => {
    const stop = new AbortController();
    ask<PolicyAnswer>("/v1/policy", { signal: stop.signal }).then(setAnswer, () => {});
    return () => stop.abort();
  }, [current, changed]);
  if (answer === undefined) return null;
  const { policy, rules, ownRules, mostRows } = answer;
  return (
    <section aria-label="Policy">
      <h2>Policy {visibleLine(policy)}</h2>
      {mostRows > 1 ? <p>At most {plural(mostRows, "row")}.</p> : null}
      <Bullets texts={rules.slice(0, ownRules).map(visibleLine)} />
      {rules.length === ownRules ? null : (
        <details>
          <summary>Rules that it shares with other policies</summary>
          <Bullets texts={rules.slice(ownRules).map(visibleLine)} />
        </details>
      )}
    </section>
  );
}
