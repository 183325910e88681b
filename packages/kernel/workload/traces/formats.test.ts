import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import { hashWorkload } from "../hash.ts";
import { traceBytes, traceFile } from "../traces-for-tests.ts";
import { workloadOf } from "../workloads-for-tests.ts";
import { detectFormat, FORMATS } from "./formats.ts";
import { sampleBytes, sampleFile } from "./formats-for-tests.ts";
import { WRITERS } from "./writers.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("detectFormat()", () => {
  test.each([
    ['{"jobs": []}', "batsim"],
    ['\ufeff \n {\n"jobs"', "batsim"],
    ["JobID|Submit|Start\n1|", "sacct"],
    ["Submit|State|JobIDRaw", "sacct"],
    ["Submit|JobID|State\r\n", "sacct"],
    ["\ufeffjobid|submit", "sacct"],
    ['{"schema":"tutti.workload-file/1"}\n{"job":1}', "jsonl"],
    ["; MaxProcs: 100\n1 2 3", "swf"],
    ["1 0 -1 5 1 -1", "swf"],
    ["; JobID|Submit\n", "swf"],
    ["a|b\n", "swf"],
    ["job, user, size\n1 0 -1 5 1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n", "swf"],
    ["; job,user,size\n", "swf"],
    ["1,2,3,4\n", "swf"],
    ["", "swf"],
    ["<html>", "swf"],
    ["JobID Submit\n", "swf"],
  ])("recognises %j as %s", (text, name) => {
    expect(detectFormat(bytes(text)).name).toBe(name);
  });

  const HELIOS =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue";
  test.each([
    [
      `${HELIOS}\n1,u1,vc1,1,6,1,COMPLETED,2020-04-01,,,5,0\n`,
      "a table (12 columns: job_id, user, vc, gpu_num …)",
    ],
    [`\ufeff"a";"b c";"d"\r\n1;2;3`, "a table (3 columns: a, b c, d)"],
    ["job_name\ttask\tinst_num\n", "a table (3 columns: job_name, task, inst_num)"],
    ["JobId|Submit|Start\n".replaceAll("JobId", "Job"), "a table (3 columns: Job, Submit, Start)"],
    ['[{"status": "Pass"}]', "a JSON array"],
    ["PAR1\x15", "a Parquet file"],
    ["PK\x03\x04", "a zip archive"],
    ["\xfd7zXZ\x00", "a file compressed with xz"],
    ["\x28\xb5\x2f\xfd", "a file compressed with zstd"],
    [`${"x".repeat(257)}ustar`, "a tar archive"],
  ])("says what %j is, and the way in", (text, what) => {
    const head = what.startsWith("a table") ? bytes(text) : Uint8Array.from(text, (one) => one.charCodeAt(0));
    const wayIn = what.includes("compressed") || what.includes("archive") ? "unpack it first" : '{"job":1,';
    let message = "";
    try {
      detectFormat(head, "log");
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/^Cannot read "log": this (is|looks like) /);
    expect(message).toContain(what);
    expect(message).toContain(wayIn);
  });

  test.skipIf(sampleFile("sacct-parsable2-sample.txt") === undefined)("recognises the samples", () => {
    expect(detectFormat(sampleBytes("sacct-parsable2-sample.txt")).name).toBe("sacct");
    expect(detectFormat(sampleBytes("batsim-workload-sample.json")).name).toBe("batsim");
  });

  test.skipIf(traceFile("KTH-SP2") === undefined)("recognises the archive's logs", () => {
    for (const name of ["KTH-SP2", "lublin_256", "CTC-SP2"]) {
      expect(detectFormat(traceBytes(name)).name).toBe("swf");
    }
  });
});

describe("FORMATS", () => {
  test("names are different, and what a format writes is recognised and read as the same jobs", () => {
    expect(new Set(FORMATS.map(({ name }) => name)).size).toBe(FORMATS.length);
    const workload = workloadOf(
      [
        { submitS: 0, runS: 10, size: 4, estimateS: 20 },
        { submitS: 2.5, runS: 7, size: 1, estimateS: -1 },
      ],
      8,
    );
    expect([...WRITERS.keys()]).toEqual(["jsonl", "batsim", "swf"]);
    for (const [name, write] of WRITERS) {
      const text = bytes([...write(workload)].join(""));
      const format = detectFormat(text);
      expect(format.name).toBe(name);
      const reader = format.open("again", text.length);
      reader.push(text);
      const again = reader.end();
      expect(hashWorkload(again)).toBe(hashWorkload(workload));
      expect(again.processors).toBe(8);
    }
  });

  test("an empty text is a workload without jobs or an InputError in every format", () => {
    for (const format of FORMATS) {
      const reader = format.open("empty", 0);
      if (format.name === "swf") expect(reader.end().count).toBe(0);
      else expect(() => reader.end()).toThrow(InputError);
    }
  });
});
