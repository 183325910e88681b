/**
 * Draws `tutti top` as lines of text for a terminal of a given size:
 *
 *   tutti 0.1.0: 2 of 2 CPUs busy, 2 running, 1 queued, 0 held                      12:34:56
 *   gang, slot 100 ms, row 1 of 1, policy gang
 *           0  1
 *   ▶ row 1 12 13
 *   ── 3 jobs ────────────────────────────────────────────────────────────────────────
 *     job  name  state      CPUs      ran  limit  remark
 *   >  12  sim   ▶ running     1  0:00:07    –    on CPU 0
 *   ── standard output of job 12 (sim), follows ─────────────────────────────────────────
 *   step 17
 *   ↑↓ select  Enter log  p pause  c cancel  h hold  w why  / filter  ? help  q quit
 */

import { plural } from "@tutti/kernel/core/format.ts";
import { displayWidth, shorten } from "@tutti/lab/report/text/table.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { jobName } from "@tutti/words/jobs.ts";
import { drainText, nodesText } from "@tutti/words/status.ts";
import { clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { windowText } from "@tutti/words/windows.ts";
import { JobTable, jobColumns } from "../text/job-text.ts";
import { matrixLines } from "../text/matrix-text.ts";
import { type TopView, whoText } from "./top-view.ts";

const MIN_COLUMNS = 60;
const MIN_LINES = 16;

export interface Frame {
  readonly columns: number;
  readonly lines: number;
  readonly colour: boolean;
  /** Unix time. */
  readonly nowMs: number;
  /** On the clock of `performance.now()`. */
  readonly monotonicMs: number;
}

/** Lines that decide the columns of the table, in addition to those that are shown. */
const SAMPLE_LINES = 200;
const GUTTER = 2;
const MIN_PANE_LINES = 4;

const HELP = `Keys
  Up, Down, k, j  select a job; also PageUp, PageDown,
                  Home, End
  Enter, l        show what the job writes; Tab: its errors;
                  PageUp, PageDown: earlier, later lines
  w               say why it waits, or where it runs
  p               pause a running job, resume a paused one
  h               hold a waiting job, release a held one
  c               cancel the job, after a question
  /               filter: a part of the name, 7, 3-9, @user,
                  state:failed, queue:short, name:sim*
  Escape          close what is below; end the filter
  q, Ctrl-C       quit; the jobs continue
Any key closes this list.`;

/** The most that fits is shown. */
const KEYS = [
  "Up/Down select  Enter log  p pause  c cancel  h hold  w why  / filter  ? help  q quit",
  "Enter log  p pause  c cancel  h hold  w why  / filter  ? help  q quit",
  "Enter log  p pause  c cancel  h hold  w why  ? help  q quit",
];

/** The whole screen: exactly as many lines as the terminal has, none wider than it. */
export function frameLines(view: TopView, frame: Frame): string[] {
  const { columns, lines } = frame;
  const picture = columns < MIN_COLUMNS || lines < MIN_LINES ? tooSmall(frame) : body(view, frame);
  return Array.from({ length: lines }, (_, i) => picture[i] ?? "");
}

function tooSmall({ columns, lines }: Frame): string[] {
  const text = [
    "This terminal is too small.",
    `It has ${columns} columns and ${lines} lines,`,
    `expected ${MIN_COLUMNS} and ${MIN_LINES}; q quits.`,
  ];
  return text.slice(0, lines).map((line) => shorten(line, columns));
}

function body(view: TopView, frame: Frame): string[] {
  const { columns, lines } = frame;
  const head = headLines(view, frame);
  const foot = footLine(view, frame);
  if (view.isHelp) {
    const help = HELP.split("\n").slice(0, lines - head.length - 1);
    return [...padded([...head, ...help], lines - 1), foot];
  }
  if (view.world === undefined) return [...padded(head, lines - 1), foot];
  const matrix = matrixOf(view, frame);
  const room = lines - head.length - matrix.length - 1;
  const paneLines = view.pane === undefined ? 0 : Math.max(MIN_PANE_LINES, Math.floor(room / 2));
  const table = tableLines(view, frame, room - paneLines);
  const pane = view.pane === undefined ? [] : paneOf(view, columns, paneLines, frame);
  return [...padded([...head, ...matrix, ...table], lines - 1 - pane.length), ...pane, foot];
}

/** The state of the scheduler in one line, in others what is wrong and the next window. */
function headLines({ world, problem }: TopView, frame: Frame): string[] {
  const { columns, nowMs } = frame;
  const clock = clockText(nowMs, nowMs);
  const room = columns - clock.length - 2;
  const state = world === undefined ? "" : statusText(world.status);
  const named = world === undefined ? "tutti" : `tutti ${world.status.version}: ${state}`;
  const text = shorten(displayWidth(named) <= room ? named : state, room);
  const gap = " ".repeat(columns - displayWidth(text) - clock.length);
  const { trouble, drain, windows = [] } = world?.status ?? {};
  const warning =
    problem !== ""
      ? problem
      : trouble !== undefined
        ? `trouble: ${visibleLine(trouble)}`
        : drain !== undefined
          ? drainText(drain)
          : undefined;
  return [
    strong(`${text}${gap}${clock}`, frame),
    ...(warning === undefined ? [] : [marked(shorten(warning, columns), frame)]),
    // The first window is the next one, or is open.
    ...windows.slice(0, 1).map((window) => shorten(`window ${windowText(window, nowMs)}`, columns)),
  ];
}

function statusText({ busyCpus, cpus, counts, nodes }: NonNullable<TopView["world"]>["status"]): string {
  const { starting, running, ending, paused, queued, held } = counts;
  return [
    `${busyCpus} of ${cpus} CPUs busy`,
    ...(nodes === undefined ? [] : [`nodes: ${nodesText(nodes)}`]),
    `${starting + running + ending} running`,
    ...(paused === 0 ? [] : [`${paused} paused`]),
    `${queued} queued`,
    `${held} held`,
  ].join(", ");
}

/** The matrix takes at most a third of the screen. */
function matrixOf({ world }: TopView, { columns, lines, colour, monotonicMs }: Frame): string[] {
  const { matrix, matrixAtMs } = world!;
  const nowMs = matrix.nowMs + monotonicMs - matrixAtMs;
  const most = Math.floor(lines / 3);
  const drawn = (mostRows: number) => matrixLines(matrix, { width: columns, colour, nowMs, mostRows });
  const all = drawn(Number.POSITIVE_INFINITY);
  if (all.length <= most) return all;
  const scales = all.length - matrix.rows.length;
  return drawn(Math.max(1, most - scales)).slice(0, most);
}

function tableLines(view: TopView, frame: Frame, room: number): string[] {
  const { world, lines, filter } = view;
  const { columns } = frame;
  const jobs = lines.reduce((sum, { job, upTo }) => sum + (upTo?.job ?? job) - job + 1, 0);
  const rows = Math.max(1, room - 2);
  view.pageLines = rows;
  // The selected line stays visible, and the list moves no further than necessary.
  const latest = Math.max(0, lines.length - rows);
  view.first = Math.min(latest, Math.max(view.selected - rows + 1, Math.min(view.first, view.selected)));
  const shown = lines.slice(view.first, view.first + rows);
  const part =
    lines.length <= rows
      ? ""
      : `, lines ${view.first + 1} to ${view.first + shown.length} of ${lines.length}`;
  const which = filter === "" ? "" : ` matching "${filter}"`;
  const title = rule(`${plural(jobs, "job")}${which}${part}`, columns);
  if (lines.length === 0)
    return [title, filter === "" ? "  No jobs." : "  No job matches; / changes the filter."];
  const sample = [...lines.slice(0, SAMPLE_LINES), ...shown];
  const table = new JobTable(jobColumns(sample, world!.status.user), sample, {
    width: columns - GUTTER,
    colour: false,
  });
  return [
    title,
    strong(`  ${shorten(table.heading().trimEnd(), columns - GUTTER)}`, frame),
    ...shown.map((line, i) => {
      const isSelected = view.first + i === view.selected;
      const text = shorten(table.lines([line]).trimEnd(), columns - GUTTER);
      // A mark as wide as the screen is found at once.
      const gap = frame.colour ? " ".repeat(columns - GUTTER - displayWidth(text)) : "";
      return isSelected ? marked(`> ${text}${gap}`, frame) : `  ${text}`;
    }),
  ];
}

function paneOf(view: TopView, columns: number, room: number, frame: Frame): string[] {
  const { job } = view;
  if (job === undefined) return padded([rule("no job is selected", columns)], room);
  const rows = room - 1;
  if (view.pane === "why") {
    const sentences = view.why.length === 0 ? ["…"] : view.why;
    return padded(
      [rule(`why: ${whoText(job)}`, columns), ...folded(sentences.join(" "), columns).slice(0, rows)],
      room,
    );
  }
  const stream = view.stream === "stdout" ? "standard output" : "standard error";
  const all = view.log?.lines ?? [];
  const end = Math.max(Math.min(rows, all.length), all.length - view.scrolled);
  const place =
    all.length > end ? `, ${plural(all.length - end, "line")} below` : isEnded(job.state) ? "" : ", follows";
  const lines = all.slice(Math.max(0, end - rows), end).map((line) => shorten(line, columns));
  const title = rule(`${stream} of job ${job.job} (${jobName(job)})${place}`, columns);
  return padded([title, ...(lines.length === 0 ? [faint("nothing so far", frame)] : lines)], room);
}

function footLine({ question, isTyping, filter, message }: TopView, frame: Frame): string {
  const { columns } = frame;
  if (question !== undefined) return marked(shorten(question.text, columns), frame);
  if (isTyping) return shorten(`/${filter}_  (Enter keeps the filter, Escape ends it)`, columns);
  if (message !== "") return marked(shorten(message, columns), frame);
  return faint(KEYS.find((keys) => keys.length <= columns)!, frame);
}

/** A line with a title. */
function rule(title: string, columns: number): string {
  const text = shorten(`── ${visibleLine(title)} `, columns);
  return text + "─".repeat(Math.max(0, columns - displayWidth(text)));
}

/** Breaks text between words; a word that does not fit is cut. */
function folded(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && displayWidth(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(shorten(word, columns));
  }
  return lines;
}

function padded(lines: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, i) => lines[i] ?? "");
}

function strong(text: string, { colour }: Frame): string {
  return colour ? `\u001b[1m${text}\u001b[0m` : text;
}

function faint(text: string, { colour }: Frame): string {
  return colour ? `\u001b[2m${text}\u001b[0m` : text;
}

function marked(text: string, { colour }: Frame): string {
  return colour ? `\u001b[7m${text}\u001b[0m` : text;
}
