/** Search, filters, and what to do with the selected jobs. */

import { formatCount, plural } from "@tutti/kernel/core/format.ts";
import type { Job } from "@tutti/protocol/answers.ts";
import type { JobState } from "@tutti/protocol/states.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { useMemo, useRef } from "preact/hooks";
import { useKey } from "../../page/keys.ts";
import { address, linkTo, setQuery } from "../../page/navigation.ts";
import { Button, Choice } from "../../page/parts.tsx";
import { Actions } from "./actions.tsx";
import { FILTERS, filterOf, searchOf } from "./filter.ts";
import { selected, selectOnly } from "./selection.ts";

/** Each is one button. */
const GROUPS: readonly { readonly label: string; readonly states: readonly JobState[] }[] = [
  { label: "running", states: ["starting", "running", "ending"] },
  { label: "paused", states: ["paused"] },
  { label: "queued", states: ["queued"] },
  { label: "held", states: ["held"] },
  { label: "done", states: ["done"] },
  { label: "failed", states: ["failed"] },
  { label: "cancelled", states: ["cancelled"] },
];

interface ToolbarProps {
  /** All jobs that the page knows. */
  readonly all: readonly Job[];
  /** The jobs that the filters select. */
  readonly list: readonly Job[];
  /** Number of ended jobs that the page does not keep. */
  readonly older: number;
}

export function Toolbar({ all, list, older }: ToolbarProps) {
  const search = useRef<HTMLInputElement>(null);
  useKey("/", "search jobs by name or number", () => search.current?.focus());
  const { query } = address.value;
  const { states } = filterOf(query);
  const isFiltered = FILTERS.some((name) => query[name] !== undefined);
  const chosen = selected.value.size === 0 ? [] : all.filter(({ job }) => selected.value.has(job));
  return (
    <>
      <div class="row filters">
        <input
          ref={search}
          type="search"
          aria-label="Name or number"
          placeholder="Name, sim*, or 3-9,12"
          value={query.number ?? query.name ?? ""}
          onInput={({ currentTarget }) => setQuery(searchOf(currentTarget.value))}
          onKeyDown={(event) => {
            if (event.key === "Escape" || event.key === "Enter") search.current?.blur();
          }}
        />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a line */}
        <div role="group" aria-label="States" class="chips">
          {GROUPS.map((group) => {
            const isPressed = group.states.every((state) => states.includes(state));
            const rest = states.filter((state) => !group.states.includes(state));
            const next = isPressed ? rest : [...rest, ...group.states];
            return (
              <Button
                key={group.label}
                aria-pressed={isPressed}
                onClick={() => setQuery({ state: next.join(",") }, true)}
              >
                {group.label}
              </Button>
            );
          })}
        </div>
        <Values name="user" all={all} of={({ user }) => user} />
        <Values name="queue" all={all} of={({ queue }) => queue} />
        {isFiltered ? <Button onClick={showAll}>Show all</Button> : null}
        <span class="muted push">
          {isFiltered
            ? `${formatCount(list.length)} of ${plural(all.length, "job")}`
            : plural(all.length, "job")}
          {older === 0 ? null : (
            <>
              {" "}
              shown; {formatCount(older)} older in <a href={linkTo("history")}>History</a>
            </>
          )}
        </span>
      </div>
      {chosen.length === 0 ? null : (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be in a line
        <div class="row bulk" role="group" aria-label="Selected jobs">
          <strong role="status">{formatCount(chosen.length)} selected</strong>
          <Actions jobs={chosen} onDone={() => selectOnly([])} />
          <Button onClick={() => selectOnly([])}>Select none</Button>
        </div>
      )}
    </>
  );
}

/** Removes all filters. */
export function showAll(): void {
  setQuery(Object.fromEntries(FILTERS.map((name) => [name, ""])), true);
}

interface ValuesProps {
  readonly name: "user" | "queue";
  readonly all: readonly Job[];
  readonly of: (job: Job) => string;
}

/** Offered only if there is a choice. */
function Values({ name, all, of }: ValuesProps) {
  const chosen = address.value.query[name];
  const known = useMemo(() => {
    const found = new Set<string>();
    for (const job of all) found.add(of(job));
    return found;
  }, [all]);
  const values = new Set(known);
  if (values.size < 2 && chosen === undefined) return null;
  if (chosen !== undefined) values.add(chosen);
  return (
    <Choice
      label={name}
      value={chosen ?? ""}
      options={[
        ["", `any ${name}`],
        ...[...values].sort().map((value) => [value, visibleLine(value)] as const),
      ]}
      onChoose={(value) => setQuery({ [name]: value }, true)}
    />
  );
}
