/**
 * A device that behaves as a GPU does towards its processes: it has memory, and a queue of kernels that it
 * works off one after the other, whether the processes that launched them are stopped or not. It writes down
 * what it did, and signs each line with a key that its jobs do not know.
 *
 *   node bench/gpu/device.ts SOCKET TRACE BYTES     the key is the first line of standard input
 *
 * A process sends lines: `alloc BYTES`, `kernel MICROSECONDS`; each is answered by `ok` when it is done, or
 * by `no REASON`. The connection is the context of the process: at its end, memory and kernels are given up.
 */
import { createHmac } from "node:crypto";
import { appendFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";

const [socketPath, tracePath, bytesText] = process.argv.slice(2);
const BYTES = Number(bytesText);

export interface Traced {
  readonly atMs: number;
  /** Name that the process gave itself. */
  readonly who: string;
  readonly what: "kernel" | "alloc" | "gone";
  /** Of a kernel: when its process launched it, and how long it took on the device. */
  readonly launchedMs?: number;
  readonly ms?: number;
  readonly bytes?: number;
}

/** @param before the signature of the line before this one; the first has none */
export function signatureOf(key: string, before: string, line: string): string {
  return createHmac("sha256", key).update(before).update(line).digest("hex");
}

interface Kernel {
  readonly of: Socket;
  readonly who: string;
  readonly launchedMs: number;
  readonly ms: number;
}

function serve(key: string): void {
  let before = "";
  let held = 0;
  const queue: Kernel[] = [];
  let isBusy = false;

  const nowMs = () => performance.timeOrigin + performance.now();
  const trace = (traced: Omit<Traced, "atMs">) => {
    const line = JSON.stringify({ atMs: nowMs(), ...traced });
    before = signatureOf(key, before, line);
    appendFileSync(tracePath, `${line} ${before}\n`);
  };
  const work = () => {
    const kernel = queue.shift();
    isBusy = kernel !== undefined;
    if (kernel === undefined) return;
    const fromMs = performance.now();
    setTimeout(() => {
      const { who, launchedMs } = kernel;
      trace({ who, what: "kernel", launchedMs, ms: performance.now() - fromMs });
      kernel.of.write("ok\n");
      work();
    }, kernel.ms);
  };

  createServer((socket) => {
    let who = "?";
    let own = 0;
    const lines = createInterface({ input: socket });
    // A process that was killed: `close` follows.
    for (const one of [socket, lines]) one.on("error", () => {});
    lines.on("line", (line) => {
      const [word, text] = line.split(" ");
      if (word === "name") who = text;
      else if (word === "alloc") {
        const bytes = Number(text);
        if (!(bytes >= 0 && held + bytes <= BYTES)) {
          socket.write(`no ${held} of ${BYTES} bytes are held\n`);
          return;
        }
        held += bytes;
        own += bytes;
        trace({ who, what: "alloc", bytes });
        socket.write("ok\n");
      } else if (word === "kernel") {
        queue.push({ of: socket, who, launchedMs: nowMs(), ms: Number(text) / 1000 });
        if (!isBusy) work();
      }
    });
    socket.on("close", () => {
      held -= own;
      for (let i = queue.length - 1; i >= 0; i--) if (queue[i].of === socket) queue.splice(i, 1);
      trace({ who, what: "gone" });
    });
  }).listen(socketPath, () => process.stdout.write("ready\n"));
}

if (import.meta.main) createInterface({ input: process.stdin }).once("line", serve);
