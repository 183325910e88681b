/**
 * Computes from what disk.c wrote down what a power cut would have left. Linux keeps what is written in pages
 * in memory, and may write any of them at any time, in any order; the disk writes sectors. A page whose sync
 * failed is clean afterwards: it can be read until the power fails, and no later sync writes it.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Draws } from "@tutti/torture/world/random.ts";

const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;
/** That Linux writes some page after a change, without being asked. */
const WRITE_BACK = 0.02;
/** Memory that processes share: SQLite makes it again at a start. */
const SHARED_MEMORY = /-shm$/;

/** A file in memory and on the disk. */
class File {
  cached: Buffer;
  onDisk: Buffer;
  readonly #dirty = new Set<number>();

  constructor(bytes: Buffer) {
    this.cached = bytes;
    this.onDisk = Buffer.from(bytes);
  }

  write(bytes: Buffer, offset: number): void {
    if (offset + bytes.length > this.cached.length) this.cached = resized(this.cached, offset + bytes.length);
    else this.cached = Buffer.from(this.cached);
    bytes.copy(this.cached, offset);
    const last = Math.floor((offset + bytes.length - 1) / PAGE_BYTES);
    for (let page = Math.floor(offset / PAGE_BYTES); page <= last; page++) this.#dirty.add(page);
  }

  truncate(length: number): void {
    this.cached = resized(this.cached, length);
  }

  sync(): void {
    this.onDisk = resized(this.onDisk, this.cached.length);
    for (const page of this.#dirty)
      this.cached.copy(this.onDisk, page * PAGE_BYTES, page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
    this.#dirty.clear();
  }

  /** Some pages get to the disk, some only in part, and none is dirty any longer. */
  settle(random: Draws): void {
    if (random.chance(0.5)) this.onDisk = resized(this.onDisk, this.cached.length);
    for (const page of this.#dirty) if (random.chance(0.5)) this.#writePage(page, random);
    this.#dirty.clear();
  }

  writeBackOne(random: Draws): void {
    if (this.#dirty.size > 0) this.#writePage(random.pick([...this.#dirty]), random);
  }

  #writePage(page: number, random: Draws): void {
    const isWhole = random.chance(0.7);
    for (let at = page * PAGE_BYTES; at < (page + 1) * PAGE_BYTES; at += SECTOR_BYTES) {
      const end = Math.min(at + SECTOR_BYTES, this.cached.length);
      if (end <= at || !(isWhole || random.chance(0.5))) continue;
      if (this.onDisk.length < end) this.onDisk = resized(this.onDisk, end);
      this.cached.copy(this.onDisk, at, at, end);
    }
  }
}

function resized(bytes: Buffer, length: number): Buffer {
  const result = Buffer.alloc(length);
  bytes.copy(result);
  return result;
}

/** A folder's files, with content. */
export function readFolder(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

/** Makes a folder what a power cut may leave of it. @param before what was surely on the disk at the start */
export function cutPower(folder: string, before: Map<string, Buffer>, logPath: string, random: Draws): void {
  const named = new Map([...before].map(([name, bytes]) => [name, new File(bytes)]));
  /** Names on the disk. */
  let kept = new Map(named);
  const opened = new Map<string, File>();
  const log = readFileSync(logPath);
  for (let at = 0; at < log.length; ) {
    const end = log.indexOf("\n", at);
    const [what, ...words] = log.toString("utf8", at, end).split(" ");
    at = end + 1;
    if (what === "d") {
      kept = new Map(named);
      continue;
    }
    if (what === "u") {
      named.delete(basename(words[0]));
      continue;
    }
    const [number, path] = words;
    if (what === "c" || what === "o") {
      if (dirname(path) !== folder) throw new Error(`the log has ${path}, expected files in ${folder}`);
      const name = basename(path);
      const file = named.get(name) ?? new File(Buffer.alloc(0));
      named.set(name, file);
      opened.set(number, file);
      continue;
    }
    const file = opened.get(number);
    if (file === undefined) throw new Error(`the log has file ${number}, which was not opened`);
    if (what === "t") file.truncate(Number(words[1]));
    else if (what === "s") file.sync();
    else if (what === "f") file.settle(random);
    else {
      const length = Number(words[2]);
      file.write(log.subarray(at, at + length), Number(words[1]));
      at += length;
    }
    if (random.chance(WRITE_BACK)) file.writeBackOne(random);
  }
  // Each change of the folder that was not synced may have happened, too.
  for (const name of new Set([...named.keys(), ...kept.keys()])) {
    if (random.chance(0.5)) continue;
    const file = named.get(name);
    if (file === undefined) kept.delete(name);
    else kept.set(name, file);
  }
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  for (const [name, file] of kept) {
    if (SHARED_MEMORY.test(name)) continue;
    file.settle(random);
    writeFileSync(join(folder, name), file.onDisk, { mode: 0o600 });
  }
}
