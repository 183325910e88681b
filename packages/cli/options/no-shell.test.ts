import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shellAdvice } from "./no-shell.ts";

test.each([
  [["./a.out", "$TUTTI_ARRAY_INDEX"], "$TUTTI_ARRAY_INDEX stays as it is"],
  [["./a.out", "--case=$SLURM_ARRAY_TASK_ID"], "$SLURM_ARRAY_TASK_ID stays as it is"],
  [["cat /etc/hosts"], "is the name of one program"],
  [["./a.out | tee x"], "is the name of one program"],
  [["./a.out", "|", "tee", "x"], '"|" is a word for the program'],
  [["./a.out", ">", "x"], '">" is a word for the program'],
])("%s: only a shell would understand it", (words, said) => {
  expect(shellAdvice(words)).toContain(said);
  expect(shellAdvice(words)).toContain(`sh -c '${words.join(" ")}'`);
});

test.each([
  [["./a.out", "input.dat"]],
  [["sh", "-c", "./a.out $TUTTI_ARRAY_INDEX | tee x"]],
  [["nice", "bash", "-lc", "./a.out $TUTTI_ARRAY_INDEX"]],
  [["awk", "{ print $1 }"]],
  [["./a.out", "a|b", "5 > 3"]],
  [["./a.out", "-o", "$HOME"]],
])("%s: nothing looks wrong", (words) => {
  expect(shellAdvice(words)).toBeUndefined();
});

test("a program with a space in its name", () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-no-shell-"));
  const program = join(folder, "my program");
  writeFileSync(program, "");
  expect(shellAdvice([program, "-x"])).toBeUndefined();
  rmSync(folder, { recursive: true });
});
