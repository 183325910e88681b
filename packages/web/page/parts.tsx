/** Parts that many views have: buttons, choices, faults, lists, and tables of texts. */
import type { ComponentChildren, ComponentProps } from "preact";

/** Without `type`, a button submits nothing. */
export function Button(attributes: ComponentProps<"button">) {
  return <button type="button" {...attributes} />;
}

/** Something that the user must know; nothing if there is no text. */
export function Alarm({
  children,
  class: look = "",
}: {
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  if (children === "" || children === undefined) return null;
  return (
    <p role="alert" class={`alarm ${look}`.trim()}>
      {children}
    </p>
  );
}

interface ChoiceProps {
  /** The text next to it; without one, `label` says what is chosen. */
  readonly title?: string;
  readonly label?: string;
  readonly value: string;
  readonly options: Iterable<readonly [value: string, text: string]>;
  readonly onChoose: (value: string) => void;
}

export function Choice({ title, label, value, options, onChoose }: ChoiceProps) {
  const select = (
    <select aria-label={label} value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
      {Array.from(options, ([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
  if (title === undefined) return select;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the select is in it
    <label>
      {title}
      {select}
    </label>
  );
}

interface EntryProps {
  readonly title: ComponentChildren;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly type?: "number";
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
  readonly spellcheck?: boolean;
}

/** A line of text, or a number, that the user types. */
export function Entry({ title, onText, ...attributes }: EntryProps) {
  return (
    <label>
      {title}
      <input {...(attributes as object)} onInput={({ currentTarget }) => onText(currentTarget.value)} />
    </label>
  );
}

interface TickProps {
  readonly isOn: boolean;
  readonly onTick: (isOn: boolean) => void;
  /** What it means. */
  readonly children: ComponentChildren;
  readonly class?: string;
}

export function Tick({ isOn, onTick, children, class: look }: TickProps) {
  return (
    <label class={look}>
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onTick(currentTarget.checked)} />
      {children}
    </label>
  );
}

/** Sentences or names, one below the other. */
export function Bullets({
  texts,
  class: look,
}: {
  readonly texts: readonly string[];
  readonly class?: string;
}) {
  return (
    <ul class={look}>
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

interface FactsProps {
  readonly facts: Iterable<readonly [name: string, text: ComponentChildren]>;
  readonly class?: string;
}

export function Facts({ facts, class: look }: FactsProps) {
  return (
    <dl class={look}>
      {Array.from(facts, ([name, text]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A part that scrolls sideways by itself, so that the page does not; the keyboard reaches it. */
export function Scrollable({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard could not scroll this part
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

interface HeadingsProps {
  readonly titles: readonly ComponentChildren[];
  /** Default: all columns but the first. */
  readonly isNumber?: (column: number) => boolean;
}

/** The titles of a table's columns. */
export function Headings({ titles, isNumber = (column) => column > 0 }: HeadingsProps) {
  return (
    <thead>
      <tr>
        {titles.map((title, i) => (
          <th key={i} scope="col" class={isNumber(i) ? "number" : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface TextTableProps {
  readonly titles: readonly ComponentChildren[];
  /** The first text of a row names it; the others are numbers. */
  readonly rows: readonly (readonly string[])[];
}

export function TextTable({ titles, rows }: TextTableProps) {
  return (
    <table>
      <Headings titles={titles} />
      <tbody>
        {rows.map(([first, ...values]) => (
          <tr key={first}>
            <th scope="row">{first}</th>
            {values.map((value, i) => (
              <td key={i} class="number">
                {value}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
