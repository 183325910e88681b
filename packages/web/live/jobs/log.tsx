/**
 * The output of a job as it grows. It is other people's text: shown as characters, control characters made
 * visible. While the page is hidden, nothing is asked for; afterwards the end of the log is loaded again.
 */

import { VisibleStream } from "@tutti/words/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../page/parts.tsx";
import { open, RefusedError } from "../client.ts";
import { LogText } from "./log-text.ts";

type Stream = "stdout" | "stderr";

/** As much as LogText keeps. */
const TAIL_BYTES = 131_072;
/** The text is drawn at most this often. */
const DRAW_MS = 100;
const RETRY_MS = 2000;
/** This close to its end, the log stays at its end. */
const END_PX = 40;

export function JobLog({ job }: { readonly job: number }) {
  const [stream, setStream] = useState<Stream>("stdout");
  return (
    <section aria-label="Output">
      <div class="row">
        <h3>Output</h3>
        {(["stdout", "stderr"] as const).map((name) => (
          <Button key={name} aria-pressed={stream === name} onClick={() => setStream(name)}>
            {name}
          </Button>
        ))}
      </div>
      <Followed key={stream} path={`/v1/jobs/${job}/logs/${stream}`} />
      <p class="muted">
        <code>
          tutti logs {stream === "stderr" ? "--stderr " : ""}-f {job}
        </code>
      </p>
    </section>
  );
}

interface Shown {
  readonly text: string;
  readonly isCut: boolean;
  readonly remark: string;
}

const EMPTY: Shown = { text: "", isCut: false, remark: "" };

function Followed({ path }: { readonly path: string }) {
  const [{ text, isCut, remark }, setShown] = useState(EMPTY);
  const pre = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => follow(path, setShown), [path]);
  useEffect(() => {
    if (isAtEnd.current && pre.current !== null) pre.current.scrollTop = pre.current.scrollHeight;
  }, [text]);
  return (
    <>
      {isCut ? <p class="muted">Only the end is shown.</p> : null}
      <pre
        ref={pre}
        class="log"
        role="log"
        aria-label="Output of the job"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < END_PX;
        }}
      >
        {text}
      </pre>
      <p class="muted">{remark}</p>
    </>
  );
}

/** Follows a log until the function that is returned is called. */
function follow(path: string, show: (shown: Shown) => void): () => void {
  let running: AbortController | undefined;
  const adjust = () => {
    if (document.hidden) {
      running?.abort();
      running = undefined;
    } else if (running === undefined) {
      running = new AbortController();
      void read(path, show, running.signal);
    }
  };
  adjust();
  addEventListener("visibilitychange", adjust);
  return () => {
    removeEventListener("visibilitychange", adjust);
    running?.abort();
  };
}

async function read(path: string, show: (shown: Shown) => void, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const log = new LogText();
    let remark = "";
    let drawing: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      clearTimeout(drawing);
      drawing = undefined;
      if (!stop.aborted) show({ text: log.text, isCut: log.isCut, remark });
    };
    try {
      const answer = await open(`${path}?follow=1&tail=${TAIL_BYTES}`, { signal: stop });
      const bytes = new VisibleStream();
      const reader = answer.body!.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        log.add(bytes.next(value));
        drawing ??= setTimeout(draw, DRAW_MS);
      }
      log.add(bytes.end());
      remark = log.text === "" ? "The job has written nothing." : "The output has ended.";
      draw();
      return;
    } catch (error) {
      if (stop.aborted) {
        clearTimeout(drawing);
        return;
      }
      if (error instanceof RefusedError) {
        remark = error.message;
        draw();
        return;
      }
      remark = "The scheduler does not answer.";
      if (log.text !== "") draw();
      else clearTimeout(drawing);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
