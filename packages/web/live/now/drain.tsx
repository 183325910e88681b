/** Says that the scheduler is drained, and which windows there are; administrators drain and undrain it. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import type { DrainAnswer } from "@tutti/protocol/answers.ts";
import { MAX_REASON_LENGTH } from "@tutti/protocol/limits.ts";
import { drainText } from "@tutti/words/status.ts";
import { windowText } from "@tutti/words/windows.ts";
import { useState } from "preact/hooks";
import { Dialog } from "../../page/dialog.tsx";
import { Alarm, Button, Entry } from "../../page/parts.tsx";
import { ask } from "../client.ts";
import { session } from "../session.ts";
import { status } from "../store.ts";

const WINDOWS_SHOWN = 3;

/** Nothing unless the scheduler is drained. */
export function DrainBanner() {
  const drain = status.value?.drain;
  const [problem, send] = useChange();
  if (drain === undefined) return null;
  return (
    <Alarm>
      {drainText(drain)}. Running jobs continue.{" "}
      {session.value?.isAdministrator ? (
        <Button onClick={() => send({ method: "DELETE" })}>Undrain</Button>
      ) : null}{" "}
      {problem}
    </Alarm>
  );
}

/** Times in which the machine is kept for some jobs, or for none; nothing unless there are some. */
export function WindowNotes() {
  const { windows = [] } = status.value ?? {};
  return (
    <>
      {windows.slice(0, WINDOWS_SHOWN).map((window) => (
        <p key={window.name} class="card">
          window {windowText(window)}
        </p>
      ))}
    </>
  );
}

/** Nothing for users who may not drain, and while the scheduler is drained. */
export function DrainButton() {
  const [isAsking, setAsking] = useState(false);
  const [reason, setReason] = useState("");
  const [problem, send] = useChange();
  if (!session.value?.isAdministrator || status.value === undefined || status.value.drain !== undefined)
    return null;
  return (
    <section aria-label="Drain">
      <h2>Drain</h2>
      <p>
        While the scheduler is drained, nothing starts, and running jobs continue.{" "}
        <Button onClick={() => setAsking(true)}>Drain</Button>
      </p>
      <p role="status">{problem}</p>
      {isAsking ? (
        <Dialog title="Drain the scheduler?" onClose={() => setAsking(false)}>
          <p>Nothing starts until it is undrained, not even after a restart. Running jobs continue.</p>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              setAsking(false);
              void send({ method: "PUT", body: reason === "" ? {} : { reason } });
            }}
          >
            <p>
              <Entry
                title="Reason, which all users see"
                maxLength={MAX_REASON_LENGTH}
                value={reason}
                onText={setReason}
              />
            </p>
            <div class="row">
              <button type="submit" class="primary">
                Drain the scheduler
              </button>
              <Button onClick={() => setAsking(false)}>Leave as is</Button>
            </div>
          </form>
        </Dialog>
      ) : null}
    </section>
  );
}

/** Sends a change; its event updates the status. @returns why the last change failed, and what sends one */
function useChange() {
  const [problem, setProblem] = useState("");
  const send = async (how: { readonly method: string; readonly body?: object }) => {
    try {
      await ask<DrainAnswer>("/v1/drain", how);
      setProblem("");
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return [problem, send] as const;
}
