/** Where the jobs are from: a file or a model; then what they are like. */

import { describeWorkload } from "@tutti/kernel/workload/describe.ts";
import { diagnosticText, SPREAD_HEADINGS, spreadRows, workloadSentences } from "@tutti/lab/jobs-in-words.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKey } from "../../page/keys.ts";
import { Alarm, Button, TextTable } from "../../page/parts.tsx";
import { ScatterChart } from "../charts/scatter.tsx";
import type { OpenedJobs } from "../messages.ts";
import { settingOf } from "../settings.ts";
import { experiment, openFile, source, stopReading } from "../state.ts";
import { ModelForm } from "./model-form.tsx";

export function JobsPanel() {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useKey("o", "choose a trace", () => input.current?.click());
  useDropAnywhere(setOver);
  return (
    <section class="card" aria-labelledby="jobs-heading">
      <h2 id="jobs-heading">1. Jobs</h2>
      <label class={isOver ? "drop over" : "drop"}>
        <strong>Drop a trace here, or choose a file</strong>
        <span class="muted">
          SWF, output of sacct --parsable2, or Batsim JSON; plain or .gz. Or an experiment that you saved
        </span>
        <input
          ref={input}
          type="file"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? [];
            if (file !== undefined) void openFile(file);
            // The same file can be chosen again.
            currentTarget.value = "";
          }}
        />
        <span class="muted">It stays on this machine: the page sends nothing.</span>
      </label>
      <ModelForm />
      <SourceState />
    </section>
  );
}

/** A file may be dropped anywhere: otherwise the browser would leave the page and show the file. */
function useDropAnywhere(setOver: (isOver: boolean) => void): void {
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      const [file] = event.dataTransfer?.files ?? [];
      if (file !== undefined) void openFile(file);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [setOver]);
}

function SourceState() {
  const now = source.value;
  const { jobs } = experiment.value;
  switch (now.state) {
    case "none":
      return <p class="muted">No jobs yet.</p>;
    case "wanted":
      return jobs === undefined || "model" in jobs ? null : (
        <p role="status" class="alarm">
          This link is about the file <strong>{jobs.file.name}</strong> ({jobs.file.bytes} bytes
          {jobs.file.sha256 === undefined ? "" : `, SHA-256 ${jobs.file.sha256.slice(0, 12)}…`}). It is on the
          machine of whoever made the link, or on yours. Choose it, and the page compares it.
        </p>
      );
    case "reading":
      return (
        <>
          <p role="status">
            Reading {now.name} <progress value={now.share} aria-label="share of the file that is read" />{" "}
            <Button onClick={stopReading}>Stop</Button>
          </p>
          {now.beginning === undefined ? null : (
            <ScatterChart jobs={now.beginning} title={`The first jobs of ${now.name}`} />
          )}
        </>
      );
    case "failed":
      return <Alarm>{now.message}</Alarm>;
    case "open":
      return <JobsFacts opened={now.opened} />;
  }
}

function JobsFacts({ opened }: { readonly opened: OpenedJobs }) {
  const { workload, hash, ms } = opened;
  const processors = settingOf(experiment.value.settings, "processors");
  const facts = describeWorkload(workload, processors === "" ? undefined : Number(processors));
  return (
    <div class="known">
      <h3>{workload.name}</h3>
      {workload.diagnostics.length === 0 ? (
        <p>Nothing was repaired or left out.</p>
      ) : (
        <ul class="diagnostics">
          {workload.diagnostics.map((diagnostic) => (
            <li key={diagnostic.code} class={diagnostic.action}>
              {diagnosticText(diagnostic)}
            </li>
          ))}
        </ul>
      )}
      {workloadSentences(facts).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <div class="scroll">
        <TextTable
          titles={[<span class="visually-hidden">quantity</span>, ...SPREAD_HEADINGS]}
          rows={spreadRows(facts)}
        />
      </div>
      <ScatterChart jobs={workload.jobs} title="When jobs were submitted" />
      <p class="muted">
        workload <code data-workload-hash={hash}>{hash}</code>, ready after {ms.toFixed(0)} ms
      </p>
    </div>
  );
}
