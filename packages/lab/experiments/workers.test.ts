import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFile } from "@tutti/host/programs.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { afterAll, expect, test } from "vitest";
import { runInThreads, startThreadsFrom } from "./workers.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-workers-"));
const program = join(folder, "worker.mjs");
writeFileSync(
  program,
  `import { parentPort } from "node:worker_threads";
  parentPort.on("message", (cell) => {
    if (cell === "ends") process.exit(0);
    setTimeout(() => parentPort.postMessage({ result: cell }), 5);
  });`,
);
startThreadsFrom(pathToFileURL(program));
afterAll(() => {
  startThreadsFrom(programFile("worker", new URL("./worker.ts", import.meta.url)));
  rmSync(folder, { recursive: true });
});

test("when a thread ends from within, no other thread begins another cell", async () => {
  // Both threads are at work when one ends.
  const cells = Array.from({ length: 200 }, (_, i) => (i === 20 ? "ends" : i));
  let done = 0;
  const run = runInThreads(undefined, cells, 2, { workers: 2, onDone: () => done++ });
  await expect(run).rejects.toThrow(PolicyError);
  const atEnd = done;
  expect(atEnd).toBeLessThan(cells.length);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(done).toBe(atEnd);
});
