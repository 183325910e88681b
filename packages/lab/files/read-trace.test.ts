import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { hashWorkload } from "@tutti/kernel/workload/hash.ts";
import { readSwf, traceBytes, traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readTrace } from "./read-trace.ts";

let folder = "";
const named = process.env.TUTTI_TRACES;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-files-"));
});
afterEach(() => {
  if (named === undefined) delete process.env.TUTTI_TRACES;
  else process.env.TUTTI_TRACES = named;
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A trace of many chunks: 30,000 jobs, about 1.5 MB. */
const text = `; MaxProcs: 64\n${Array.from(
  { length: 30_000 },
  (_, i) =>
    `${i + 1} ${i * 7} -1 ${(i * 31) % 500} ${1 + (i % 64)} -1 -1 -1 ${(i * 37) % 700} -1 1 ${i % 9} -1 -1 -1 -1 -1 -1`,
).join("\n")}\n`;

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("readTrace()", () => {
  test("plain and packed files give what the reader makes of the whole text, whatever their names", async () => {
    const expected = readSwf(text, "expected");
    expect(expected.count).toBe(30_000);
    for (const path of [
      write("plain.swf", text),
      write("packed.swf.gz", gzipSync(text)),
      write("packed-in-disguise.swf", gzipSync(text)),
      write("plain-in-disguise.gz", text),
    ]) {
      const workload = await readTrace(path);
      expect(workload.processors).toBe(64);
      expect(hashWorkload(workload)).toBe(hashWorkload(expected));
      expect(workload.trace).toEqual(expected.trace);
    }
  });

  test("gzip files one after the other are one trace", async () => {
    const half = text.indexOf("\n", text.length / 2) + 1;
    const both = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);
    const workload = await readTrace(write("two-parts.swf.gz", both));
    expect(hashWorkload(workload)).toBe(hashWorkload(readSwf(text, "expected")));
  });

  test.each([0, 1, 2, 10, 17, 1000, -8, -1])("a .gz cut at byte %d is refused", async (at) => {
    const path = write("cut.swf.gz", gzipSync(text).subarray(0, at));
    if (at === 1) return expect((await readTrace(path)).count).toBe(0); // one byte is not yet gzip
    await expect(readTrace(path)).rejects.toThrow(InputError);
    await expect(readTrace(path)).rejects.toThrow(at === 0 ? /it is empty/ : /end too early/);
  });

  test.skipIf(spawnSync("mkfifo", ["--version"]).status !== 0)(
    "a named pipe is a trace by its name",
    async () => {
      const path = join(folder, "pipe");
      spawnSync("mkfifo", [path]);
      for (const content of [text, gzipSync(text)]) {
        const [workload] = await Promise.all([readTrace(path), writeFile(path, content)]);
        expect(workload.count).toBe(30_000);
      }
    },
  );

  test("a bare name is looked for in the folder TUTTI_TRACES", async () => {
    process.env.TUTTI_TRACES = folder;
    write("Alpha-1.swf", text);
    write("Alpha-12.swf.gz", gzipSync(text));
    expect((await readTrace("Alpha-12")).name).toBe("Alpha-12.swf.gz");
    expect((await readTrace("Alpha-1")).name).toBe("Alpha-1.swf"); // a whole name goes before a beginning
    await expect(readTrace("Alpha")).rejects.toThrow(/more than one.*Alpha-1\.swf, Alpha-12\.swf\.gz/);
    await expect(readTrace("Omega")).rejects.toThrow(/no trace in/);
    process.env.TUTTI_TRACES = join(folder, "none");
    await expect(readTrace("Alpha-1")).rejects.toThrow(InputError);
  });

  test.skipIf(traceFile("KTH-SP2") === undefined)("a real trace reads as it does in one piece", async () => {
    const workload = await readTrace(traceFile("KTH-SP2") as string);
    expect(hashWorkload(workload)).toBe(hashWorkload(readSwf(traceBytes("KTH-SP2"), "KTH-SP2")));
  });
});
