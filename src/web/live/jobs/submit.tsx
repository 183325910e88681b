/** Submits a job, where the administrator allows it, and shows the same as a command line. */
import { useState } from "preact/hooks";
import type { Job, JobsAnswer } from "../../../protocol/answers.ts";
import { MAX_NAME_LENGTH, MAX_TASKS } from "../../../protocol/limits.ts";
import type { SubmitJob } from "../../../protocol/requests.ts";
import { quoted, secondsOf, wordsOf } from "../../../words/command-line.ts";
import { visibleLine } from "../../../words/visible.ts";
import { Dialog } from "../../page/dialog.tsx";
import { goTo } from "../../page/navigation.ts";
import { ask } from "../client.ts";
import { queues } from "../store.ts";

/** A page has no environment to pass on. */
const PATH = "/usr/local/bin:/usr/bin:/bin";

interface Fields {
  readonly command: string;
  readonly isForShell: boolean;
  readonly tasks: number;
  readonly limit: string;
  readonly queue: string;
  readonly name: string;
  readonly cwd: string;
}

type Draft = Pick<Job, "command" | "tasks" | "limitMs" | "queue" | "name" | "cwd">;

interface SubmitDialogProps {
  /** A job to begin with. */
  readonly like?: Draft;
  readonly onClose: () => void;
}

export function SubmitDialog({ like, onClose }: SubmitDialogProps) {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(like));
  const [problem, setProblem] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const change = (more: Partial<Fields>) => setFields({ ...fields, ...more });
  const job = jobOf(fields);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (typeof job === "string") {
      setProblem(job);
      return;
    }
    try {
      const body = { jobs: [job], key };
      const answer = await ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
      onClose();
      goTo("jobs", [String(answer.jobs[0].job)]);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title="Submit a job" onClose={onClose}>
      <form class="fields" onSubmit={submit}>
        <label>
          Command
          <textarea
            rows={3}
            required
            spellcheck={false}
            value={fields.command}
            onInput={({ currentTarget }) => change({ command: currentTarget.value })}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={fields.isForShell}
            onChange={({ currentTarget }) => change({ isForShell: currentTarget.checked })}
          />
          Run it with a shell: variables, pipes and * work
        </label>
        <label>
          Tasks, each on its own CPU
          <input
            type="number"
            required
            min={1}
            max={MAX_TASKS}
            value={fields.tasks}
            onInput={({ currentTarget }) => change({ tasks: currentTarget.valueAsNumber })}
          />
        </label>
        <label>
          Limit on running time, such as 90s, 10m or 2h
          <input
            value={fields.limit}
            onInput={({ currentTarget }) => change({ limit: currentTarget.value })}
          />
        </label>
        <label>
          Queue
          <select
            value={fields.queue}
            onChange={({ currentTarget }) => change({ queue: currentTarget.value })}
          >
            <option value="">chosen by the scheduler</option>
            {queues.value.map(({ name }) => (
              <option key={name} value={name}>
                {visibleLine(name)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Name
          <input
            maxLength={MAX_NAME_LENGTH}
            value={fields.name}
            onInput={({ currentTarget }) => change({ name: currentTarget.value })}
          />
        </label>
        <label>
          Working directory
          <input
            required
            pattern="/.*"
            title="A path that begins with /"
            value={fields.cwd}
            onInput={({ currentTarget }) => change({ cwd: currentTarget.value })}
          />
        </label>
        <p class="muted">The job gets no variables of your shell; PATH is {PATH}. On the command line:</p>
        <pre class="command">{typeof job === "string" ? job : visibleLine(commandLine(job))}</pre>
        {problem === "" ? null : (
          <p role="alert" class="alarm">
            {problem}
          </p>
        )}
        <div class="row">
          <button type="submit" class="primary">
            Submit
          </button>
          <button type="button" onClick={onClose}>
            Do not submit
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function fieldsOf(like: Draft | undefined): Fields {
  const isForShell = like?.command.length === 3 && like.command[0] === "sh" && like.command[1] === "-c";
  return {
    command: like === undefined ? "" : isForShell ? like.command[2] : like.command.map(quoted).join(" "),
    isForShell,
    tasks: like?.tasks ?? 1,
    limit: like?.limitMs === undefined ? "" : `${like.limitMs / 1000}s`,
    queue: like?.queue ?? "",
    name: like?.name ?? "",
    cwd: like?.cwd ?? "",
  };
}

/** The request, or what is wrong with the fields. */
function jobOf({ command, isForShell, tasks, limit, queue, name, cwd }: Fields): SubmitJob | string {
  const words = isForShell ? ["sh", "-c", command] : wordsOf(command);
  if (words === undefined) return "The command has an open quote: close it, or write a backslash before it.";
  if (command.trim() === "" || words.length === 0) return "Write the command that the job runs.";
  if (!(Number.isSafeInteger(tasks) && tasks >= 1 && tasks <= MAX_TASKS))
    return `The number of tasks is a whole number from 1 to ${MAX_TASKS}.`;
  if (!cwd.startsWith("/")) return "Write the working directory as a path that begins with /.";
  const seconds = secondsOf(limit);
  if (limit.trim() !== "" && !(seconds > 0)) return "The limit is not a duration such as 90s, 10m or 2h.";
  return {
    command: words,
    tasks,
    cwd,
    env: { PATH },
    ...(limit.trim() !== "" && { limitMs: Math.max(1, Math.round(seconds * 1000)) }),
    ...(queue !== "" && { queue }),
    ...(name !== "" && { name }),
  };
}

function commandLine({ command, tasks = 1, limitMs, queue, name, cwd }: SubmitJob): string {
  const options = [
    ...(tasks === 1 ? [] : ["-n", String(tasks)]),
    ...(limitMs === undefined ? [] : ["-t", `${limitMs / 1000}s`]),
    ...(queue === undefined ? [] : ["-q", queue]),
    ...(name === undefined ? [] : ["-J", name]),
    ...["-D", cwd, "--env", `PATH=${PATH}`],
  ];
  return ["tutti", "submit", ...options, "--", ...command].map(quoted).join(" ");
}
