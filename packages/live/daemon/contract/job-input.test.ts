/** Which executors can give a job an input, and what the others answer. */
import { expect, test } from "vitest";
import { checkInput } from "./job-input.ts";

const job = { command: ["true"], cwd: "/", env: {} };

test.each([
  ["pipe", true, undefined],
  ["terminal", true, undefined],
  ["pipe", "pipes", undefined],
  [
    "terminal",
    "pipes",
    /^Cannot give the job a terminal \(--pty\): what jobs write on these hosts is fetched/,
  ],
  ["pipe", undefined, /^Cannot give the job standard input: it is a job of a batch system/],
  ["terminal", undefined, /^Cannot give the job a terminal \(--pty\): it is a job of a batch system/],
] as const)("a %s where the executor takes %s", (input, takesInput, refusal) => {
  const answer = checkInput({ ...job, input }, { takesInput });
  if (refusal === undefined) expect(answer).toBeUndefined();
  else expect(answer).toMatchObject({ refused: "invalid", message: expect.stringMatching(refusal) });
});
