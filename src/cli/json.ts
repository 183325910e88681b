/** `--json`: answers of the API as they are, each with the name and version of its schema. */
import { writeOut } from "./text.ts";

export function writeJson(answer: object): void {
  writeOut(`${JSON.stringify(answer, undefined, 2)}\n`);
}
