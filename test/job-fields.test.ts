import { expect, test } from "vitest";
import { MADE_FILES, madeFile } from "../scripts/fields.ts";

test.each(MADE_FILES)("$file has what follows from the table of fields; npm run fields writes it", (made) => {
  const { now, made: expected } = madeFile(made);
  expect(now).toBe(expected);
});
