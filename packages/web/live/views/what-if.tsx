/** What would happen with another job, with fewer CPUs or under another policy. It changes nothing. */
import { messageOf } from "@tutti/kernel/core/errors.ts";
import "../what-if/what-if.css";
import { formatCount } from "@tutti/kernel/core/format.ts";
import type { WhatIfAnswer } from "@tutti/protocol/forecasts.ts";
import type { WhatIfBody } from "@tutti/protocol/requests.ts";
import { rangesText } from "@tutti/words/expected.ts";
import { pastErrorText } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { changesText, hypotheticalText } from "@tutti/words/what-if.ts";
import { useMemo, useState } from "preact/hooks";
import { useKey } from "../../page/keys.ts";
import { address, setQuery } from "../../page/navigation.ts";
import { Alarm, Button, Choice, Entry } from "../../page/parts.tsx";
import { panned, type Stretch, timeScale, zoomed } from "../../timeline/scale.ts";
import { queryOf, readState } from "../../timeline/state.ts";
import { useAsked } from "../asked.ts";
import { queueOptions } from "../jobs/job-fields.tsx";
import { SubmitDialog } from "../jobs/submit.tsx";
import { jobs, matrix, status } from "../store.ts";
import { compare } from "../what-if/compared.ts";
import { DifferenceTable } from "../what-if/differences.tsx";
import { ComparePicture } from "../what-if/picture.tsx";
import {
  bodyOf,
  type Fields,
  jobOptions,
  NO_FIELDS,
  readFields,
  submitLine,
  whatIfLine,
} from "../what-if/question.ts";

export function WhatIf() {
  const fields = readFields(address.value.query);
  const [body, unreadable] = readBody(fields);
  // Without a change, the present policy shows the queue as it is.
  const present = matrix.value?.answer.policy;
  const asked = body ?? (present === undefined || unreadable !== "" ? undefined : { policies: [present] });
  const { answer, question, problem, isAsking } = useAsked<WhatIfAnswer>(
    asked === undefined ? undefined : { path: "/v1/whatif", body: asked },
  );
  const message = unreadable || (body === undefined ? "" : problem);
  // The answer to a former question must not be taken for the answer to this one.
  const isCurrent = answer !== undefined && JSON.stringify(question?.body) === JSON.stringify(asked);
  return (
    <>
      <h1>What if</h1>
      <div class="what-if">
        <QuestionForm fields={fields} />
        <div>
          <Alarm>{message}</Alarm>
          {asked === undefined || body !== undefined ? null : (
            <p>
              This is the queue as it is. Change something: a job that you might submit, fewer CPUs, or
              another policy. The page shows when each job would start, and changes nothing.
            </p>
          )}
          {isCurrent && unreadable === "" ? (
            <Outcome answer={answer} fields={fields} isChanged={body !== undefined} />
          ) : message === "" || isAsking ? (
            <p class="muted" role="status">
              Simulating
            </p>
          ) : null}
        </div>
      </div>
    </>
  );
}

function readBody(fields: Fields): readonly [WhatIfBody | undefined, string] {
  try {
    return [bodyOf(fields), ""];
  } catch (error) {
    return [undefined, messageOf(error)];
  }
}

function QuestionForm({ fields }: { readonly fields: Fields }) {
  const change = (changes: Partial<Fields>) => setQuery({ ...changes, range: "" });
  const { cpus = 1, resources } = status.value ?? {};
  const number = { type: "number", min: 1, max: cpus } as const;
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend>A job that I might submit</legend>
        <Entry title="Tasks" {...number} value={fields.tasks} onText={(tasks) => change({ tasks })} />
        {resources === undefined ? null : (
          <Entry
            title={`Resources, such as ${visibleLine(resources[0].name)}:1`}
            spellcheck={false}
            value={fields.use}
            onText={(use) => change({ use })}
          />
        )}
        <Entry
          title="Threads of each task"
          {...number}
          value={fields.threads}
          onText={(threads) => change({ threads })}
        />
        <Entry
          title="Limit, such as 90s, 10m or 2h"
          value={fields.limit}
          onText={(limit) => change({ limit })}
        />
        <Choice
          title="Queue"
          value={fields.queue}
          options={queueOptions("chosen by the scheduler")}
          onChoose={(queue) => change({ queue })}
        />
      </fieldset>
      <fieldset>
        <legend>The machine</legend>
        <Entry
          title={`CPUs fewer, of ${formatCount(cpus)}`}
          {...number}
          max={Math.max(1, cpus - 1)}
          value={fields.without}
          onText={(without) => change({ without })}
        />
        <Entry
          title="Another policy, such as easy or gang"
          spellcheck={false}
          value={fields.policy}
          onText={(policy) => change({ policy })}
        />
      </fieldset>
      <Button onClick={() => setQuery({ ...NO_FIELDS, range: "" }, true)}>As it is</Button>
    </form>
  );
}

interface OutcomeProps {
  readonly answer: WhatIfAnswer;
  readonly fields: Fields;
  /** false: the answer shows the queue as it is. */
  readonly isChanged: boolean;
}

function Outcome({ answer, fields, isChanged }: OutcomeProps) {
  const [policy] = answer.policies;
  const { changes, hypothetical = [] } = policy;
  const compared = useMemo(() => compare(policy, jobs, answer.atMs), [policy, answer.atMs]);
  const everything = useMemo(
    () => futureOf([compared.before, compared.after], answer.atMs),
    [compared, answer.atMs],
  );
  const { range: shown = everything, pinned } = readState(address.value.query);
  const show = (range: Stretch) => setQuery(queryOf({ range }));
  const scale = timeScale(shown.fromMs, shown.toMs, 1000);
  useKey("w", "zoom in", () => show(zoomed(scale, 0.7, 500)));
  useKey("s", "zoom out", () => show(zoomed(scale, 1 / 0.7, 500)));
  useKey("a", "show earlier times", () => show(panned(scale, -200)));
  useKey("d", "show later times", () => show(panned(scale, 200)));
  useKey("f", "fit everything", () => setQuery({ range: "" }));
  const past = pastErrorText(policy).trimEnd();
  const why = rangesText(policy.jobs);
  return (
    <>
      {isChanged ? (
        <p class="lead" role="status">
          {changes === undefined ? "This changes nothing." : changesText(changes)}
        </p>
      ) : null}
      {hypothetical.map((forecast, i) => (
        <p key={i}>{hypotheticalText(jobOptions(fields), forecast, answer.atMs)}</p>
      ))}
      {why === "" ? null : <p class="muted">Times are {why}.</p>}
      {past === "" ? null : <p class="muted">{past}</p>}
      <ComparePicture
        {...{ ...compared, shown, pinned }}
        onShow={show}
        onPin={(job) => setQuery(queryOf({ pinned: job }))}
      />
      <DifferenceTable differences={compared.differences} pinned={pinned} />
      <h2>The same on the command line</h2>
      <CommandLine text={isChanged ? whatIfLine(fields) : "tutti whatif"} />
      {hypothetical.length === 0 ? null : <SubmitIt fields={fields} />}
    </>
  );
}

/** From shortly before now to the last expected end. */
function futureOf(
  data: readonly { readonly jobs: readonly { readonly expectedEnd?: { readonly p90Ms: number } }[] }[],
  atMs: number,
): Stretch {
  const toMs = data
    .flatMap(({ jobs: own }) => own)
    .reduce((last, { expectedEnd }) => Math.max(last, expectedEnd?.p90Ms ?? 0), atMs + 60_000);
  const margin = (toMs - atMs) * 0.05;
  return { fromMs: atMs - 2 * margin, toMs: toMs + margin };
}

function CommandLine({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="row">
      <pre>{visibleLine(text)}</pre>
      <Button onClick={() => void copy()}>{isCopied ? "Copied" : "Copy"}</Button>
    </div>
  );
}

function SubmitIt({ fields }: { readonly fields: Fields }) {
  const [isOpen, setOpen] = useState(false);
  const { jobs: [job] = [] } = bodyOf(fields) ?? {};
  if (!(status.value?.web?.submit ?? false))
    return (
      <>
        <h2>Submit it</h2>
        <CommandLine text={submitLine(fields)} />
      </>
    );
  const draft = {
    command: [],
    name: "",
    cwd: "",
    queue: fields.queue,
    tasks: job?.tasks ?? 1,
    ...(job?.threads && { threads: job.threads }),
  };
  return (
    <>
      <p>
        <Button class="primary" onClick={() => setOpen(true)}>
          Submit it
        </Button>
      </p>
      {isOpen ? (
        <SubmitDialog
          like={{ ...draft, use: job?.use, limitMs: job?.limitMs }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
