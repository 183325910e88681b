/**
 * Writes what the front end sends for jobs into their named pipes, on the node that starts the command
 * (job-input.ts). A piece waits as long as the job does not read, and then what was not written is left out
 * of the answer: the client keeps it and sends it again, so nothing here grows.
 */
import { monotonicMs } from "@tutti/host/clock.ts";
import { closeSync, constants, fstatSync, openSync, writeSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { gangName, type LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { END_FRAME, emptyFrame, INPUT_PIPE, pieceFrames } from "@tutti/protocol/input/frames.ts";
import { type AttemptFolder, ownerOf } from "./claim.ts";

/** Front ends wait a little longer. */
const PATIENCE_MS = 5000;
/** Between two tries while the pipe is full, or not there yet: twice as long each time. */
const FIRST_TRY_MS = 1;
const LAST_TRY_MS = 32;
/** Clients of a terminal send one piece each. */
const MAX_PIECES = 64;

type Piece = Extract<ToConductor, { type: "input" }>;
type Taken = Extract<FromConductor, { type: "input-taken" }>;

/** A gang that starts its command on this node. */
interface Reader {
  readonly spec: AttemptFolder & Pick<LaunchSpec, "input">;
  readonly begun: boolean;
  readonly isOver: boolean;
}

/** The input of one gang. */
class JobInput {
  readonly pieces: Piece[] = [];
  /** Bytes that were taken of each writer. */
  readonly taken = new Map<string, number>();
  /** The job has read it. */
  wasOpen = false;
  isBusy = false;
}

export class JobInputs {
  readonly #readerOf: (gang: string, identity: string | undefined) => Reader | undefined;
  readonly #emit: (message: Taken) => void;
  readonly #inputs = new Map<string, JobInput>();

  constructor(
    readerOf: (gang: string, identity: string | undefined) => Reader | undefined,
    emit: (message: Taken) => void,
  ) {
    this.#readerOf = readerOf;
    this.#emit = emit;
  }

  receive(piece: Piece): void {
    const name = gangName(piece.attempt);
    const input = this.#inputs.get(name) ?? new JobInput();
    this.#inputs.set(name, input);
    if (input.pieces.length >= MAX_PIECES) return;
    input.pieces.push(piece);
    if (!input.isBusy) void this.#writeAll(name, input);
  }

  async #writeAll(name: string, input: JobInput): Promise<void> {
    input.isBusy = true;
    for (let piece = input.pieces.shift(); piece !== undefined; piece = input.pieces.shift()) {
      const reader = await this.#write(name, input, piece);
      const { attempt, writer } = piece;
      const taken = input.taken.get(writer) ?? 0;
      this.#emit({ type: "input-taken", attempt, writer, taken, reader });
    }
    input.isBusy = false;
    if (this.#readerOf(name, undefined)?.isOver !== false) this.#inputs.delete(name);
  }

  /** Writes as much as the job reads in time. */
  async #write(name: string, input: JobInput, piece: Piece): Promise<Taken["reader"]> {
    const untilMs = monotonicMs() + PATIENCE_MS;
    let frames: Frame[] | undefined;
    let waitMs = FIRST_TRY_MS;
    for (;;) {
      // Unknown: it is about to be launched, or the front end has stored its end and sends no more.
      const reader = this.#readerOf(name, piece.identity);
      if (reader?.isOver) return "closed";
      if (reader?.begun) {
        frames ??= framesOf(reader, input, piece);
        const left = frames.length;
        const state = writeSome(reader, input, frames, piece.writer);
        if (state === "closed" || (state === "open" && frames.length === 0)) return state;
        if (frames.length < left) waitMs = FIRST_TRY_MS;
      }
      if (monotonicMs() >= untilMs) return "not-yet";
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      waitMs = Math.min(2 * waitMs, LAST_TRY_MS);
    }
  }
}

/** Writes what fits into the job's pipe, and takes it from `frames`. */
function writeSome({ spec }: Reader, input: JobInput, frames: Frame[], writer: string): Taken["reader"] {
  const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  let file: number;
  try {
    file = openSync(join(spec.folder, INPUT_PIPE), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch {
    // The job has not opened it yet, or reads nothing more.
    return input.wasOpen ? "closed" : "not-yet";
  }
  try {
    const stats = fstatSync(file);
    // The job's user owns the folder.
    if (!stats.isFIFO() || stats.uid !== ownerOf(spec)) return "closed";
    input.wasOpen = true;
    for (let frame = frames[0]; frame !== undefined; frame = frames[0]) {
      // The kernel takes a frame all at once, or not at all.
      writeSync(file, frame.bytes);
      input.taken.set(writer, frame.taken);
      frames.shift();
    }
    return "open";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EAGAIN" ? "open" : "closed";
  } finally {
    closeSync(file);
  }
}

interface Frame {
  readonly bytes: Uint8Array;
  /** Bytes of the writer that are taken when it is written. */
  readonly taken: number;
}

/** The frames of a piece, without what was taken before. */
function framesOf({ spec }: Reader, { taken, wasOpen }: JobInput, piece: Piece): Frame[] {
  const { writer, offset, data = "", end } = piece;
  const whole = Buffer.from(data, "base64");
  const skipped = Math.min(whole.length, Math.max(0, (taken.get(writer) ?? offset) - offset));
  const bytes = whole.subarray(skipped);
  const from = offset + skipped;
  if (bytes.length === 0 && !taken.has(writer)) taken.set(writer, from);
  // The client of a terminal has made frames of what was typed.
  if (spec.input === "terminal") return bytes.length === 0 ? [] : [{ bytes, taken: from + bytes.length }];
  const frames: Frame[] = [];
  let at = from;
  for (const frame of pieceFrames(from, bytes)) {
    at = Math.min(from + bytes.length, at + bodyLength(frame));
    frames.push({ bytes: frame, taken: at });
  }
  // The job may begin: its client is there.
  if (bytes.length === 0 && !end && !wasOpen) frames.push({ bytes: emptyFrame(from), taken: from });
  if (end) frames.push({ bytes: END_FRAME, taken: from + bytes.length });
  return frames;
}

function bodyLength(frame: Uint8Array): number {
  return frame.length - frame.indexOf(10) - 1;
}
