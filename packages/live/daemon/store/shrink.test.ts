/** Tests that the store's file becomes smaller, and that no row is inserted for nothing. */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { Statements } from "./statements.ts";
import { Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-shrink-"));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([undefined, 5, 8])(
  "the file becomes smaller when rows are removed, in steps (made by version %s)",
  (version) => {
    const path = join(folder, `${version}.db`);
    if (version !== undefined)
      copyFileSync(fileURLToPath(new URL(`./golden/v${version}.db`, import.meta.url)), path);
    const store = new Store(path, 0);
    const scripts = Array.from({ length: 2000 }, (_, i) =>
      store.contents.ofScript(Buffer.from(`${i} ${"x".repeat(10_000)}`).toString("base64")),
    );
    let ids: number[] = [];
    store.tryTransaction(() => {
      ids = scripts.map((script) => store.contents.keep(script));
    });
    store.tryTransaction(() => {
      for (const id of ids) store.contents.drop({ table: "scripts", id, bytes: 0 });
    });
    let steps = 1;
    while (store.shrink(256)) steps++;
    expect(steps).toBeGreaterThan(5);
    expect(store.shrink(256)).toBe(false);
    store.close();
    // Of 20 MB, 1024 free pages of 4 kB may stay.
    expect(statSync(path).size).toBeLessThan(5_000_000);
    expect(statSync(path).size).toBeGreaterThan(4_000_000);
  },
);

test("an insert that nobody pays for is a fault", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE jobs (job INTEGER)");
  const sql = new Statements(":memory:", database);
  const text: string = "INSERT INTO jobs VALUES (1)";
  expect(() => sql.run(text)).toThrow("nobody pays");
  // @ts-expect-error the same, found by its type
  expect(() => sql.run("INSERT INTO jobs VALUES (1)")).toThrow("nobody pays");
});
