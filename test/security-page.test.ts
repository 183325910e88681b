/** Checks that docs/security.md names every attack, and only tests that exist. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ATTACKS } from "../attack/registry.ts";

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
const page = read("docs/security.md");

test("every attack is in the table", () => {
  expect(ATTACKS.filter(({ name }) => !page.includes(`\`${name}\``)).map(({ name }) => name)).toEqual([]);
});

test("every test that it names is there, in the file that it names", () => {
  const named = [...page.matchAll(/`([\w./-]+\.test\.ts)`: "([^"]+)"/g)];
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter(([, file = "", name = ""]) => !read(file).includes(name)).map(([all]) => all)).toEqual(
    [],
  );
});

test("every finding of both reviews is in it", () => {
  const findings = [
    ...Array.from({ length: 13 }, (_, i) => `S${i + 1}`),
    ...Array.from({ length: 10 }, (_, i) => `R${i + 1}`),
  ];
  expect(findings.filter((one) => !new RegExp(`^\\| (?:\\w+, )?${one}(?:,| )`, "m").test(page))).toEqual([]);
});
