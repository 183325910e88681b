/** Above every view: runs the experiment, shows how far it is, and gives away what it is. */
import { useEffect, useState } from "preact/hooks";
import { useKey } from "../../page/keys.ts";
import { address, goTo, setQuery } from "../../page/navigation.ts";
import { Alarm, Button } from "../../page/parts.tsx";
import { saveFile } from "../../page/save.ts";
import { commandLine, experimentData } from "../experiment.ts";
import { isOwn } from "../own/messages.ts";
import { cancel, experiment, finished, problems, run, source, start } from "../state.ts";
import { Progress } from "./progress.tsx";

/** Views that have buttons of their own to run something. */
const OWN_RUNS = ["papers", "turns"];

export function RunBar() {
  if (OWN_RUNS.includes(address.value.view) && run.value.state !== "running")
    return (
      <span class="push row">
        <CopyLink />
      </span>
    );
  return <ExperimentBar />;
}

function ExperimentBar() {
  const now = run.value;
  const isReady = source.value.state === "open";
  const [problem] = problems.value;
  const runAll = async () => {
    if (now.state === "running") return;
    const before = finished.peek();
    await start();
    if (finished.peek() !== before) goTo("results", [], {});
  };
  const isAsked = address.value.query.run !== undefined;
  useEffect(() => {
    if (!isAsked || !isReady) return;
    setQuery({ run: "" });
    // A link can ask for a run, but not for one of code that the user has not seen.
    if (!experiment.peek().policies.some(isOwn)) void start();
  }, [isAsked, isReady]);
  useKey("x", "run the experiment, or cancel it", () =>
    run.peek().state === "running" ? cancel() : void runAll(),
  );
  return (
    <>
      {now.state === "running" ? (
        <>
          <Button onClick={cancel}>Cancel</Button>
          <Progress
            share={now.shares.reduce((sum, one) => sum + one, 0) / Math.max(1, now.shares.length)}
            done={now.shares.filter((one) => one === 1).length}
            of={now.shares.length}
            fromMs={now.fromMs}
          />
        </>
      ) : (
        <Button class="primary" disabled={!isReady || problem !== undefined} onClick={runAll}>
          Run
        </Button>
      )}
      {now.state === "running" ? null : (
        <span
          role="status"
          class={problem === undefined && source.value.state !== "failed" ? "muted" : "wrong"}
        >
          {problem ?? jobsProblem()}
        </span>
      )}
      {now.state === "failed" ? <Alarm>{now.message}</Alarm> : null}
      <span class="push row">
        <CopyLink />
        <CopyButton label="Copy the command line" text={() => commandLine(experiment.peek())} />
        <Button
          onClick={() =>
            saveFile(
              "experiment.tutti.json",
              [`${JSON.stringify(experimentData(experiment.peek()), null, 2)}\n`],
              "application/json",
            )
          }
        >
          Save
        </Button>
      </span>
    </>
  );
}

/** Why there are no jobs to run; empty if there are. */
function jobsProblem(): string {
  const now = source.value;
  switch (now.state) {
    case "none":
      return "Choose jobs first.";
    case "wanted":
      return "Choose the file of the link first.";
    case "reading":
      return "Reading the jobs.";
    case "failed":
      return now.message;
    case "open":
      return "";
  }
}

function CopyLink() {
  return <CopyButton label="Copy the link" text={() => location.href} />;
}

function CopyButton({ label, text }: { readonly label: string; readonly text: () => string }) {
  const [state, setState] = useState("");
  const [shown, setShown] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setState("copied");
      setShown("");
    } catch {
      // A page that is opened from a file may not write to the clipboard.
      setShown(text());
    }
    setTimeout(() => setState(""), 2000);
  };
  return (
    <>
      <Button onClick={copy}>
        {label}
        <span role="status">{state === "" ? "" : " ✓"}</span>
      </Button>
      {shown === "" ? null : (
        <input readOnly value={shown} aria-label={label} ref={(element) => element?.select()} />
      )}
    </>
  );
}
