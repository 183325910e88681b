/** What the next front end must know about attempts that are jobs of a batch system: native.json. */
import { endReason, KEY } from "@tutti/protocol/attempts.ts";
import { list, number, object, oneOf, optional, type TypeOf, text } from "@tutti/protocol/shape.ts";
import { owner } from "../kept-file.ts";

const storedAttempt = object({
  ...KEY,
  identity: optional(text),
  folder: text,
  cwd: text,
  command: list(text),
  graceMs: number,
  limitMs: optional(number),
  /** Id of its job in the batch system; left out: no answer to the submit has arrived. */
  id: optional(text),
  /** Unix time in ms at which the batch system was asked to start it. */
  releasedAtMs: optional(number),
  /** Unix time in ms of its start. */
  startedAtMs: optional(number),
  /** Why Tutti ends it, noted before the signal is sent. */
  endReason: optional(endReason),
});
export type StoredAttempt = TypeOf<typeof storedAttempt>;

export const queueContent = object({
  schema: oneOf("tutti.native/1"),
  owner,
  attempts: list(storedAttempt),
});
export type QueueContent = TypeOf<typeof queueContent>;
