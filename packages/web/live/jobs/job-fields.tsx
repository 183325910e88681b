/** The fields that the dialogs of submit and change have in common. What is wrong is said at the field. */

import type { StatusAnswer } from "@tutti/protocol/answers.ts";
import { JOB_FIELDS, type JobField } from "@tutti/protocol/job-fields.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Alarm, Button, Choice } from "../../page/parts.tsx";
import { queues, status } from "../store.ts";
import { FORM_FIELDS, type Problems, type Texts } from "./job-request.ts";

/** What a field accepts. */
interface Accepts {
  readonly type?: "number";
  readonly min?: number;
  readonly maxLength?: number;
  readonly required?: boolean;
  readonly pattern?: string;
  readonly title?: string;
  /** Examples. */
  readonly placeholder?: string;
}

interface FieldProps extends Accepts {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly problems: Problems;
  readonly onText: (text: string) => void;
  /** More than one line. */
  readonly rows?: number;
}

export function Field({ name, label, problems, onText, rows, ...accepts }: FieldProps) {
  const problem = problems[name];
  const attributes = {
    ...accepts,
    id: `field-${name}`,
    spellcheck: false,
    "aria-invalid": problem !== undefined,
    "aria-describedby": problem === undefined ? undefined : `${name}-problem`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onText(currentTarget.value),
  };
  return (
    <div class={rows === undefined ? "" : "wide"}>
      <label for={attributes.id}>
        {label}
        {rows === undefined ? (
          <input {...(attributes as object)} />
        ) : (
          <textarea rows={rows} {...attributes} />
        )}
      </label>
      {problem === undefined ? null : (
        <p id={`${name}-problem`} role="alert" class="alarm">
          {visibleLine(problem)}
        </p>
      )}
    </div>
  );
}

interface JobFieldsProps {
  readonly texts: Texts;
  readonly problems: Problems;
  readonly onChange: (more: Partial<Texts>) => void;
  /** What an empty queue means. */
  readonly anyQueue: string;
  /** Whether a job has started: only its name and its retries can change. */
  readonly hasStarted?: boolean;
  /** What the job has now: the fields show it where they are empty. */
  readonly now?: Texts | undefined;
}

export function JobFields({ texts, problems, onChange, anyQueue, hasStarted = false, now }: JobFieldsProps) {
  const { resources } = status.value ?? {};
  return (
    <>
      {FORM_FIELDS.map((name) => {
        const { kind, min = 0, max = 0, changes, form }: JobField = JOB_FIELDS[name];
        const [label = name, example = ""] = form ?? [];
        if (hasStarted && changes !== "always") return null;
        if (name === "queue")
          return <QueueField key={name} value={texts.queue} anyQueue={anyQueue} onChange={onChange} />;
        if (kind === "use" && resources === undefined) return null;
        return (
          <Field
            key={name}
            {...(kind === "count" ? { type: "number", min } : kind === "text" ? { maxLength: max } : {})}
            placeholder={visibleLine(now?.[name] || example)}
            name={name}
            label={kind === "use" && resources !== undefined ? resourcesLabel(label, resources) : label}
            problems={problems}
            value={texts[name]}
            onText={(text) => onChange({ [name]: text })}
          />
        );
      })}
    </>
  );
}

interface QueueFieldProps extends Pick<JobFieldsProps, "anyQueue" | "onChange"> {
  readonly value: string;
}

function QueueField({ value, anyQueue, onChange }: QueueFieldProps) {
  return (
    <Choice
      title={JOB_FIELDS.queue.form[0]}
      value={value}
      options={queueOptions(anyQueue)}
      onChoose={(queue) => onChange({ queue })}
    />
  );
}

/** @param any what it means that none is chosen */
export function queueOptions(any: string): (readonly [string, string])[] {
  return [["", any], ...queues.value.map(({ name }) => [name, visibleLine(name)] as const)];
}

/** Such as `Resources, of 4 gpu, 3 licence`. */
function resourcesLabel(label: string, resources: NonNullable<StatusAnswer["resources"]>): string {
  const all = resources.map(({ name, units }) => `${units.length} ${visibleLine(name)}`).join(", ");
  return `${label}, of ${all}`;
}

interface JobFormProps {
  readonly problems: Problems;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Of the two buttons. */
  readonly labels: readonly [submit: string, leave: string];
  readonly children: ComponentChildren;
}

/** A form that goes to the first field with a problem. */
export function JobForm({ problems, onSubmit, onClose, labels: [submit, leave], children }: JobFormProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problems]);
  return (
    <form
      ref={form}
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <Alarm class="wide">{visibleLine(problems[""] ?? "")}</Alarm>
      <div class="row wide">
        <button type="submit" class="primary">
          {submit}
        </button>
        <Button onClick={onClose}>{leave}</Button>
      </div>
    </form>
  );
}
