/** Which job ran where and when, under one policy: the timeline of its schedule. */

import { formatCount, formatDuration, plural } from "@tutti/kernel/core/format.ts";
import { asGiven } from "@tutti/kernel/core/schedule.ts";
import { type Boxes, boxesWithin } from "@tutti/lab/report/page/boxes.ts";
import type { ComparedPolicy } from "@tutti/lab/results/comparison.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, linkTo, setQuery } from "../../page/navigation.ts";
import { Alarm, Choice } from "../../page/parts.tsx";
import type { TimelineData, TimelineJob } from "../../timeline/data.ts";
import { queryOf, readState, type StateChanges } from "../../timeline/state.ts";
import { timelineSvg } from "../../timeline/svg.ts";
import { Timeline } from "../../timeline/timeline.tsx";
import { Figure } from "../charts/figure.tsx";
import { colours } from "../charts/theme.ts";
import { deal, type Finished } from "../state.ts";
import { setSpan, shownSpan, wholeSpan } from "./over-time.tsx";
import { chosenPolicy, PolicySelect } from "./policy-select.tsx";

/** More boxes at once would stop the page for seconds. */
const MOST_BOXES = 200_000;
/** Bounds of the classes of waits, in seconds: none, and up to these. */
const WAITS_S = [60, 3600, 86_400];

/** Whether it is known, or can be found out, where jobs ran. */
export function hasGantt({ boxes, run }: Finished): boolean {
  return run !== undefined || boxes.some((own) => own !== undefined);
}

export function Gantt({ done }: { readonly done: Finished }) {
  const { policies } = done.comparison;
  const accepts = (policy: ComparedPolicy) =>
    done.run !== undefined || done.boxes[policies.indexOf(policy)] !== undefined;
  const asked = policies[chosenPolicy(policies.length)];
  const policy = accepts(asked) ? asked : policies.find(accepts)!;
  const row = policies.indexOf(policy);
  const boxes = useBoxes(done, row);
  const select = <PolicySelect policies={policies} accepts={accepts} shown={row} />;
  if (boxes === undefined) return <p role="status">Assigning processors to the jobs.</p>;
  if (typeof boxes === "string") {
    return (
      <>
        {select}
        <Alarm>{boxes}</Alarm>
      </>
    );
  }
  return <GanttChart done={done} policy={policy} boxes={boxes} select={select} />;
}

/** Those of gangs are known; those of space sharing are assigned in a worker. */
function useBoxes(done: Finished, policy: number): Boxes | string | undefined {
  const [made, setMade] = useState<{ readonly of: Finished; policy: number; boxes: Boxes | string }>();
  const known = done.boxes[policy];
  useEffect(() => {
    let isCurrent = true;
    const show = (boxes: Boxes | string) => isCurrent && setMade({ of: done, policy, boxes });
    if (known === undefined) deal(done, policy).then(show, (error: Error) => show(error.message));
    return () => {
      isCurrent = false;
    };
  }, [done, policy, known]);
  return known ?? (made?.of === done && made.policy === policy ? made.boxes : undefined);
}

interface GanttChartProps {
  readonly done: Finished;
  readonly policy: ComparedPolicy;
  readonly boxes: Boxes;
  readonly select: preact.ComponentChildren;
}

function GanttChart({ done, policy, boxes: all, select }: GanttChartProps) {
  const figure = useRef<HTMLDivElement>(null);
  const { query } = address.value;
  const whole = wholeSpan(done);
  const span = shownSpan(whole);
  const { fromS, toS } = span;
  const isByWait = query.colour !== "job";
  const { waits } = colours.value;
  const boxes = useMemo(
    () => (all.job.length <= MOST_BOXES ? all : firstOf(boxesWithin(all, { fromS, toS }))),
    [all, all.job.length <= MOST_BOXES || `${fromS} ${toS}`],
  );
  const data = useMemo(
    () => timelineOf(done, policy, boxes, isByWait ? waits : undefined),
    [done, policy, boxes, isByWait, waits],
  );
  const title = `Which job ran where under ${policy.label}`;
  const ms = (timeS: number) => 1000 * (timeS - whole.fromS);
  const isWhole = fromS === whole.fromS && toS === whole.toS;
  const { range: _, ...kept } = readState(query);
  const state = isWhole ? kept : { ...kept, range: { fromMs: ms(fromS), toMs: ms(toS) } };
  const change = ({ range, ...others }: StateChanges, keepStep: boolean) => {
    if (range !== undefined)
      setSpan(whole, whole.fromS + range.fromMs / 1000, whole.fromS + range.toMs / 1000, keepStep);
    setQuery(queryOf(others), keepStep);
  };
  return (
    <Figure
      title={title}
      name={`gantt-${policy.label.replaceAll(/\W+/g, "-")}`}
      note={noteOf(done, policy, boxes, all)}
      csv={() => csvOf(boxesWithin(boxes, span), done, policy)}
      svg={() =>
        timelineSvg(
          title,
          data,
          state.rows,
          { fromMs: ms(fromS), toMs: ms(toS) },
          figure.current?.querySelector<HTMLCanvasElement>(".timeline-rows canvas") ?? null,
        )
      }
    >
      <div class="row">
        {select}
        <Choice
          title="Colour"
          value={isByWait ? "wait" : "job"}
          options={[
            ["wait", "by wait"],
            ["job", "by job"],
          ]}
          onChoose={(colour) => setQuery({ colour })}
        />
      </div>
      {isByWait ? <WaitLegend colours={waits} /> : null}
      <div ref={figure}>
        <Timeline
          data={data}
          state={state}
          onState={change}
          label={title}
          jobHref={
            done.run && (({ job }) => linkTo("results", [], { ...query, tab: "longest", job: String(job) }))
          }
        />
      </div>
    </Figure>
  );
}

function firstOf(boxes: Boxes): Boxes {
  const { job, first, size, startS, endS } = boxes;
  const end = MOST_BOXES;
  return {
    job: job.subarray(0, end),
    first: first.subarray(0, end),
    size: size.subarray(0, end),
    startS: startS.subarray(0, end),
    endS: endS.subarray(0, end),
  };
}

function noteOf({ drawn, facts }: Finished, { summary }: ComparedPolicy, boxes: Boxes, all: Boxes): string {
  const since = (timeS: number) => formatDuration(timeS - facts.firstSubmitS);
  const part =
    boxes.job.length < all.job.length
      ? `${plural(boxes.job.length, "box")}es of ${formatCount(all.job.length)} are drawn at once: look at a shorter time. `
      : drawn === undefined
        ? ""
        : `The jobs around the longest queue, from ${since(drawn.fromS)} to ${since(drawn.toS)} after the first submit. `;
  const places =
    summary.gang === undefined
      ? "Jobs get the free processors with the lowest numbers."
      : "A box is where the gang was placed first; gangs that share processors are in different copies of the machine.";
  return `${part}A box is a job on consecutive processors. ${places} Times are since the first submit.`;
}

/** Each box belongs to a job, or to the stretch in which a stopped job ran. */
function timelineOf(
  { comparison, facts }: Finished,
  { schedule }: ComparedPolicy,
  { job, first, size, startS, endS }: Boxes,
  waits: readonly string[] | undefined,
): TimelineData {
  const instance = asGiven(comparison.instance, schedule);
  const ms = (timeS: number) => 1000 * (timeS - facts.firstSubmitS);
  const jobs: (TimelineJob & { readonly cpus: { first: number; end: number }[] })[] = [];
  for (let box = 0; box < job.length; box++) {
    const own = job[box];
    const cpus = { first: first[box], end: first[box] + size[box] };
    if (box > 0 && job[box - 1] === own && startS[box - 1] === startS[box]) jobs.at(-1)!.cpus.push(cpus);
    // Leaves out jobs that never started or ended.
    else if (endS[box] >= startS[box])
      jobs.push({
        job: instance.id[own],
        name: "",
        tasks: instance.size[own],
        cpus: [cpus],
        submittedMs: ms(instance.submitS[own]),
        startMs: ms(startS[box]),
        endMs: ms(endS[box]),
      });
  }
  return {
    jobs,
    cpus: instance.processors,
    clock: "elapsed",
    colour:
      waits &&
      (({ submittedMs = 0, startMs = 0 }) => rgbOf(waits[waitClass((startMs - submittedMs) / 1000)])),
  };
}

function WaitLegend({ colours: shades }: { readonly colours: readonly string[] }) {
  const texts = ["no wait", "up to 1 min", "up to 1 h", "up to 1 d", "longer"];
  return (
    <ul class="legend">
      {texts.map((text, i) => (
        <li key={text}>
          <svg width="14" height="12" aria-hidden="true">
            <rect width="14" height="12" fill={shades[i]} />
          </svg>{" "}
          {text}
        </li>
      ))}
    </ul>
  );
}

function* csvOf(
  { job: jobs, first, size, startS, endS }: Boxes,
  { comparison }: Finished,
  { schedule }: ComparedPolicy,
): Generator<readonly (string | number)[]> {
  yield ["job", "first_processor", "processors", "submit_s", "start_s", "end_s", "wait_s"];
  const { id, submitS } = comparison.instance;
  for (const [box, job] of jobs.entries()) {
    const waitS = schedule.startS[job] - submitS[job];
    yield [id[job], first[box], size[box], submitS[job], startS[box], endS[box], waitS];
  }
}

function waitClass(waitS: number): number {
  if (waitS <= 0) return 0;
  const bound = WAITS_S.findIndex((limitS) => waitS <= limitS);
  return bound < 0 ? WAITS_S.length + 1 : bound + 1;
}

function rgbOf(hexadecimal: string): readonly [number, number, number] {
  const value = Number.parseInt(hexadecimal.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}
