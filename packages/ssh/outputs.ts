/**
 * Fetches what the attempts of one host write there. While an attempt runs, whole lines follow about every
 * second, so `tutti logs -f` shows them; its end is passed on when all that it wrote is here.
 *
 *   front end ── read ──▶ conductor        from where the last piece ended
 *   front end ◀─ output ─ conductor        a piece; then it is appended, and the position is kept
 */
import type { Clock } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { readdirSync, renameSync, rmSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import type { IdentifiedAttempt, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { FromConductor, OutputFile, ToConductor } from "@tutti/protocol/conductor.ts";
import { append, type FileQueues, type OutputTarget, sizeOf } from "./output-files.ts";
import { isFetched } from "./relocate.ts";

const POLL_MS = 1000;
/** An answer that does not come was lost with its connection. */
const ANSWER_MS = 10_000;
/** A file that cannot be written is tried again this often, a second apart. */
const TRIES = 5;
/** A line that is longer than this is passed on in pieces. */
const MAX_LINE_BYTES = 65_536;
const FILES: readonly OutputFile[] = ["out", "err"];

/** How far a file has been fetched. */
interface Position {
  /** Bytes that are here. */
  at: number;
  /** A piece that is being appended, and the size of the file before it. */
  adding?: { readonly bytes: number; readonly size: number };
}

interface Kept {
  readonly key: IdentifiedAttempt;
  readonly targets: { readonly [File in OutputFile]?: OutputTarget };
  readonly positions: { readonly [File in OutputFile]: Position };
}

interface Tracked extends Kept {
  readonly file: string;
  /** It has begun, so there may be something. */
  hasBegun: boolean;
  /** Called when all that it has written is here. */
  readonly whenDone: (() => void)[];
  isBusy: boolean;
  /** Its output cannot be written here. */
  isLost: boolean;
}

type Output = Extract<FromConductor, { type: "output" }>;

interface OutputsSetup {
  readonly node: string;
  readonly clock: Clock;
  readonly folder: string;
  /** Those of all hosts. */
  readonly queues: FileQueues;
  readonly send: (message: ToConductor) => void;
  readonly notice: (text: string) => void;
}

export class Outputs {
  readonly #setup: OutputsSetup;
  readonly #tracked = new Map<string, Tracked>();
  readonly #answers = new Map<string, (output: Output | undefined) => void>();
  #isConnected = false;
  #isClosed = false;
  #stopTimer = () => {};

  constructor(setup: OutputsSetup) {
    this.#setup = setup;
    const ending = `.${setup.node}.json`;
    for (const name of readdirSync(setup.folder)) {
      if (!name.endsWith(ending)) continue;
      const kept = keptIn(readText(join(setup.folder, name), "utf8"));
      if (kept === undefined) continue;
      const tracked = this.#add(kept, join(setup.folder, name));
      // Before anything else is appended to the file.
      for (const file of FILES) {
        const target = tracked.targets[file];
        if (target === undefined || tracked.positions[file].adding === undefined) continue;
        setup.queues.add(target, () => this.#settle(tracked, file, target)).catch(() => {});
      }
    }
    this.#poll();
  }

  /**
   * Keeps where the output of an attempt goes. To be called before it may start. @throws Error of the disk
   */
  track(spec: LaunchSpec, account: { readonly uid: number; readonly gid: number }): void {
    const key = { job: spec.job, attempt: spec.attempt, identity: spec.identity };
    if (this.#tracked.has(nameOf(key))) return;
    const target = (path: string) =>
      isFetched(path) ? { path, ...account, umask: spec.umask ?? 0o022 } : undefined;
    const [out, err] = [target(spec.stdout), spec.stderr === spec.stdout ? undefined : target(spec.stderr)];
    const kept = {
      key,
      targets: { ...(out && { out }), ...(err && { err }) },
      positions: { out: { at: 0 }, err: { at: 0 } },
    };
    const tracked = this.#add(kept, join(this.#setup.folder, `${nameOf(key)}.${this.#setup.node}.json`));
    this.#keep(tracked);
  }

  begun(key: IdentifiedAttempt): void {
    const tracked = this.#tracked.get(nameOf(key));
    if (tracked !== undefined) tracked.hasBegun = true;
  }

  /** Calls back when all that it has written is here; at once if nothing is fetched. */
  whenDone(key: IdentifiedAttempt, call: () => void): void {
    const tracked = this.#tracked.get(nameOf(key));
    if (tracked === undefined || tracked.isLost) {
      call();
      return;
    }
    tracked.whenDone.push(call);
    this.#fetch(tracked);
  }

  /** The end is stored: nothing more is fetched. */
  drop(key: IdentifiedAttempt): void {
    const tracked = this.#tracked.get(nameOf(key));
    if (tracked === undefined) return;
    this.#tracked.delete(nameOf(key));
    rmSync(tracked.file, { force: true });
  }

  connected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    if (isConnected) return;
    for (const answer of [...this.#answers.values()]) answer(undefined);
  }

  receive(output: Output): void {
    this.#answers.get(questionOf(output, output.file))?.(output);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
    this.connected(false);
  }

  #add(kept: Kept, file: string): Tracked {
    const tracked = { ...kept, file, hasBegun: false, whenDone: [], isBusy: false, isLost: false };
    this.#tracked.set(nameOf(kept.key), tracked);
    return tracked;
  }

  #poll(): void {
    if (this.#isClosed) return;
    for (const tracked of this.#tracked.values())
      if (tracked.hasBegun || tracked.whenDone.length > 0) this.#fetch(tracked);
    const { clock } = this.#setup;
    this.#stopTimer = clock.at(clock.nowMs() + POLL_MS, () => this.#poll());
  }

  /** Fetches what there is now, one attempt after the other piece. */
  #fetch(tracked: Tracked): void {
    if (tracked.isBusy || tracked.isLost || !this.#isConnected || this.#isClosed) return;
    tracked.isBusy = true;
    const isLast = tracked.whenDone.length > 0;
    this.#fetchAll(tracked, isLast)
      .catch((error: Error) => {
        this.#setup.notice(
          `the output of job ${tracked.key.job}.${tracked.key.attempt} on ${this.#setup.node} is lost: ${error.message}`,
        );
        tracked.isLost = true;
        return true;
      })
      .then((isWhole) => {
        tracked.isBusy = false;
        if (!isLast && !tracked.isLost) {
          if (tracked.whenDone.length > 0) this.#fetch(tracked);
        } else if (isWhole) for (const call of tracked.whenDone.splice(0)) call();
      });
  }

  /** @returns whether both files are whole; false: the connection was lost */
  async #fetchAll(tracked: Tracked, isLast: boolean): Promise<boolean> {
    for (const file of FILES) {
      const target = tracked.targets[file];
      const position = tracked.positions[file];
      if (target === undefined) continue;
      for (;;) {
        const output = await this.#ask(tracked.key, file, position.at);
        if (output === undefined) return false;
        const all = Buffer.from(output.base64, "base64");
        const piece = isLast ? all : wholeLines(all);
        if (piece.length > 0)
          await this.#write(tracked, file, target, { piece, endAt: output.from + piece.length });
        if (output.left === 0 || piece.length === 0) break;
      }
    }
    return true;
  }

  async #write(
    tracked: Tracked,
    file: OutputFile,
    target: OutputTarget,
    { piece, endAt }: { readonly piece: Buffer; readonly endAt: number },
  ): Promise<void> {
    const { queues, clock } = this.#setup;
    const position = tracked.positions[file];
    for (let tries = 1; position.at < endAt; tries++) {
      try {
        await queues.add(target, async () => {
          await this.#settle(tracked, file, target);
          if (position.at < endAt)
            await this.#append(tracked, file, target, piece.subarray(position.at - endAt));
        });
      } catch (error) {
        if (tries === TRIES) throw error;
        await new Promise<void>((resolve) => {
          clock.at(clock.nowMs() + POLL_MS, resolve);
        });
      }
    }
  }

  async #append(tracked: Tracked, file: OutputFile, target: OutputTarget, piece: Buffer): Promise<void> {
    const position = tracked.positions[file];
    position.adding = { bytes: piece.length, size: await sizeOf(target) };
    this.#keep(tracked);
    try {
      await append(target, piece);
    } finally {
      await this.#settle(tracked, file, target);
    }
  }

  /** Finds out how much of a piece is in the file: nobody else appends meanwhile. */
  async #settle(tracked: Tracked, file: OutputFile, target: OutputTarget): Promise<void> {
    const position = tracked.positions[file];
    if (position.adding === undefined) return;
    const { bytes, size } = position.adding;
    position.at += Math.min(bytes, Math.max(0, (await sizeOf(target)) - size));
    delete position.adding;
    try {
      this.#keep(tracked);
    } catch {
      // The next front end settles it again.
    }
  }

  /** Undefined: the connection was lost. */
  #ask(key: IdentifiedAttempt, file: OutputFile, from: number): Promise<Output | undefined> {
    const { job, attempt, identity } = key;
    const question = questionOf({ attempt: { job, attempt }, identity }, file);
    const { clock, send } = this.#setup;
    return new Promise((resolve) => {
      if (!this.#isConnected) {
        resolve(undefined);
        return;
      }
      const answer = (output: Output | undefined) => {
        cancel();
        this.#answers.delete(question);
        resolve(output);
      };
      const cancel = clock.at(clock.nowMs() + ANSWER_MS, () => answer(undefined));
      this.#answers.set(question, answer);
      send({ type: "read", attempt: { job, attempt }, identity, file, from });
    });
  }

  #keep({ file, key, targets, positions }: Tracked): void {
    const kept: Kept = { key, targets, positions };
    writeFileSync(`${file}.new`, JSON.stringify(kept), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

/** Attempts that a front end of this state folder may have sent to a host. */
export function sentAttempts(folder: string): ReadonlySet<string> {
  return new Set(readdirSync(folder).flatMap((name) => /^(\d+\.\d+-[0-9a-f]*)\./.exec(name)?.[1] ?? []));
}

/** Of an attempt, in names of files. */
export function nameOf({ job, attempt, identity = "" }: IdentifiedAttempt): string {
  return `${job}.${attempt}-${identity}`;
}

function questionOf({ attempt, identity }: Pick<Output, "attempt" | "identity">, file: OutputFile): string {
  return `${nameOf({ ...attempt, identity })} ${file}`;
}

function keptIn(text: string | undefined): Kept | undefined {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

/** Up to the last line end; a line that is too long counts as whole. */
function wholeLines(content: Buffer): Buffer {
  const end = content.lastIndexOf(10) + 1;
  return end === 0 && content.length >= MAX_LINE_BYTES ? content : content.subarray(0, end);
}
