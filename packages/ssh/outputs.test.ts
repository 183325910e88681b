/** Fetches output from an imagined conductor into real files, over losses of the connection and deaths. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tutti/host/clock.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { ToConductor } from "@tutti/protocol/conductor.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FileQueues } from "./output-files.ts";
import { Outputs, sentAttempts } from "./outputs.ts";

const IDENTITY = "0123456789abcdef0123456789abcdef";
const KEY = { job: 3, attempt: 1, identity: IDENTITY };
const OWN = { uid: process.getuid!(), gid: process.getgid!() };
let [folder, kept, notices] = ["", "", [] as string[]];
const running: Outputs[] = [];
let queues = new FileQueues();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-outputs-"));
  kept = mkdtempSync(join(folder, "kept-"));
  notices = [];
});
afterEach(() => {
  for (const outputs of running.splice(0)) outputs.close();
  rmSync(folder, { recursive: true });
});

/** What the job has written on its host, and a conductor that passes on a few bytes at a time. */
class Conductor {
  out = "";
  readonly most: number;
  /** Answers that are still sent; then the connection is dead. */
  answers = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.most = most;
  }

  outputs(): Outputs {
    const send = (message: ToConductor) => {
      if (message.type !== "read" || this.answers-- <= 0) return;
      const { attempt, identity, file, from } = message;
      const all = Buffer.from(file === "out" ? this.out : "");
      const piece = all.subarray(from, from + this.most);
      const left = Math.max(0, all.length - from - piece.length);
      setImmediate(() =>
        outputs.receive({
          type: "output",
          attempt,
          identity,
          file,
          from,
          base64: piece.toString("base64"),
          left,
        }),
      );
    };
    const outputs: Outputs = new Outputs({
      node: "elm",
      clock: systemClock,
      folder: kept,
      queues,
      send,
      notice: (text) => notices.push(text),
    });
    running.push(outputs);
    outputs.connected(true);
    return outputs;
  }
}

const specFor = (stdout: string) => ({ ...KEY, stdout, stderr: "/dev/null", umask: 0o022 }) as LaunchSpec;
const done = (outputs: Outputs) => new Promise<void>((resolve) => outputs.whenDone(KEY, resolve));
const contentOf = (path: string) => readFileSync(path, "utf8");

test("appends to what is there, whole lines while the job runs, and all at its end", async () => {
  const path = join(folder, "new folder", "out");
  const conductor = new Conductor(10);
  const outputs = conductor.outputs();
  outputs.track(specFor(path), OWN);
  conductor.out = "one\ntwo\nthr";
  outputs.begun(KEY);
  await vi.waitFor(() => expect(contentOf(path)).toBe("one\ntwo\n"), 60_000);
  conductor.out += "ee";
  await done(outputs);
  expect(contentOf(path)).toBe("one\ntwo\nthree");
  expect([...sentAttempts(kept)]).toEqual([`3.1-${IDENTITY}`]);
  outputs.drop(KEY);
  expect(readdirSync(kept)).toEqual([]);
});

test("a next front end goes on where the last one has stopped, wherever that was", async () => {
  const random = new Random(7);
  const text = Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join("");
  for (let round = 0; round < 10; round++) {
    const path = join(folder, `out${round}`);
    writeFileSync(path, "before\n");
    const conductor = new Conductor(20 + random.below(400));
    conductor.out = text;
    conductor.answers = 1 + random.below(20);
    const first = conductor.outputs();
    first.track(specFor(path), OWN);
    void done(first);
    const isOver = () => conductor.answers < 0 || contentOf(path).length === text.length + 7;
    await vi.waitFor(() => expect(isOver()).toBe(true), 60_000);
    first.close();
    const [file] = readdirSync(kept).filter((name) => name.endsWith(".json"));
    const keptState = () => JSON.parse(contentOf(join(kept, file)));
    await vi.waitFor(() => expect(keptState().positions.out.adding).toBeUndefined(), 60_000);
    const state = keptState();
    // It was killed after it had appended a piece, or a part of it, and before it could keep that.
    const { at } = state.positions.out;
    const bytes = Math.min(random.below(15), text.length - at);
    const size = contentOf(path).length;
    writeFileSync(path, contentOf(path) + text.slice(at, at + random.below(bytes + 1)));
    state.positions.out.adding = { bytes, size };
    writeFileSync(join(kept, file), JSON.stringify(state));
    queues = new FileQueues();
    conductor.answers = Number.POSITIVE_INFINITY;
    const second = conductor.outputs();
    await done(second);
    expect(contentOf(path), `round ${round}`).toBe(`before\n${text}`);
    second.drop(KEY);
    second.close();
  }
  expect(notices).toEqual([]);
});

test("output that cannot be written is said, and does not hold back the end", async () => {
  const conductor = new Conductor(100);
  const outputs = conductor.outputs();
  outputs.track(specFor(join(folder, "a folder")), OWN);
  rmSync(join(folder, "a folder"), { force: true });
  writeFileSync(join(folder, "not a folder"), "");
  outputs.drop(KEY);
  outputs.track(specFor(join(folder, "not a folder", "out")), OWN);
  conductor.out = "text\n";
  await done(outputs);
  expect(notices).toEqual([
    expect.stringMatching(/^the output of job 3.1 on elm is lost: Cannot write output to/),
  ]);
});
