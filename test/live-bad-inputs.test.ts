/**
 * The answers to bad input: the command line, Slurm's names, and requests. The words
 * and codes of bad-inputs.txt were written down at revision 36ea8c3, whose clients checked all input with the
 * schemas themselves; now the scheduler alone checks most of it. Job 1 runs, 2 is held, 3 has ended.
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
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
