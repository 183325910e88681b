import { expect, test } from "vitest";
import { areMailAddresses } from "./news.ts";

test.each([
  "ada",
  "ada@example.org",
  "ada.b+jobs@mail.example.org,o'brien_x@h",
  `${"a".repeat(64)}@example.org`,
  Array(50).fill("a@b.example").join(","),
])("areMailAddresses() accepts %s", (text) => {
  expect(areMailAddresses(text)).toBe(true);
});

test.each([
  ["nothing", ""],
  ["an empty one", "ada,"],
  ["an option", "-fbob"],
  ["an option after a comma", "ada,-bob@example.org"],
  ["a second header", "ada@example.org\nBcc: bob"],
  ["a carriage return", "ada\r"],
  ["a line end at the end", "ada\n"],
  ["a blank", "ada bob"],
  ["a NUL character", "ada\0"],
  ["a program", "|sh"],
  ["a file", "/etc/passwd"],
  ["a list", ":include:/etc/shadow"],
  ["a route", "@a:b@c"],
  ["an old route", "a%b@c"],
  ["a path of UUCP", "a!b"],
  ["a name with brackets", "Ada <ada@example.org>"],
  ["a quoted part", '"a b"@example.org'],
  ["two dots", "a..b@example.org"],
  ["two at signs", "a@b@c"],
  ["an address of IP", "a@[127.0.0.1]"],
  ["letters that are not ASCII", "ä@example.org"],
  ["a long name", `${"a".repeat(65)}@example.org`],
  ["a long host", `a@${"b".repeat(255)}`],
  ["a long list", Array(91).fill("a@b.example").join(",")],
])("areMailAddresses() refuses %s", (_, text) => {
  expect(areMailAddresses(text)).toBe(false);
});

test("areMailAddresses() ends soon for a long text", () => {
  expect(areMailAddresses(`a@${"b-".repeat(5_000_000)}`)).toBe(false);
  expect(areMailAddresses(`a@${"b".repeat(248)}_,`.repeat(3))).toBe(false);
});
