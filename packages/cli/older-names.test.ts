import { expect, test } from "vitest";
import { withoutOlderName } from "./older-names.ts";

test.each([
  ["reserve disk --for 2h", "window add disk --for 2h"],
  ["unreserve disk", "window remove disk"],
  ["eta --json 7", "why --starts --json 7"],
  ["history --last 5", "jobs --ended --last 5"],
  ["pilot start", "allocations --as-pilots start"],
  ["priority 5 7 8", "update --priority=5 7 8"],
  ["priority --json -5 7", "update --priority=-5 --json 7"],
  ["priority -h", "update -h"],
  ["jobs eta", "jobs eta"],
  ["toString", "toString"],
  ["", ""],
])("withoutOlderName() of %j is %j", (given, words) => {
  const parameters = (text: string) => text.split(" ").filter((word) => word !== "");
  expect(withoutOlderName(parameters(given))).toEqual(parameters(words));
});
