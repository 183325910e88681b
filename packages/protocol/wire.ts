/**
 * Splits a stream into lines of JSON, and checks that a line is a message that the conductor can act on.
 */
import { conductorMatrix, TO_CONDUCTOR, type ToConductor } from "./conductor.ts";
import { isObject, object, problemIn, type Shape, show } from "./shape.ts";

/** Enough for the longest message: a launch with the environment of a user's shell. */
const MAX_LINE_LENGTH = 16 * 2 ** 20;

/** Cuts a stream of bytes into lines. */
export class LineReader {
  #parts: Buffer[] = [];
  #length = 0;

  /** @returns the lines that are now complete, or undefined if a line is too long to be a message */
  push(chunk: Buffer): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      if (this.#parts.length === 0) lines.push(chunk.toString("utf8", from, end));
      else {
        this.#parts.push(chunk.subarray(from, end));
        lines.push(Buffer.concat(this.#parts).toString("utf8"));
        this.#parts = [];
        this.#length = 0;
      }
      from = end + 1;
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#length += chunk.length - from;
    }
    return this.#length > MAX_LINE_LENGTH ? undefined : lines;
  }
}

/** The message in a line, or why the line is not a message. */
export function parseMessage(
  line: string,
): ToConductor | { readonly type: "malformed"; readonly message: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return malformed("the line is not JSON");
  }
  const problem = problemOf(value);
  return problem === undefined ? (value as ToConductor) : malformed(problem);
}

function malformed(problem: string) {
  return {
    type: "malformed",
    message: `Cannot read a message: ${problem}, expected a message of the conductor's protocol`,
  } as const;
}

const SHAPES: ReadonlyMap<unknown, Shape<unknown>> = new Map(
  Object.entries(TO_CONDUCTOR).map(([type, fields]) => [type, object(fields)]),
);

function problemOf(message: unknown): string | undefined {
  if (!isObject(message)) return "it is not an object";
  const shape = SHAPES.get(message.type);
  return shape === undefined ? `the type ${show(message.type)} is unknown` : problemIn(shape, message);
}

/** Why no conductor can run this matrix; undefined if it can. */
export function matrixProblem(matrix: unknown): string | undefined {
  return problemIn(conductorMatrix, matrix);
}
