/** Defines the API's answer about the standard input of a job. */
import { z } from "zod";
import { answer, count, type Value } from "../atoms.ts";

export const inputAnswer = answer("tutti.input/1", {
  input: z.enum(["pipe", "terminal"]),
  folder: z
    .string()
    .describe(
      "Folder of the present attempt on the scheduler's machine; only the job's user and root can enter it",
    ),
  uid: count.describe("The job's user"),
});

export type InputAnswer = Value<typeof inputAnswer>;
