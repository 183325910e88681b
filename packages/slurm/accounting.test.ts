/** Reads recorded output of sacct as `tutti lab import` does, from a program that prints it. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SacctReader } from "@tutti/kernel/workload/traces/sacct.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { accountingOf } from "./accounting.ts";

let folder: string;
const { PATH } = process.env;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-accounting-"));
  process.env.PATH = `${folder}:${PATH}`;
});

afterEach(() => {
  process.env.PATH = PATH;
  rmSync(folder, { recursive: true });
});

function recorded(version: "22.05" | "23.11", name: string): string {
  return fileURLToPath(new URL(`formats/recorded/${version}/${name}`, import.meta.url));
}

/** What comes from a sacct that is this shell script. */
async function read(script: string) {
  writeFileSync(join(folder, "sacct"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "sacct"), 0o755);
  const reader = new SacctReader("sacct");
  for await (const chunk of accountingOf({ since: "now-1hour", user: "ann" })) reader.push(chunk);
  return reader.end();
}

const countsOf = ({ diagnostics }: Awaited<ReturnType<typeof read>>) =>
  Object.fromEntries(diagnostics.map(({ code, count }) => [code, count]));

describe("accountingOf()", () => {
  test("reads what Slurm 22.05 printed", async () => {
    const workload = await read(`cat ${recorded("22.05", "sacct-usual.txt")}`);
    const { jobs, trace, count } = workload;
    const rows = Array.from({ length: count }, (_, i) => [
      ...[jobs.id[i], jobs.submitS[i] + 1795397767, trace!.waitS[i], jobs.runS[i], jobs.size[i]],
      ...[jobs.estimateS[i], trace!.status[i]],
    ]);
    // As in the lines of the file: job, arrival, wait, run time, processors, limit, status.
    expect(rows).toEqual([
      [2, 1795397767, 1, 4, 4, 300, 1],
      [3, 1795397767, 1, 184, 1, -1, 0],
      [4, 1795397767, 1, 88, 1, 60, 0],
      [5, 1795397768, 0, 353, 16, 3600, 0],
      [7, 1795397768, 3, 0, 1, 300, 0],
      [8, 1795397768, 3, 0, 1, 300, 0],
      [9, 1795397774, 0, 0, 1, 300, 0],
      [6, 1795397774, 0, 0, 1, 300, 0],
      [10, 1795398026, 0, 101, 4, 300, 1],
    ]);
    // Unfinished are job 3, which waits twice, 5, which Slurm has restarted, and 11, which is suspended.
    expect(countsOf(workload)).toMatchObject({ requeued: 1, "no-time-limit": 1, unfinished: 4 });
  });

  test("reads the form of 23.11", async () => {
    const workload = await read(`cat ${recorded("23.11", "sacct-usual.txt")}`);
    expect([...workload.jobs.id]).toEqual([101]);
    expect(countsOf(workload)).toEqual({ step: 2, "not-started": 1, unfinished: 1 });
  });

  test("asks for Unix times, all runs, and the user", async () => {
    await read(`printf '%s %s\\n' "$SLURM_TIME_FORMAT" "$*" >${folder}/asked
      cat ${recorded("22.05", "sacct-empty.txt")}`);
    expect(readFileSync(join(folder, "asked"), "utf8")).toMatch(
      /^%s --parsable2 --duplicates --starttime=now-1hour --user=ann --format=JobID,JobIDRaw,Submit,Eligible,/,
    );
  });

  test("no jobs are no error; a failure, a cut line and a missing program are one", async () => {
    expect((await read(`cat ${recorded("22.05", "sacct-empty.txt")}`)).count).toBe(0);
    await expect(
      read("echo 'sacct: error: Slurm accounting storage is disabled' >&2; exit 1"),
    ).rejects.toThrow(/from now-1hour on: sacct says: Slurm accounting storage is disabled/);
    for (const bytes of [40, 200, 1000])
      await expect(read(`head -c ${bytes} ${recorded("22.05", "sacct-usual.txt")}`)).rejects.toThrow(
        "Cannot read the output of sacct: it ends in the middle of a line",
      );
    await expect(read(`cat ${recorded("22.05", "sacct-usual.txt")}; kill -9 $$`)).rejects.toThrow(/SIGKILL/);
    process.env.PATH = folder;
    rmSync(join(folder, "sacct"));
    const none = async () => {
      for await (const _ of accountingOf({ since: "now-1hour" }));
    };
    await expect(none()).rejects.toThrow(/expected the command sacct in the PATH/);
  });
});
