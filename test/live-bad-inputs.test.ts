/**
 * The answers to bad input: the command line, Slurm's names, and requests. The words and codes of
 * bad-inputs.txt were written down once; those of tutti itself have one form. Job 1 runs, 2 is held, 3 has
 * ended.
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { ExitCode } from "@tutti/cli/errors.ts";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { JOB_FIELDS } from "@tutti/protocol/job-fields.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tutti } from "./live-shell.ts";
import { SlurmNames } from "./slurm-names.ts";

const rows = readFileSync(new URL("bad-inputs.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");
const requests = rows.filter((row) => /^[A-Z]/.test(row));
const commands = rows.filter((row) => !requests.includes(row));
let site: SlurmNames;

beforeAll(async () => {
  site = await SlurmNames.start();
  for (const line of ["submit -- sleep 1000", "submit --hold -- true", "submit -- true", "wait 3"])
    expect(await site.shell(`${tutti} ${line}`)).toMatchObject({ status: 0 });
});
afterAll(() => site.clear());

/** The input, the exit code or status, and the words, as a row. */
function told(input: string, code: number | undefined | null, words: string): string {
  return `${input} => ${code} ${words.trimEnd().replaceAll(site.folder, "FOLDER").replaceAll("\n", " / ")}`;
}

/** Asks with a method, a path and perhaps a body. */
function ask(input: string): Promise<string> {
  const [, method, path, body] = /^(\S+) (\S+) ?(.*)$/.exec(input)!;
  return new Promise((resolve, reject) => {
    const headers = { host: "localhost", ...(body !== "" && { "content-type": "application/json" }) };
    request({ socketPath: site.socket, method, path, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      answer.on("end", () => resolve(told(input, answer.statusCode, text)));
    })
      .on("error", reject)
      .end(body);
  });
}

const inputOf = (row: string) => row.slice(0, row.indexOf(" => "));

describe("the voice of tutti", () => {
  const own = commands.filter((row) => / => \d+ tutti: /.test(row));
  /** Names of the API that are no words of their own, such as retryOn. */
  const apiNames = Object.keys(JOB_FIELDS).filter((name) => /[A-Z]/.test(name));
  const codes = Object.values(ExitCode) as readonly number[];

  test("is that of at least 150 bad inputs", () => {
    expect(own.length).toBeGreaterThan(150);
    // Slurm's names have Slurm's messages.
    expect(commands.filter((row) => !own.includes(row) && !/^(?:echo true \| )?sbatch /.test(row))).toEqual(
      [],
    );
  });

  test.each(own)("%s", (row) => {
    const [, input = "", code, words = ""] = /^(.*?) => (\d+) (.*)$/.exec(row)!;
    const lines = words.split(" / ");
    // What failed with its value, why, and what was expected or what to do.
    expect(lines[0]).toMatch(/^tutti: Cannot [a-z]+ [^:]*.*: .+/);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(words).not.toMatch(/\w\.$|\berror:|^ +at |undefined|\[object|jobs\[/);
    expect(codes).toContain(Number(code));
    expect(Number(code)).not.toBe(ExitCode.bug);
    // Files of jobs have the names of the API.
    if (!input.includes("--from-json"))
      for (const name of apiNames) expect(words).not.toMatch(new RegExp(`\\b${name}\\b`));
  });
});

test("bad requests", async () => {
  expect(await Promise.all(requests.map((row) => ask(inputOf(row))))).toEqual(requests);
});

// Each starts a program, which takes a third of a second.
describe.each(SOAK ? [0, 1, 2, 3] : [0])("bad options and arguments, part %i", (part) => {
  test.each(commands.filter((_, i) => i % 4 === part))("%s", async (row) => {
    const { status, stderr } = await site.shell(`tutti() { ${tutti} "$@"; }\n${inputOf(row)}`);
    expect(told(inputOf(row), status, stderr)).toBe(row);
  });
});
