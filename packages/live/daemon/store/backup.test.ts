/**
 * Tests that a backup is a snapshot of the store, whatever is written in the meantime, and that a damaged
 * copy is not kept.
 */
import {
  copyFileSync,
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
import { networkFileSystem } from "@tutti/host/files.ts";
import { InputError, StorageError } from "@tutti/kernel/core/errors.ts";
import { afterAll, expect, test } from "vitest";
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

test("network file systems are known by the numbers of the kernel", () => {
  // From linux/magic.h and the file systems' own sources; some kernels give the number with a sign.
  const numbers = [0x6969, 0x0bd00bd0, 0x47504653, 0xff534d42, 0xff534d42 | 0, 0x65735546];
  expect(numbers.map((type) => networkFileSystem("/home", () => type))).toEqual([
    "NFS",
    "Lustre",
    "GPFS",
    "CIFS",
    "CIFS",
    "FUSE",
  ]);
  // ext4, tmpfs, XFS, Btrfs, overlay, ZFS
  for (const type of [0xef53, 0x01021994, 0x58465342, 0x9123683e, 0x794c7630, 0x2fc12fc1])
    expect(networkFileSystem("/home", () => type)).toBeUndefined();
  expect(networkFileSystem("/proc")).toBeUndefined();
  expect(networkFileSystem(join(folder, "missing"))).toBeUndefined();
});

test("on a network file system, a store works without a log in shared memory", async () => {
  const path = newPath();
  const journalOf = (store: string): unknown => {
    const database = openReadOnly(store);
    const mode = database.prepare("PRAGMA journal_mode").get()?.journal_mode;
    database.close();
    return mode;
  };
  // A scheduler of an earlier release, or on a local disk, that was killed: its log has the last rows.
  const local = new Store(path, 0);
  turn(local, 1);
  const killed = newPath();
  for (const part of ["", "-wal"]) copyFileSync(`${path}${part}`, `${killed}${part}`);
  local.close();
  const store = new Store(killed, 0, "NFS");
  expect(["-wal", "-shm"].filter((part) => existsSync(`${killed}${part}`))).toEqual([]);
  expect(store.latestEvent()).toBe(1);
  turn(store, 2);
  expect(journalOf(killed)).not.toBe("wal");
  // Others read and copy it while it is open.
  expect((await backUp(killed, newPath(), false)).lastEvent).toBe(2);
  turn(store, 3);
  // Killed in the middle of a cycle that is larger than SQLite's cache: half of it is in the file.
  store.begin();
  for (let sequence = 4; sequence < 1500; sequence++)
    store.addEvent({
      event: { sequence, atMs: 1, kind: "matrix", data: { fill: "x".repeat(4000) } },
      uid: undefined,
    });
  store.setMeta("boot", "lost");
  const halfway = newPath();
  for (const part of ["", "-journal"]) copyFileSync(`${killed}${part}`, `${halfway}${part}`);
  expect(statSync(halfway).size).toBeGreaterThan(1_000_000);
  store.rollback();
  store.close();
  const again = new Store(halfway, 0, "Lustre");
  expect(again.latestEvent()).toBe(3);
  expect(again.meta("boot")).toBe("3");
  again.close();
  // Back on a local disk.
  const back = new Store(halfway, 0);
  turn(back, 4);
  expect(journalOf(halfway)).toBe("wal");
  back.close();
});
