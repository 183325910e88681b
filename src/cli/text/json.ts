/** `--json`: answers of the API as they are, each with the name and version of its schema. */
import { writeOut, writePiece } from "./text.ts";

export function writeJson(answer: object): void {
  writeOut(`${JSON.stringify(answer, undefined, 2)}\n`);
}

/** An answer with one long list, written page by page: the same text as that of `writeJson`. */
export async function writeJsonList(
  schema: string,
  name: string,
  pages: AsyncIterable<readonly object[]>,
): Promise<void> {
  await writePiece(`{\n  "schema": ${JSON.stringify(schema)},\n  ${JSON.stringify(name)}: [`);
  let isEmpty = true;
  for await (const page of pages) {
    const entries = page.map(
      (entry) => `\n    ${JSON.stringify(entry, undefined, 2).replaceAll("\n", "\n    ")}`,
    );
    if (entries.length > 0) await writePiece(`${isEmpty ? "" : ","}${entries.join(",")}`);
    isEmpty &&= entries.length === 0;
  }
  await writePiece(isEmpty ? "]\n}\n" : "\n  ]\n}\n");
}
