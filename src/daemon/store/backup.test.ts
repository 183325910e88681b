/**
 * Tests that a backup is a snapshot of the store, whatever is written in the meantime, and that a damaged
 * copy is not kept.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { InputError, StorageError } from "../../core/errors.ts";
import { backUp } from "./backup.ts";
import { checkStore } from "./check.ts";
import { openReadOnly } from "./read-only.ts";
import { Store } from "./store.ts";
import { DamagedStoreError } from "./store-error.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-backup-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

/** A cycle that writes two related values, and so much that the copy needs several pieces. */
function turn(store: Store, sequence: number): void {
  store.begin();
  const data = { fill: "x".repeat(4000) };
  store.addEvent({ event: { sequence, atMs: 1, kind: "matrix", data }, uid: undefined });
  store.setMeta("boot", String(sequence));
  store.commit();
}

test("it is a snapshot while the store changes, and does not block writers", async () => {
  const path = newPath();
  const store = new Store(path, 0);
  let last = 0;
  while (last < 3000) turn(store, ++last);
  const copy = newPath();
  const atStart = last;
  let isDone = false;
  const made = backUp(path, copy, false).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    turn(store, ++last);
    await nextTurn();
  }
  const findings = await made;
  expect(last).toBeGreaterThan(atStart);
  expect(findings.lastEvent).toBeGreaterThanOrEqual(atStart);
  expect(findings.lastEvent).toBeLessThanOrEqual(last);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  const opened = new Store(copy, 0);
  expect(opened.meta("boot")).toBe(String(findings.lastEvent));
  expect(opened.latestEvent()).toBe(findings.lastEvent);
  opened.close();
  store.close();
});

test("an existing file is kept, even one that appears in the meantime, and no partial file is left", async () => {
  const path = newPath();
  const store = new Store(path, 0);
  for (let sequence = 1; sequence <= 3000; sequence++) turn(store, sequence);
  const copy = newPath();
  const made = backUp(path, copy, false);
  writeFileSync(copy, "mine");
  await expect(made).rejects.toThrow(StorageError);
  expect(readFileSync(copy, "utf8")).toBe("mine");
  await backUp(path, copy, true);
  expect(readFileSync(copy, "latin1")).toMatch(/^SQLite format 3/);
  store.close();
  expect(readdirSync(folder).filter((name) => name.includes(".new"))).toEqual([]);
});

test("no link is followed", async () => {
  const path = newPath();
  new Store(path, 0).close();
  const copy = newPath();
  const victim = join(folder, "victim");
  writeFileSync(victim, "precious");
  symlinkSync(victim, `${copy}.${process.pid}.new`);
  await expect(backUp(path, copy, false)).rejects.toThrow(/EEXIST/);
  rmSync(`${copy}.${process.pid}.new`);
  symlinkSync(victim, copy);
  await backUp(path, copy, true);
  expect(readFileSync(victim, "utf8")).toBe("precious");
});

test("a damaged store is reported and not backed up", async () => {
  const path = newPath();
  const store = new Store(path, 0);
  for (let sequence = 1; sequence <= 100; sequence++) turn(store, sequence);
  store.close();
  const bytes = readFileSync(path);
  bytes.fill(0xa5, Math.floor(bytes.length / 8192) * 4096, Math.floor(bytes.length / 8192) * 4096 + 4096);
  writeFileSync(path, bytes);
  const copy = newPath();
  await expect(backUp(path, copy, false)).rejects.toThrow(DamagedStoreError);
  expect(existsSync(copy)).toBe(false);
  const database = openReadOnly(path);
  expect(checkStore(path, database).problems.length).toBeGreaterThan(0);
  database.close();
});

test("a file that is not a store is refused", () => {
  const other = newPath();
  expect(() => openReadOnly(other)).toThrow(InputError);
  writeFileSync(other, "Dear diary".repeat(1000));
  expect(() => openReadOnly(other)).toThrow(/expected a database that Tutti has written/);
  writeFileSync(other, "");
  const empty = openReadOnly(other);
  expect(() => checkStore(other, empty)).toThrow(/: it is empty, expected a store/);
  empty.close();
});
