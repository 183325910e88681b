/** Submits a job, where the administrator allows it, and shows the same as a command line. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import type { Job, JobsAnswer } from "@tutti/protocol/answers.ts";
import { fieldsWith, JOB_FIELDS } from "@tutti/protocol/job-fields.ts";
import type { SubmitJob } from "@tutti/protocol/requests.ts";
import { quoted, wordsOf } from "@tutti/words/command-line.ts";
import { optionText } from "@tutti/words/job-fields.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useState } from "preact/hooks";
import { Dialog } from "../../page/dialog.tsx";
import { goTo } from "../../page/navigation.ts";
import { Choice, Tick } from "../../page/parts.tsx";
import { ask } from "../client.ts";
import { status } from "../store.ts";
import { Field, JobFields, JobForm } from "./job-fields.tsx";
import {
  type JobTexts,
  NO_TEXTS,
  type Problems,
  problemsOf,
  readTexts,
  type Texts,
  textsOf,
} from "./job-request.ts";

/** A page has no environment to pass on. */
const PATH = "/usr/local/bin:/usr/bin:/bin";

interface Fields extends Texts {
  readonly command: string;
  readonly isForShell: boolean;
  readonly tasksRun: TasksRun;
  readonly mpi: string;
  readonly cwd: string;
}

type TasksRun = NonNullable<Job["tasksRun"]>;

type Draft = JobTexts & Pick<Job, "command" | "tasksRun" | "mpi" | "cwd">;

interface SubmitDialogProps {
  /** A job to begin with. */
  readonly like?: Draft;
  readonly onClose: () => void;
}

export function SubmitDialog({ like, onClose }: SubmitDialogProps) {
  const [fields, setFields] = useState<Fields>(() => fieldsOf(like, Date.now()));
  const [problems, setProblems] = useState<Problems>({});
  const [key] = useState(() => crypto.randomUUID());
  const change = (more: Partial<Fields>) => setFields({ ...fields, ...more });
  const { job, problems: unreadable } = jobOf(fields, Date.now());
  const [first] = Object.entries(unreadable);
  // As long as nothing was typed, an example shows more than a complaint.
  const isExample = fields.command === "";
  const submit = async () => {
    setProblems(unreadable);
    if (first !== undefined) return;
    try {
      const body = { jobs: [job], key };
      const answer = await ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
      onClose();
      goTo("jobs", [String(answer.jobs[0].job)]);
    } catch (error) {
      const message = messageOf(error);
      setProblems(problemsOf(message, [...Object.keys(NO_TEXTS), "command", "cwd"]));
    }
  };
  return (
    <Dialog title="Submit a job" onClose={onClose}>
      <JobForm
        problems={problems}
        labels={["Submit", "Do not submit"]}
        onSubmit={() => void submit()}
        onClose={onClose}
      >
        <Field
          name="command"
          label="Command"
          problems={problems}
          rows={3}
          required
          value={fields.command}
          onText={(command) => change({ command })}
        />
        <Tick class="wide" isOn={fields.isForShell} onTick={(isForShell) => change({ isForShell })}>
          Run it with a shell: variables, pipes and * work
        </Tick>
        <Field
          name="cwd"
          label="Working directory"
          problems={problems}
          required
          pattern="/.*"
          title="A path that begins with /"
          value={fields.cwd}
          onText={(cwd) => change({ cwd })}
        />
        <JobFields texts={fields} problems={problems} anyQueue="chosen by the scheduler" onChange={change} />
        {status.value?.tasksRunEach ? <TasksRunFields fields={fields} change={change} /> : null}
        <p class="muted wide">
          The job gets no variables of your shell; PATH is {PATH}. On the command line:
        </p>
        <pre class="command wide">
          {visibleLine(
            first === undefined || isExample
              ? commandLine(isExample ? { ...job, command: ["COMMAND"] } : job, fields.beginAtMs)
              : first.join(" "),
          )}
        </pre>
      </JobForm>
    </Dialog>
  );
}

interface TasksRunFieldsProps {
  readonly fields: Fields;
  readonly change: (more: Partial<Fields>) => void;
}

function TasksRunFields({ fields, change }: TasksRunFieldsProps) {
  return (
    <>
      <Choice
        title="The command runs"
        value={fields.tasksRun}
        options={[
          ["once", "once, and starts its other processes itself"],
          ["each", "once per task, on all nodes of the job"],
        ]}
        onChoose={(tasksRun) => change({ tasksRun: tasksRun as TasksRun })}
      />
      {fields.tasksRun === "each" ? (
        <label>
          Type of MPI of the tasks, such as pmix
          <input
            pattern="[A-Za-z0-9_]{1,32}"
            title="A word such as pmix"
            value={fields.mpi}
            onInput={({ currentTarget }) => change({ mpi: currentTarget.value })}
          />
        </label>
      ) : null}
    </>
  );
}

function fieldsOf(like: Draft | undefined, nowMs: number): Fields {
  const { command = [], tasksRun = "once", mpi = "", cwd = "" } = like ?? {};
  const isForShell = command.length === 3 && command[0] === "sh" && command[1] === "-c";
  return {
    ...(like === undefined ? { ...NO_TEXTS, tasks: "1" } : textsOf(like, nowMs)),
    command: isForShell ? command[2] : command.map(quoted).join(" "),
    isForShell,
    ...{ tasksRun, mpi, cwd },
  };
}

/** The request, and what is wrong with the fields. */
function jobOf(fields: Fields, nowMs: number): { readonly job: SubmitJob; readonly problems: Problems } {
  const { command, isForShell, tasksRun, mpi, cwd } = fields;
  const words = isForShell ? ["sh", "-c", command] : wordsOf(command);
  const { request, problems } = readTexts(fields, nowMs);
  const problem =
    words === undefined
      ? "has an open quote: close it, or write a backslash before it"
      : command.trim() === ""
        ? "is missing, expected the program and its arguments"
        : undefined;
  const job = {
    ...request,
    command: words ?? [],
    cwd,
    env: { PATH },
    ...(tasksRun === "each" && { tasksRun, ...(mpi !== "" && { mpi }) }),
  };
  return { job, problems: { ...(problem !== undefined && { command: problem }), ...problems } };
}

/** @param begin as it was typed */
function commandLine(job: SubmitJob, begin: string): string {
  const words = fieldsWith("option").flatMap((field) => {
    const { [field]: value } = job;
    if (value === undefined || value === "" || (field === "tasks" && value === 1)) return [];
    const text =
      field === "env" ? `PATH=${PATH}` : field === "beginAtMs" ? begin.trim() : optionText(field, value);
    return [JOB_FIELDS[field].option[1].split(/[ ,]/)[0], text];
  });
  return ["tutti", "submit", ...words, "--", ...job.command].map(quoted).join(" ");
}
