/** One job: its state, why it waits, when it is expected to start, its CPUs and its output. */

import { plural } from "@tutti/kernel/core/format.ts";
import type { Job, JobAnswer, WhyAnswer } from "@tutti/protocol/answers.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { jobFacts, jobName, outcomeText, stateText } from "@tutti/words/jobs.ts";
import { shareText, whySentences } from "@tutti/words/why.ts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useCalm, useNow } from "../../page/clock.ts";
import { useKey } from "../../page/keys.ts";
import { address, goTo, linkTo } from "../../page/navigation.ts";
import { Alarm, Button, Facts } from "../../page/parts.tsx";
import { useRepeated } from "../asked.ts";
import { ask } from "../client.ts";
import { connection } from "../connection.ts";
import { session } from "../session.ts";
import { changes, jobs, matrix, status } from "../store.ts";
import { Actions } from "./actions.tsx";
import { JobLog } from "./log.tsx";
import { CpuStrip, StartStrip } from "./strips.tsx";
import { SubmitDialog } from "./submit.tsx";

/** Forecasts and shares change without an event. */
const REFRESH_MS = 10_000;
const CALM_MS = 300;
const MAX_LINKS = 20;

interface Known {
  readonly job: Job;
  readonly why: WhyAnswer;
}

export function JobDrawer({ job: number }: { readonly job: number }) {
  const [known, problem] = useJob(number);
  const close = () => goTo("jobs", [], address.peek().query);
  useKey("Escape", "close the job", close);
  const job = known?.job ?? jobs.get(number);
  return (
    <aside class="drawer" aria-label={`Job ${number}`}>
      <header class="row">
        <h2>
          Job {number}
          {job === undefined ? "" : ` · ${jobName(job)}`}
        </h2>
        <Button class="push" onClick={close}>
          Close
        </Button>
      </header>
      <Alarm>{problem}</Alarm>
      {job === undefined ? null : <Details job={job} why={known?.why} />}
    </aside>
  );
}

/** The job with everything about it, loaded again whenever it changes. */
function useJob(number: number): readonly [Known | undefined, string] {
  const [known, setKnown] = useState<Known>();
  useCalm(changes, CALM_MS);
  const version = jobs.get(number);
  const isLive = connection.value === "live";
  const load = async (signal: AbortSignal) => {
    if (!isLive) return;
    const [{ job }, why] = await Promise.all([
      ask<JobAnswer>(`/v1/jobs/${number}`, { signal }),
      ask<WhyAnswer>(`/v1/jobs/${number}/why`, { signal }),
    ]);
    setKnown({ job, why });
  };
  return [known, useRepeated(load, REFRESH_MS, [number, version, isLive])];
}

function Details({ job, why }: { readonly job: Job; readonly why: WhyAnswer | undefined }) {
  const nowMs = useNow();
  const sentences = why === undefined ? [] : whySentences(why, job);
  const forecast = why?.forecast;
  const share = why === undefined ? "" : shareText(why);
  const machine = matrix.value?.answer;
  return (
    <>
      <p class="state">
        <strong>{isEnded(job.state) ? outcomeText(job) : stateText(job.state)}</strong>
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a line */}
      <div class="row" role="group" aria-label="Change the job">
        <Actions jobs={[job]} isSingle />
        <Again job={job} />
      </div>
      {sentences.length === 0 ? null : (
        <section aria-label="Why">
          <h3>{whyTitle(job)}</h3>
          <p>{sentences.join(" ")}</p>
        </section>
      )}
      {forecast === undefined ? null : <StartStrip forecast={forecast} nowMs={nowMs} />}
      {job.cpus.length === 0 || machine === undefined ? null : <CpuStrip job={job} machine={machine} />}
      {share === "" ? null : <p>{share}</p>}
      <Related job={job} />
      {job.attempt === 0 ? null : <JobLog key={job.attempt} job={job.job} />}
      <details>
        <summary>Everything about the job</summary>
        <Facts class="facts" facts={jobFacts(job)} />
      </details>
    </>
  );
}

function whyTitle({ state }: Job): string {
  if (state === "paused") return "Why it is stopped";
  return state === "running" ? "Where" : "Why it waits";
}

/** The jobs that it waits for or that wait for it, and its array. */
function Related({ job }: { readonly job: Job }) {
  const waiting = [...jobs.values()].filter(({ after }) => after.includes(job.job)).map((one) => one.job);
  return (
    <>
      <Links title="Starts after" numbers={job.after} />
      <Links title="Before" numbers={waiting} />
      {job.array === undefined ? null : (
        <p>
          <a href={linkTo("jobs", [String(job.job)], { array: String(job.array) })}>Array {job.array}</a>,
          index {job.arrayIndex}
        </p>
      )}
    </>
  );
}

function Links({ title, numbers }: { readonly title: string; readonly numbers: readonly number[] }) {
  if (numbers.length === 0) return null;
  const links: ComponentChildren[] = numbers.slice(0, MAX_LINKS).map((number) => (
    <a key={number} href={linkTo("jobs", [String(number)], address.value.query)}>
      {number}
    </a>
  ));
  return (
    <p class="links">
      {title} {links}
      {numbers.length > MAX_LINKS ? ` and ${plural(numbers.length - MAX_LINKS, "more job")}` : ""}
    </p>
  );
}

function Again({ job }: { readonly job: Job }) {
  const [isOpen, setOpen] = useState(false);
  // Another user's command would run with the rights of the person who looks at it.
  const isOwn = job.user === session.value?.user;
  if (!isOwn || !(status.value?.web?.submit ?? false)) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Copy</Button>
      {isOpen ? <SubmitDialog like={job} onClose={() => setOpen(false)} /> : null}
    </>
  );
}
