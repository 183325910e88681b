import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocket, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchSilence } from "./silence.ts";

let folder: string;
let server: Server | undefined;
const path = () => join(folder, "socket");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-silence-"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
  server?.close();
  rmSync(folder, { recursive: true });
});

async function listen(made: Server): Promise<void> {
  server = made;
  await new Promise<void>((resolve) => made.listen(path(), resolve));
}

function watch() {
  const said = { silent: 0, givenUp: 0 };
  const stop = watchSilence(path(), {
    onSilence: () => said.silent++,
    onGivenUp: () => said.givenUp++,
  });
  return { said, stop };
}

test("watchSilence: a process that accepts connections and answers none is said after 5 s and given up", async () => {
  await listen(createSocket(() => {}));
  const { said, stop } = watch();
  vi.advanceTimersByTime(4999);
  expect(said).toEqual({ silent: 0, givenUp: 0 });
  vi.advanceTimersByTime(1);
  expect(said).toEqual({ silent: 1, givenUp: 0 });
  vi.advanceTimersByTime(57_499);
  expect(said).toEqual({ silent: 1, givenUp: 0 });
  vi.advanceTimersByTime(1);
  expect(said).toEqual({ silent: 1, givenUp: 1 });
  stop();
  vi.advanceTimersByTime(1_000_000);
  expect(said).toEqual({ silent: 1, givenUp: 1 });
});

test("watchSilence: a scheduler that answers others is asked again and again, and never called silent", async () => {
  let asked = 0;
  await listen(
    createServer((_, answer) => {
      asked++;
      answer.writeHead(404).end();
    }),
  );
  const { said, stop } = watch();
  for (let i = 1; i <= 40; i++) {
    vi.advanceTimersByTime(2500);
    // The next question is timed when the answer has come.
    await vi.waitUntil(() => asked === i && vi.getTimerCount() === 1, { timeout: 30_000 });
  }
  expect(said).toEqual({ silent: 0, givenUp: 0 });
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
