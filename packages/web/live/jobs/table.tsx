/**
 * The list of jobs: a grid of which only the visible rows are drawn. The keyboard stays on the grid, which
 * names the current row (aria-activedescendant).
 */

import type { Job } from "@tutti/protocol/answers.ts";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { useNow } from "../../page/clock.ts";
import { useKey } from "../../page/keys.ts";
import { address, goTo, linkTo, setQuery } from "../../page/navigation.ts";
import { Button } from "../../page/parts.tsx";
import { useVirtualList } from "../../page/virtual-list.ts";
import { COLUMNS, type JobColumn } from "./columns.tsx";
import { anchorAt, cursor, extendTo, moveCursor, selected, selectOnly, toggle } from "./selection.ts";

/** As in style.css. */
const ROW_PX = 30;
/** More rows than any list has. */
const ALL = 1e9;

export function JobTable({ list }: { readonly list: readonly Job[] }) {
  const grid = useRef<HTMLDivElement>(null);
  const numbers = useMemo(() => list.map(({ job }) => job), [list]);
  const rows = useVirtualList(list.length, ROW_PX, grid, ROW_PX);
  const nowMs = useNow();
  const { query, rest } = address.value;
  const at = cursor.value;
  const move = (by: number, event: KeyboardEvent) => {
    if (numbers.length === 0) return;
    if (event.shiftKey && cursor.peek() !== undefined) {
      const before = cursor.peek()!;
      if (selected.peek().size === 0) anchorAt(before);
      const row = moveCursor(by, numbers);
      extendTo(numbers[row], numbers);
      rows.show(row);
    } else {
      const row = moveCursor(by, numbers);
      anchorAt(numbers[row]);
      rows.show(row);
    }
    grid.current?.focus({ preventScroll: true });
  };
  const open = (job: number) => goTo("jobs", [String(job)], query);
  const onCursor = (act: (job: number) => void) => () => {
    if (cursor.peek() !== undefined && numbers.includes(cursor.peek()!)) act(cursor.peek()!);
  };
  useKey("j", "next job", (event) => move(1, event));
  useKey("k", "previous job", (event) => move(-1, event));
  useKey("ArrowDown", "next job; with Shift, select it too", (event) => move(1, event));
  useKey("ArrowUp", "previous job; with Shift, select it too", (event) => move(-1, event));
  useKey("PageDown", "a page down", (event) => move(rows.pageRows, event));
  useKey("PageUp", "a page up", (event) => move(-rows.pageRows, event));
  useKey("Home", "first job", (event) => move(-ALL, event));
  useKey("End", "last job", (event) => move(ALL, event));
  useKey("Enter", "open the job", onCursor(open));
  useKey("x", "select the job, or no longer", onCursor(toggle));
  useKey(" ", "select the job, or no longer", onCursor(toggle));
  useKey("a", "select all jobs of the list, or none", () =>
    selectOnly(numbers.every((job) => selected.peek().has(job)) ? [] : numbers),
  );
  // A job that was opened by its link is where the keyboard continues.
  useEffect(() => {
    const opened = Number(rest[0]);
    if (opened > 0) cursor.value = opened;
  }, [rest[0]]);
  const click = (event: MouseEvent, job: number) => {
    if (event.shiftKey) {
      event.preventDefault();
      extendTo(job, numbers);
    } else if (event.ctrlKey || event.metaKey) toggle(job);
    else {
      cursor.value = job;
      anchorAt(job);
      open(job);
    }
  };
  const latestClick = useRef(click);
  latestClick.current = click;
  const onClick = useCallback((event: MouseEvent, job: number) => latestClick.current(event, job), []);
  const first = rows.items[0]?.start ?? 0;
  const elements = useElements(rows.items.map(({ index }) => numbers[index]));
  return (
    <div
      ref={grid}
      class="jobs-grid"
      role="grid"
      aria-label="Jobs"
      aria-multiselectable="true"
      aria-rowcount={list.length + 1}
      aria-colcount={COLUMNS.length + 2}
      aria-activedescendant={
        at !== undefined && rows.items.some(({ index }) => numbers[index] === at) ? rowId(at) : undefined
      }
      tabIndex={0}
    >
      <Heading sort={query.sort} numbers={numbers} />
      <div role="rowgroup" class="jobs-rows" style={{ height: `${rows.heightPx}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first}px)` }}>
          {rows.items.map(({ index }) => (
            <Row
              key={elements.get(numbers[index])}
              job={list[index]}
              index={index}
              nowMs={nowMs}
              isSelected={selected.value.has(numbers[index])}
              isAt={numbers[index] === at}
              isOpen={String(numbers[index]) === rest[0]}
              href={linkTo("jobs", [String(numbers[index])], query)}
              onClick={onClick}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/**
 * A job keeps its row's elements while it is in sight, so a click never reaches another job; a job that comes
 * into sight takes those of one that has left. Making new ones takes longer.
 */
function useElements(jobs: readonly number[]): ReadonlyMap<number, number> {
  const kept = useRef<ReadonlyMap<number, number>>(new Map());
  const made = useRef(0);
  const inSight = new Set(jobs);
  const free = [...kept.current].flatMap(([job, element]) => (inSight.has(job) ? [] : [element]));
  kept.current = new Map(jobs.map((job) => [job, kept.current.get(job) ?? free.pop() ?? made.current++]));
  return kept.current;
}

function rowId(job: number): string {
  return `job-${job}`;
}

interface HeadingProps {
  readonly sort: string | undefined;
  readonly numbers: readonly number[];
}

function Heading({ sort, numbers }: HeadingProps) {
  const chosen = selected.value;
  const areAll =
    numbers.length > 0 && chosen.size >= numbers.length && numbers.every((job) => chosen.has(job));
  return (
    <div role="rowgroup" class="jobs-head">
      <div role="row" class="jobs-row" aria-rowindex={1}>
        <span role="columnheader" class="pick">
          <input
            type="checkbox"
            aria-label="Select all jobs of the list"
            checked={areAll}
            onChange={() => selectOnly(areAll ? [] : numbers)}
          />
        </span>
        <SortHeading sort={sort} column={{ sort: "job", title: "job", isNumber: true, text: () => "" }} />
        {COLUMNS.map((column) => (
          <SortHeading key={column.title} sort={sort} column={column} />
        ))}
      </div>
    </div>
  );
}

function SortHeading({ sort, column }: { readonly sort: string | undefined; readonly column: JobColumn }) {
  const isUp = column.sort !== "" && sort === column.sort;
  const isDown = column.sort !== "" && sort === `-${column.sort}`;
  // The third press returns to the order that the list has by itself.
  const next = isUp ? `-${column.sort}` : isDown ? "" : column.sort;
  return (
    <span
      role="columnheader"
      class={classOf(column)}
      title={column.unit}
      aria-sort={column.sort === "" ? undefined : isUp ? "ascending" : isDown ? "descending" : "none"}
    >
      {column.sort === "" ? (
        column.title
      ) : (
        <Button class="plain" onClick={() => setQuery({ sort: next }, true)}>
          {column.title}
          <span aria-hidden="true">{isUp ? " ▲" : isDown ? " ▼" : ""}</span>
        </Button>
      )}
    </span>
  );
}

function classOf({ title, isNumber, isWide }: JobColumn): string {
  return `cell-${title.replace(" ", "-")}${isNumber ? " number" : ""}${isWide ? " wide" : ""}`;
}

interface RowProps {
  readonly job: Job;
  readonly index: number;
  readonly nowMs: number;
  readonly isSelected: boolean;
  readonly isAt: boolean;
  readonly isOpen: boolean;
  readonly href: string;
  readonly onClick: (event: MouseEvent, job: number) => void;
}

function Row({ job, index, nowMs, isSelected, isAt, isOpen, href, onClick }: RowProps) {
  // The same elements are not compared again: most rows stay as they are while the list scrolls.
  return useMemo(
    () => rowOf({ job, index, nowMs, isSelected, isAt, isOpen, href, onClick }),
    [job, index, nowMs, isSelected, isAt, isOpen, href, onClick],
  );
}

function rowOf({ job, index, nowMs, isSelected, isAt, isOpen, href, onClick }: RowProps) {
  const look = `jobs-row state-${job.state}${isAt ? " at" : ""}${isOpen ? " open" : ""}`;
  return (
    <div
      role="row"
      id={rowId(job.job)}
      class={look}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      onClick={(event) => onClick(event, job.job)}
    >
      <span role="gridcell" class="pick">
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Select job ${job.job}`}
          checked={isSelected}
          onClick={(event) => {
            event.stopPropagation();
            if (event.shiftKey) onClick(event, job.job);
            else toggle(job.job);
          }}
        />
      </span>
      <span role="gridcell" class="cell-job number">
        <a href={href} tabIndex={-1} onClick={leaveToRow}>
          {job.job}
        </a>
      </span>
      {COLUMNS.map((column) => {
        const text = column.text(job, nowMs);
        return (
          <span key={column.title} role="gridcell" class={classOf(column)} title={text}>
            {column.draw?.(job) ?? text}
          </span>
        );
      })}
    </div>
  );
}

/** The link is for copying and for other tabs; otherwise the row acts. */
function leaveToRow(event: MouseEvent): void {
  if (event.ctrlKey || event.metaKey) event.stopPropagation();
  else event.preventDefault();
}
