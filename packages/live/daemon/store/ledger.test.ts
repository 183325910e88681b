import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { checkFile } from "../state/check-state.ts";
import { Store } from "./store.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-ledger-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A store of that version, of the latest one by now. */
function migrated(version: number): string {
  const path = join(folder, `v${version}.db`);
  copyFileSync(fileURLToPath(new URL(`./golden/v${version}.db`, import.meta.url)), path);
  new Store(path, 0).close();
  return path;
}

test.each([7, 8, 9, 10])("the ledger of a store that had version %i says what its rows take", (version) => {
  expect(checkFile(migrated(version)).problems).toEqual([]);
});

test("a check says where the ledger differs from the rows", () => {
  const path = migrated(10);
  const database = new DatabaseSync(path);
  const [uid] = Object.values(database.prepare("SELECT uid FROM jobs").get()!);
  const { rows, bytes } = database.prepare("SELECT rows, bytes FROM ledger WHERE kind = 'jobs'").get()!;
  database.exec("UPDATE ledger SET rows = rows + 1, bytes = bytes - 7 WHERE kind = 'jobs'");
  database.exec("DELETE FROM ledger WHERE kind = 'events'");
  database.close();
  const { problems } = checkFile(path);
  const [ofJobs, ofEvents] = problems;
  expect(problems).toHaveLength(2);
  expect(ofJobs).toBe(
    `user ${uid} has jobs: ${rows} of ${bytes} bytes, and the ledger says ${Number(rows) + 1} of ${Number(bytes) - 7} bytes`,
  );
  expect(ofEvents).toMatch(/^user -?\d+ has events: \d+ of \d+ bytes, and the ledger says none$/);
});
