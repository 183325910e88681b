/**
 * What the user of `tutti top` has chosen: the selected job, the filter, the pane below the table. Keys
 * change it; the result of a key may be a request, which the caller carries out.
 */

import { plural } from "@tutti/kernel/core/format.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { jobName } from "@tutti/words/jobs.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import type { JobLine } from "../text/job-columns.ts";
import type { LogLines } from "./log-lines.ts";
import { linesOf, type World } from "./world.ts";

/** A key as Node's `readline` names it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  /** The text that it types. */
  readonly text?: string | undefined;
}

type Action = "cancel" | "hold" | "release" | "pause" | "resume";

export type Request =
  | { readonly kind: "quit" }
  | { readonly kind: "suspend" }
  | { readonly kind: "change"; readonly action: Action; readonly numbers: readonly number[] };

type Pane = "log" | "why";
export type Stream = "stdout" | "stderr";

const MAX_FILTER_LENGTH = 100;

export class TopView {
  world: World | undefined;
  lines: readonly JobLine[] = [];
  /** Index of the selected line. */
  selected = 0;
  /** Index of the first line that is shown; kept by the drawing. */
  first = 0;
  /** Number of lines that fit; kept by the drawing. */
  pageLines = 10;
  filter = "";
  isTyping = false;
  isHelp = false;
  pane: Pane | undefined;
  stream: Stream = "stdout";
  log: LogLines | undefined;
  /** Lines between the end of the output and what is shown. */
  scrolled = 0;
  /** Sentences about the selected job. */
  why: readonly string[] = [];
  question: { readonly text: string; readonly request: Request } | undefined;
  message = "";
  /** What keeps the picture from being up to date. */
  problem = "";

  /** The job of the selected line; of several jobs, the first. */
  get job(): JobLine | undefined {
    return this.lines[this.selected];
  }

  show(world: World): void {
    this.world = world;
    this.#list();
  }

  press(key: Key): Request | undefined {
    if (key.ctrl && key.name === "c") return { kind: "quit" };
    if (key.ctrl && key.name === "z") return { kind: "suspend" };
    if (this.question !== undefined) return this.#answer(key);
    this.message = "";
    if (this.isHelp) {
      this.isHelp = false;
      return key.text === "q" ? { kind: "quit" } : undefined;
    }
    if (this.isTyping) this.#type(key);
    else return this.#move(key) ? undefined : this.#command(key);
    return undefined;
  }

  #answer({ text = "" }: Key): Request | undefined {
    const { request } = this.question!;
    this.question = undefined;
    if (text.toLowerCase() === "y") return request;
    this.message = "Nothing was changed.";
    return undefined;
  }

  #type({ name, text = "", ctrl }: Key): void {
    if (name === "return" || name === "enter") this.isTyping = false;
    else if (name === "escape") {
      this.isTyping = false;
      this.filter = "";
    } else if (name === "backspace") this.filter = [...this.filter].slice(0, -1).join("");
    else if (ctrl && name === "u") this.filter = "";
    else if (!ctrl && text !== "" && visibleLine(text) === text)
      this.filter = (this.filter + text).slice(0, MAX_FILTER_LENGTH);
    this.#list();
  }

  /** Whether the key moves something. */
  #move({ name = "", text }: Key): boolean {
    const page = Math.max(1, this.pageLines - 1);
    const toLog = this.pane === "log" && (name === "pageup" || name === "pagedown");
    const steps: Readonly<Record<string, number>> = {
      up: -1,
      k: -1,
      down: 1,
      j: 1,
      pageup: -page,
      pagedown: page,
      home: Number.NEGATIVE_INFINITY,
      end: Number.POSITIVE_INFINITY,
    };
    const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
    // With the Shift key, a letter has the same name.
    if (step === undefined || (name.length === 1 && text !== name)) return false;
    if (toLog) this.#scroll(name === "pageup" ? page : -page);
    else this.#select(this.selected + step);
    return true;
  }

  #scroll(lines: number): void {
    const most = Math.max(0, (this.log?.lines.length ?? 0) - 1);
    this.scrolled = Math.max(0, Math.min(most, this.scrolled + lines));
  }

  #command({ name, text }: Key): Request | undefined {
    const { job } = this;
    if (name === "escape") this.#escape();
    else if (name === "return" || name === "enter" || text === "l") this.#toggle("log");
    else if (name === "tab" && this.pane === "log")
      this.#choose(this.stream === "stdout" ? "stderr" : "stdout");
    else if (text === "w") this.#toggle("why");
    else if (text === "/") this.isTyping = true;
    else if (text === "?") this.isHelp = true;
    else if (text === "q") return { kind: "quit" };
    else if (job === undefined) return undefined;
    else if (text === "p") return change(job.state === "paused" ? "resume" : "pause", job);
    else if (text === "h") return change(job.state === "held" ? "release" : "hold", job);
    else if (text === "c")
      this.question = {
        text: `Cancel ${whoText(job)}? y: yes, any other key: no`,
        request: change("cancel", job),
      };
    return undefined;
  }

  #escape(): void {
    if (this.pane !== undefined) this.pane = undefined;
    else this.filter = "";
    this.#list();
  }

  #toggle(pane: Pane): void {
    this.pane = this.pane === pane ? undefined : pane;
    this.#choose("stdout");
  }

  #choose(stream: Stream): void {
    this.stream = stream;
    this.scrolled = 0;
  }

  #select(index: number): void {
    const before = this.job?.job;
    this.selected = Math.max(0, Math.min(this.lines.length - 1, index));
    if (this.job?.job === before) return;
    this.scrolled = 0;
    this.why = [];
  }

  /** Lists the jobs again. The selection stays at its job, or at its place if the job is not listed. */
  #list(): void {
    if (this.world === undefined) return;
    const number = this.job?.job;
    this.lines = linesOf(this.world.jobs.values(), this.filter);
    const at = this.lines.findIndex(
      ({ job, upTo }) => number !== undefined && job <= number && number <= (upTo?.job ?? job),
    );
    this.selected = at >= 0 ? at : this.selected;
    this.#select(this.selected);
  }
}

/** Such as `job 7 (sim)`, or `jobs 7-20 (14 jobs of array sim)`. */
export function whoText(line: JobLine): string {
  const { job, upTo, name } = line;
  if (upTo === undefined) return `job ${job} (${jobName(line)})`;
  return `jobs ${job}-${upTo.job} (${plural(upTo.job - job + 1, "job")} of array ${visibleLine(name)})`;
}

function change(action: Action, { job, upTo }: Pick<JobLine, "job" | "upTo">): Request & { kind: "change" } {
  const last = (upTo as Job | undefined)?.job ?? job;
  return { kind: "change", action, numbers: Array.from({ length: last - job + 1 }, (_, i) => job + i) };
}
