/** A user's program as the torture run needs it: its only argument says what it does. */
import type { Sys, Wait } from "../world/contract.ts";
import { O_APPEND, O_CREAT, O_WRONLY } from "../world/files/open-flags.ts";
import { codeOf, open, STEP, write } from "./io.ts";

/** In the order in which it happens. Names of signals are such as TERM. */
export interface JobSpec {
  readonly ignore?: readonly string[];
  readonly onSignal?: Readonly<Record<string, { readonly exit: number }>>;
  /**
   * A file to which it appends "START pid" at first, and "END pid" when it ends by itself. They are synced:
   * they prove what has run.
   */
  readonly marks?: string;
  readonly memoryBytes?: number;
  readonly children?: readonly ChildSpec[];
  /** Forks up to that many processes, which fork in turn and live as long as this one. */
  readonly bombs?: number;
  /** Appends that many bytes to the file. */
  readonly writes?: { readonly path: string; readonly bytes: number };
  /** Sends itself SIGSTOP. */
  readonly stopsItself?: boolean;
  /** Computes. */
  readonly workMs?: number;
  /** Waits. */
  readonly runMs?: number;
  readonly exit?: number;
}

interface ChildSpec extends JobSpec {
  /** It leads a session. The job does not wait for it. */
  readonly detached?: boolean;
  /** Its parent ends at once. The job does not wait for it. */
  readonly doubleFork?: boolean;
  readonly clearEnvironment?: boolean;
  /** Nobody reaps it as long as the job lives. */
  readonly zombie?: boolean;
}

const PIECE_BYTES = 4096;

/** @param words without the name */
export function* job(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const spec: JobSpec = JSON.parse(words[0] ?? "{}");
  const { ignore = [], onSignal = {}, marks, memoryBytes = 0, children = [], bombs = 0, writes } = spec;
  for (const name of ignore) sys.onSignal(`SIG${name}`, "ignore");
  for (const [name, { exit }] of Object.entries(onSignal)) {
    sys.onSignal(`SIG${name}`, () => sys.machine.exit(sys.self, exit));
  }
  if (marks !== undefined) yield* note(sys, marks, "START");
  if (memoryBytes > 0) {
    sys.allocate(memoryBytes);
    yield STEP;
  }
  const awaited: number[] = [];
  for (const child of children) {
    const pid = yield* start(sys, child);
    if (!child.zombie && !child.detached) awaited.push(pid);
  }
  yield* bomb(sys, bombs, spec);
  if (writes !== undefined) {
    const descriptor = yield* open(sys, writes.path, O_WRONLY | O_CREAT | O_APPEND);
    for (let left = writes.bytes; left > 0; left -= PIECE_BYTES) {
      yield* write(sys, descriptor, "x".repeat(Math.min(left, PIECE_BYTES)));
    }
    sys.files.close(sys.self, descriptor);
  }
  if (spec.stopsItself) {
    sys.kill(sys.self.pid, "SIGSTOP");
    yield STEP;
  }
  yield* live(spec);
  for (const pid of awaited) {
    while (sys.reap(pid) === undefined) yield { for: "child", pid };
  }
  if (marks !== undefined) yield* note(sys, marks, "END");
  return spec.exit ?? 0;
}

function* live({ workMs = 0, runMs = 0 }: JobSpec): Generator<Wait, void> {
  if (workMs > 0) yield { for: "work", us: Math.round(workMs * 1000) };
  if (runMs > 0) yield { for: "time", us: Math.round(runMs * 1000) };
}

function* note(sys: Sys, path: string, what: string): Generator<Wait, void> {
  const descriptor = yield* open(sys, path, O_WRONLY | O_CREAT | O_APPEND);
  yield* write(sys, descriptor, `${what} ${sys.self.pid}\n`);
  sys.files.sync(sys.self, descriptor);
  sys.files.close(sys.self, descriptor);
  yield STEP;
}

/** @returns the pid of the process that it has forked, which ends soon if it forks once more */
function* start(sys: Sys, spec: ChildSpec): Generator<Wait, number> {
  const environment = spec.clearEnvironment ? {} : sys.self.environment;
  const begin = function* (child: Sys): Generator<Wait, number> {
    yield STEP;
    if (spec.detached) child.newSession();
    yield STEP;
    return yield* child.exec(["/usr/bin/job", JSON.stringify(spec)], environment);
  };
  const pid = sys.fork(
    spec.doubleFork
      ? function* (middle) {
          yield STEP;
          middle.fork(begin);
          return 0;
        }
      : begin,
  );
  yield STEP;
  return pid;
}

function* bomb(sys: Sys, count: number, spec: JobSpec): Generator<Wait, void> {
  for (const share of [Math.ceil(count / 2), Math.floor(count / 2)]) {
    if (share === 0) continue;
    try {
      sys.fork(function* (child) {
        yield* bomb(child, share - 1, spec);
        yield* live(spec);
        return 0;
      });
    } catch (error) {
      // A limit on processes.
      codeOf(error);
    }
    yield STEP;
  }
}
