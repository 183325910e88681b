/** Defines the API's request and answers about the standard input of a job. */
import { z } from "zod";
import { answer, count, optional, type Value } from "../atoms.ts";
import { MAX_PIECE_BYTES } from "./frames.ts";

export const inputAnswer = answer("tutti.input/1", {
  input: z.enum(["pipe", "terminal"]),
  folder: z
    .string()
    .describe(
      "Folder of the present attempt on the scheduler's machine; only the job's user and root can enter it",
    ),
  uid: count.describe("The job's user"),
  isSent: optional(
    z.literal(true),
    "The job runs on another node: what it reads is not written into the folder, but sent in pieces (sendInput)",
  ),
});

const BASE64_PER_BYTE = 4 / 3;

export const inputBody = z.strictObject({
  writer: z
    .string()
    .regex(/^[\w-]{1,64}$/, "is not a word of at most 64 letters, digits, _ and -")
    .describe("Random name of the client, the same for all its pieces"),
  offset: count.describe("Number of its bytes before this piece; a piece that is sent again is taken once"),
  data: optional(
    z
      .base64()
      .max(Math.ceil(MAX_PIECE_BYTES * BASE64_PER_BYTE) + 4)
      .describe("In base64"),
    `The next bytes, at most ${MAX_PIECE_BYTES}: what the job reads, or whole frames for a terminal`,
  ),
  end: optional(z.literal(true), "After these bytes, the job reads the end"),
});

export const inputTakenAnswer = answer("tutti.input-taken/1", {
  taken: count.describe(
    "Number of the client's bytes that the job has, or can read; send the next from there",
  ),
  reader: z
    .enum(["not-yet", "open", "closed"])
    .describe("not-yet: send the rest, and an end, again; closed: the job reads nothing more, or has ended"),
});

export type InputAnswer = Value<typeof inputAnswer>;
export type InputBody = Value<typeof inputBody>;
export type InputTakenAnswer = Value<typeof inputTakenAnswer>;
