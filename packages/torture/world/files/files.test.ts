/** Cases that no real folder can show: power cuts, faults, other users, pipes, made files. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Caller, MadeFolder } from "../contract.ts";
import { Draws } from "../random.ts";
import { createFiles, type SimulatedFiles } from "./files.ts";
import {
  O_APPEND,
  O_CREAT,
  O_EXCL,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_RDONLY,
  O_RDWR,
  O_TRUNC,
  O_WRONLY,
} from "./open-flags.ts";

const PAGE = 4096;
const SECTOR = 512;
const START_MS = 1_700_000_000_000;
const SEEDS = Array.from({ length: 60 }, (_, i) => i + 1);

function make(seed = 1, options: { readonly isLax?: boolean; readonly capacityBytes?: number } = {}) {
  const clock = { ms: START_MS };
  const files = createFiles({
    random: new Draws(seed),
    unixMs: () => clock.ms,
    capacityBytes: 2 ** 30,
    ...options,
  });
  return { files, root: files.asRoot(), clock };
}

const user = (files: SimulatedFiles, uid: number, groups: readonly number[] = []): Caller => ({
  ...files.asRoot(),
  uid,
  gid: uid,
  groups,
});

const bytesOf = (text: string) => new TextEncoder().encode(text);

function write(files: SimulatedFiles, who: Caller, path: string, text: string, isSynced = false): void {
  const descriptor = files.open(who, path, O_WRONLY | O_CREAT | O_TRUNC, 0o644);
  files.write(who, descriptor, bytesOf(text));
  if (isSynced) files.sync(who, descriptor);
  files.close(who, descriptor);
}

function read(files: SimulatedFiles, who: Caller, path: string): string {
  const descriptor = files.open(who, path, O_RDONLY);
  const bytes = new Uint8Array(100_000);
  const count = files.read(who, descriptor, bytes);
  files.close(who, descriptor);
  return new TextDecoder().decode(bytes.subarray(0, count));
}

function syncPath(files: SimulatedFiles, who: Caller, path: string): void {
  const descriptor = files.open(who, path, O_RDONLY);
  files.sync(who, descriptor);
  files.close(who, descriptor);
}

/** The code of the error that a call throws; undefined if it does not. */
function codeOf(call: () => unknown): string | undefined {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

const names = (files: SimulatedFiles, path: string) =>
  files
    .readFolder(files.asRoot(), path)
    .map(({ name }) => name)
    .sort();

// Power cuts ------------------------------------------------------------------------------------------------

test.each([false, true])("what was synced survives a power cut (lax disk: %s)", (isLax) => {
  for (const seed of SEEDS) {
    const { files, root } = make(seed, { isLax });
    files.makeFolder(root, "/state");
    syncPath(files, root, "/");
    write(files, root, "/state/file", "x".repeat(10_000), true);
    files.cutPower();
    expect(read(files, files.asRoot(), "/state/file")).toBe("x".repeat(10_000));
  }
});

test.each([false, true])("a file that is replaced as it should be is old or new (lax disk: %s)", (isLax) => {
  const seen = new Set<string>();
  for (const seed of SEEDS) {
    const { files, root } = make(seed, { isLax });
    write(files, root, "/kept", "old", true);
    syncPath(files, root, "/");
    write(files, root, "/kept.new", "new!", true);
    files.rename(root, "/kept.new", "/kept");
    const isSynced = seed % 2 === 0;
    if (isSynced) syncPath(files, root, "/");
    files.cutPower();
    const text = read(files, files.asRoot(), "/kept");
    if (isSynced) {
      expect(text).toBe("new!");
      expect(names(files, "/")).not.toContain("kept.new");
    } else seen.add(text);
  }
  expect([...seen].sort()).toEqual(["new!", "old"]);
});

test("a file that replaced another one without a sync may be empty, or zeros", () => {
  const seen = new Set<string>();
  for (const seed of SEEDS) {
    const { files, root } = make(seed);
    write(files, root, "/kept", "old", true);
    syncPath(files, root, "/");
    write(files, root, "/kept.new", "new!");
    files.rename(root, "/kept.new", "/kept");
    files.cutPower();
    seen.add(read(files, files.asRoot(), "/kept"));
  }
  expect([...seen].sort()).toEqual(["", "\0\0\0\0", "new!", "old"]);
});

test("each unsynced page is old, new, or torn between two sectors", () => {
  const drawn = new Set<string>();
  for (const seed of SEEDS) {
    const { files, root } = make(seed);
    write(files, root, "/data", "o".repeat(4 * PAGE), true);
    syncPath(files, root, "/");
    const descriptor = files.open(root, "/data", O_RDWR);
    files.write(root, descriptor, bytesOf("n".repeat(2 * PAGE)), PAGE);
    files.cutPower();
    const text = read(files, files.asRoot(), "/data");
    expect(text).toHaveLength(4 * PAGE);
    expect(text.slice(0, PAGE) + text.slice(3 * PAGE)).toBe("o".repeat(2 * PAGE));
    for (const page of [1, 2]) {
      const bytes = text.slice(page * PAGE, (page + 1) * PAGE);
      const sectors = bytes.match(/.{512}/gs)!.map((sector) => {
        expect(sector).toBe(sector[0].repeat(SECTOR));
        return sector[0];
      });
      const runs = sectors.join("").replace(/(.)\1*/g, "$1");
      expect(["o", "n", "on", "no"]).toContain(runs);
      drawn.add(`${page} ${runs}`);
    }
  }
  expect(drawn.size).toBe(8);
});

test("changes of names survive up to some moment, and the same seed keeps the same ones", () => {
  const after = (seed: number) => {
    const { files, root } = make(seed);
    for (let i = 0; i < 9; i++) files.makeFolder(root, `/d${i}`);
    files.removeFolder(root, "/d0");
    files.rename(root, "/d1", "/e1");
    files.cutPower();
    return names(files, "/").filter((name) => /^[de]\d/.test(name));
  };
  const made = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"];
  const moments = [...made.map((_, i) => made.slice(0, i)), made, made.slice(1), [...made.slice(2), "e1"]];
  const seen = new Set<string>();
  for (const seed of SEEDS) {
    expect(moments).toContainEqual(after(seed));
    expect(after(seed)).toEqual(after(seed));
    seen.add(after(seed).join());
  }
  expect(seen.size).toBe(moments.length);
});

test("a sync of one file makes earlier changes of names durable, but not on a lax disk", () => {
  const isKept = (seed: number, isLax: boolean) => {
    const { files, root } = make(seed, { isLax });
    files.makeFolder(root, "/first");
    write(files, root, "/second", "text", true);
    files.cutPower();
    expect(read(files, files.asRoot(), "/second")).toBe("text");
    return names(files, "/").includes("first");
  };
  expect(SEEDS.every((seed) => isKept(seed, false))).toBe(true);
  expect(new Set(SEEDS.map((seed) => isKept(seed, true)))).toEqual(new Set([true, false]));
});

test("a lax disk may lose a file that moves between folders, or keep both names", () => {
  const seen = new Set<string>();
  for (const seed of SEEDS) {
    const { files, root } = make(seed, { isLax: true });
    files.makeFolder(root, "/a");
    files.makeFolder(root, "/b");
    syncPath(files, root, "/");
    write(files, root, "/a/file", "text", true);
    syncPath(files, root, "/a");
    files.rename(root, "/a/file", "/b/file");
    files.cutPower();
    const links = [...names(files, "/a"), ...names(files, "/b").map((name) => `b/${name}`)].join();
    seen.add(links);
    if (links === "file,b/file") expect(files.stat(files.asRoot(), "/a/file").nlink).toBe(2);
  }
  expect([...seen].sort()).toEqual(["", "b/file", "file", "file,b/file"]);
});

test("what is old has been written back", () => {
  for (const seed of SEEDS) {
    const { files, root, clock } = make(seed);
    files.makeFolder(root, "/first");
    write(files, root, "/second", "text");
    clock.ms += 40_000;
    files.makeFolder(root, "/third");
    files.cutPower();
    expect(read(files, files.asRoot(), "/second")).toBe("text");
    expect(names(files, "/")).toContain("first");
  }
});

test("a long journal has been written in part", () => {
  for (const seed of SEEDS.slice(0, 10)) {
    const { files, root } = make(seed);
    for (let i = 0; i < 4097; i++) files.makeFolder(root, `/d${i}`);
    files.cutPower();
    expect(names(files, "/")).toContain("d2047");
  }
});

test("modes and owners that were not synced may be lost", () => {
  const modes = new Set<number>();
  for (const seed of SEEDS) {
    const { files, root } = make(seed);
    write(files, root, "/file", "text", true);
    files.chmod(root, "/file", 0o600);
    files.cutPower();
    modes.add(files.stat(files.asRoot(), "/file").mode);
  }
  expect([...modes].sort()).toEqual([0o600, 0o644]);
});

test("memory is empty after a power cut", () => {
  const { files, root } = make();
  for (const folder of ["/run", "/tmp", "/dev/shm"]) {
    files.makeFolder(root, `${folder}/x`);
    syncPath(files, root, folder);
  }
  files.cutPower();
  for (const folder of ["/run", "/tmp", "/dev/shm"]) expect(names(files, folder)).toEqual([]);
  expect(names(files, "/dev")).toEqual(["null", "shm"]);
  expect(files.stat(files.asRoot(), "/tmp").mode).toBe(0o1777);
});

/** A file, written and synced at random, against a list of all versions that its sectors have had. */
test("after random writes, each sector has a version from between the last sync and the cut", () => {
  const step = fc.oneof(
    fc.record({ at: fc.nat(20_000), length: fc.integer({ min: 1, max: 9000 }) }),
    fc.record({ size: fc.nat(20_000) }),
    fc.constant("sync" as const),
  );
  const property = fc.property(fc.array(step, { maxLength: 20 }), fc.nat(), (steps, seed) => {
    const { files, root } = make(seed);
    const descriptor = files.open(root, "/file", O_RDWR | O_CREAT);
    const size = 30_000;
    let now = new Uint8Array(size);
    const sizes = [0];
    const versions = [now];
    let nowSize = 0;
    for (const [i, one] of steps.entries()) {
      if (one === "sync") {
        files.sync(root, descriptor);
        versions.splice(0, versions.length, now);
        sizes.splice(0, sizes.length, nowSize);
        continue;
      }
      now = now.slice();
      if ("at" in one) {
        const bytes = new Uint8Array(one.length).fill(i + 1);
        files.write(root, descriptor, bytes, one.at);
        now.set(bytes, one.at);
        nowSize = Math.max(nowSize, one.at + one.length);
      } else {
        files.truncate(root, descriptor, one.size);
        now.fill(0, one.size);
        nowSize = one.size;
      }
      versions.push(now);
      sizes.push(nowSize);
    }
    const isSynced = steps.includes("sync");
    files.cutPower();
    const after = files.asRoot();
    if (!names(files, "/").includes("file")) {
      expect(isSynced).toBe(false);
      return;
    }
    const there = files.stat(after, "/file").size;
    expect(sizes).toContain(there);
    const bytes = new Uint8Array(size);
    files.read(after, files.open(after, "/file", O_RDONLY), bytes);
    for (let from = 0; from < there; from += SECTOR) {
      const end = Math.min(there, from + SECTOR);
      const sector = bytes.subarray(from, end).join();
      const isKnown = versions.some((version) => version.subarray(from, end).join() === sector);
      expect([from, isKnown]).toEqual([from, true]);
    }
  });
  fc.assert(property, { numRuns: 150 });
});

// Faults ----------------------------------------------------------------------------------------------------

test("a full disk writes what fits, then refuses new blocks and allows old ones", () => {
  const { files, root } = make(1, { capacityBytes: 3 * PAGE });
  const descriptor = files.open(root, "/file", O_RDWR | O_CREAT);
  expect(files.write(root, descriptor, new Uint8Array(5 * PAGE))).toBe(3 * PAGE);
  expect(files.disk.freeBytes).toBe(0);
  expect(codeOf(() => files.write(root, descriptor, new Uint8Array(1)))).toBe("ENOSPC");
  expect(files.write(root, descriptor, new Uint8Array(PAGE), 0)).toBe(PAGE);
  expect(codeOf(() => files.makeFolder(root, "/folder"))).toBe("ENOSPC");
  files.unlink(root, "/file");
  // It is still open.
  expect(files.disk.freeBytes).toBe(0);
  files.close(root, descriptor);
  expect(files.disk.freeBytes).toBe(3 * PAGE);
  files.makeFolder(root, "/folder");
  files.disk.setCapacity(0);
  expect(codeOf(() => files.makeFolder(root, "/another"))).toBe("ENOSPC");
});

test("the count of used bytes is that of what is there, also after a power cut", () => {
  for (const seed of SEEDS) {
    const { files, root } = make(seed);
    for (let i = 0; i < 5; i++) write(files, root, `/f${i}`, "x".repeat(3000 * i));
    files.makeFolder(root, "/folder");
    files.rename(root, "/f4", "/folder/f1");
    files.rename(root, "/f3", "/f2");
    files.unlink(root, "/f1");
    const used = () =>
      [
        ...names(files, "/").map((name) => `/${name}`),
        ...(names(files, "/").includes("folder") ? names(files, "/folder") : []).map(
          (name) => `/folder/${name}`,
        ),
      ]
        .map((path) => files.lstat(files.asRoot(), path))
        .filter(({ dev }) => dev === files.stat(files.asRoot(), "/").dev)
        .reduce((sum, { kind, size }) => sum + (kind === "folder" ? PAGE : Math.ceil(size / PAGE) * PAGE), 0);
    expect(files.disk.usedBytes).toBe(used());
    files.cutPower();
    expect(files.disk.usedBytes).toBe(used());
  }
});

test("a read-only disk can be read", () => {
  const { files, root } = make();
  write(files, root, "/file", "text");
  const descriptor = files.open(root, "/file", O_RDWR);
  files.disk.setReadOnly(true);
  expect(read(files, root, "/file")).toBe("text");
  const refused = [
    () => files.open(root, "/file", O_RDWR),
    () => files.open(root, "/new", O_WRONLY | O_CREAT),
    () => files.write(root, descriptor, bytesOf("x")),
    () => files.makeFolder(root, "/new"),
    () => files.unlink(root, "/file"),
    () => files.rename(root, "/file", "/new"),
    () => files.chmod(root, "/file", 0o600),
    () => files.access(root, "/file", 2),
  ];
  expect(refused.map(codeOf)).toEqual(refused.map(() => "EROFS"));
  files.makeFolder(root, "/tmp/new");
});

test("writes and syncs that fail, as often as set", () => {
  const { files, root } = make();
  const descriptor = files.open(root, "/file", O_RDWR | O_CREAT);
  files.disk.failNext("write", 2);
  const writes = [1, 2, 3].map(() => codeOf(() => files.write(root, descriptor, bytesOf("x"))));
  expect(writes).toEqual(["EIO", "EIO", undefined]);
  files.disk.failNext("sync", 1);
  expect(codeOf(() => files.sync(root, descriptor, "fdatasync"))).toBe("EIO");
  expect(codeOf(() => files.sync(root, descriptor, "fdatasync"))).toBeUndefined();
});

test("from a write or sync on, all further ones fail until the disk is mended", () => {
  const { files, root } = make();
  const descriptor = files.open(root, "/file", O_RDWR | O_CREAT);
  const doing = [
    () => files.write(root, descriptor, bytesOf("x")),
    () => files.sync(root, descriptor),
    () => files.write(root, descriptor, bytesOf("x")),
    () => files.sync(root, descriptor),
  ];
  const breaks: number[] = [];
  files.disk.breakAfter(2, () => breaks.push(breaks.length));
  expect(doing.map(codeOf)).toEqual([undefined, undefined, "EIO", "EIO"]);
  expect(breaks).toEqual([0]);
  files.disk.mend();
  expect(doing.map(codeOf)).toEqual(doing.map(() => undefined));
});

test("after a failed sync, a second one does not write the pages of the first", () => {
  const seen = new Set<string>();
  for (const seed of SEEDS) {
    const { files, root } = make(seed);
    write(files, root, "/file", "old", true);
    const descriptor = files.open(root, "/file", O_RDWR);
    files.write(root, descriptor, bytesOf("new"));
    files.disk.failNext("sync", 1);
    expect(codeOf(() => files.sync(root, descriptor))).toBe("EIO");
    files.sync(root, descriptor);
    files.cutPower();
    seen.add(read(files, files.asRoot(), "/file"));
  }
  expect([...seen].sort()).toEqual(["new", "old"]);
});

// Users -----------------------------------------------------------------------------------------------------

test("other users may do what modes say", () => {
  const { files, root } = make();
  const [owner, member, other] = [user(files, 10), user(files, 11, [10]), user(files, 12)];
  files.makeFolder(root, "/home");
  files.chown(root, "/home", 10, 10);
  files.chmod(root, "/home", 0o750);
  write(files, owner, "/home/file", "text");
  files.chmod(owner, "/home/file", 0o640);
  const table = [owner, member, other].map((who) => [
    codeOf(() => files.open(who, "/home/file", O_RDONLY)),
    codeOf(() => files.open(who, "/home/file", O_RDWR)),
    codeOf(() => files.readFolder(who, "/home")),
    codeOf(() => files.makeFolder(who, `/home/${who.uid}`)),
    codeOf(() => files.chmod(who, "/home/file", 0o640)),
  ]);
  expect(table).toEqual([
    [undefined, undefined, undefined, undefined, undefined],
    [undefined, "EACCES", undefined, "EACCES", "EPERM"],
    ["EACCES", "EACCES", "EACCES", "EACCES", "EACCES"],
  ]);
  expect(codeOf(() => files.chown(owner, "/home/file", 11, -1))).toBe("EPERM");
  expect(codeOf(() => files.chown(owner, "/home/file", 10, 12))).toBe("EPERM");
  expect(codeOf(() => files.access(root, "/home/file", 1))).toBe("EACCES");
});

test("in a sticky folder, everyone removes only his own files", () => {
  const { files } = make();
  const [one, two] = [user(files, 10), user(files, 11)];
  write(files, one, "/tmp/file", "text");
  files.chmod(one, "/tmp/file", 0o666);
  expect(codeOf(() => files.unlink(two, "/tmp/file"))).toBe("EPERM");
  expect(codeOf(() => files.rename(two, "/tmp/file", "/tmp/x"))).toBe("EPERM");
  expect(codeOf(() => files.link(two, "/tmp/file", "/tmp/x"))).toBeUndefined();
  files.chmod(one, "/tmp/file", 0o644);
  expect(codeOf(() => files.link(two, "/tmp/file", "/tmp/y"))).toBe("EPERM");
  files.makeLink(two, "/tmp/file", "/tmp/link");
  expect(codeOf(() => files.stat(one, "/tmp/link"))).toBe("EACCES");
  expect(codeOf(() => files.stat(two, "/tmp/link"))).toBeUndefined();
  expect(codeOf(() => files.open(files.asRoot(), "/tmp/file", O_WRONLY | O_CREAT))).toBe("EACCES");
  files.unlink(one, "/tmp/file");
});

test("folders with set-group-id pass on their group", () => {
  const { files, root } = make();
  files.makeFolder(root, "/shared");
  files.chown(root, "/shared", 0, 77);
  files.chmod(root, "/shared", 0o2777);
  const who = user(files, 10);
  files.makeFolder(who, "/shared/in", 0o755);
  write(files, who, "/shared/in/file", "");
  expect(files.stat(root, "/shared/in")).toMatchObject({ gid: 77, mode: 0o2755 });
  expect(files.stat(root, "/shared/in/file")).toMatchObject({ gid: 77, mode: 0o644 });
});

// Pipes and sockets -----------------------------------------------------------------------------------------

test("a pipe carries bytes, and says when it can be read", () => {
  const { files, root } = make();
  const [from, to] = files.pipe(root);
  const into = new Uint8Array(5);
  expect(codeOf(() => files.read(root, from, into))).toBe("EAGAIN");
  let calls = 0;
  files.whenReadable(root, from, () => calls++);
  files.whenReadable(root, from, () => calls++)();
  expect(files.write(root, to, bytesOf("abcdefg"))).toBe(7);
  expect(calls).toBe(1);
  expect([files.read(root, from, into), new TextDecoder().decode(into)]).toEqual([5, "abcde"]);
  expect(files.read(root, from, into)).toBe(2);
  files.whenReadable(root, from, () => calls++);
  const second = files.duplicate(root, to);
  files.close(root, to);
  expect(calls).toBe(1);
  files.close(root, second);
  expect(calls).toBe(2);
  expect(files.read(root, from, into)).toBe(0);
});

test("a pipe holds 64 KiB, and is closed to writers when its readers are gone", () => {
  const { files, root } = make();
  const [from, to] = files.pipe(root);
  expect(files.write(root, to, new Uint8Array(100_000))).toBe(65_536);
  expect(codeOf(() => files.write(root, to, bytesOf("x")))).toBe("EAGAIN");
  let isWritable = false;
  files.whenWritable(root, to, () => {
    isWritable = true;
  });
  files.read(root, from, new Uint8Array(100));
  expect(isWritable).toBe(false);
  // Not divided.
  expect(codeOf(() => files.write(root, to, new Uint8Array(200)))).toBe("EAGAIN");
  files.read(root, from, new Uint8Array(5000));
  expect(isWritable).toBe(true);
  files.close(root, from);
  expect(codeOf(() => files.write(root, to, bytesOf("x")))).toBe("EPIPE");
});

test("bytes of a pipe keep their order, whatever the lengths", () => {
  const lengths = fc.array(fc.tuple(fc.boolean(), fc.nat(3000)), { maxLength: 60 });
  const property = fc.property(lengths, (steps) => {
    const { files, root } = make();
    const [from, to] = files.pipe(root);
    const [sent, received]: [number[], number[]] = [[], []];
    for (const [isWrite, length] of steps) {
      const bytes = Uint8Array.from({ length }, (_, i) => (sent.length + i) % 251);
      if (isWrite) {
        if (codeOf(() => files.write(root, to, bytes)) === undefined) sent.push(...bytes);
      } else if (received.length < sent.length) {
        received.push(...bytes.subarray(0, files.read(root, from, bytes)));
      }
    }
    expect(received).toEqual(sent.slice(0, received.length));
  });
  fc.assert(property);
});

test("a named pipe", () => {
  const { files, root } = make();
  files.makePipe(root, "/gate", 0o600);
  expect(files.lstat(root, "/gate")).toMatchObject({ kind: "pipe", mode: 0o600, size: 0 });
  expect(codeOf(() => files.open(root, "/gate", O_WRONLY | O_NONBLOCK))).toBe("ENXIO");
  const both = files.open(root, "/gate", O_RDWR);
  const to = files.open(root, "/gate", O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  files.write(root, to, bytesOf("go 1\n"));
  files.close(root, to);
  const into = new Uint8Array(100);
  expect(files.read(root, both, into)).toBe(5);
  expect(codeOf(() => files.read(root, both, into))).toBe("EAGAIN");
  files.write(root, both, bytesOf("lost"));
  files.close(root, both);
  const from = files.open(root, "/gate", O_RDONLY | O_NONBLOCK);
  expect(files.read(root, from, into)).toBe(0);
});

test("a socket's path", () => {
  const { files, root } = make();
  const inode = files.makeSocket(root, "/run/socket");
  expect(files.find(root, "/run/socket")).toBe(inode);
  expect(files.lstat(root, "/run/socket")).toMatchObject({ kind: "socket", mode: 0o755 });
  expect(codeOf(() => files.makeSocket(root, "/run/socket"))).toBe("EADDRINUSE");
  expect(codeOf(() => files.open(root, "/run/socket", O_RDWR))).toBe("ENXIO");
  files.rename(root, "/run/socket", "/run/moved");
  expect(files.find(root, "/run/moved")).toBe(inode);
});

// Made files ------------------------------------------------------------------------------------------------

test("made files are read and written, and made folders made", () => {
  const { files, root } = make();
  const written: string[] = [];
  const groups = new Map<string, MadeFolder>();
  let value = 0;
  const group = (): MadeFolder => {
    const file = {
      file: { mode: 0o644, read: () => `é ${++value}\n`, write: (text: string) => void written.push(text) },
    };
    const inner = new Map([["freeze", file]]);
    return { list: () => [...inner.keys()], find: (name) => inner.get(name) };
  };
  const made = new Map<string, { folder: MadeFolder }>();
  files.makeFolder(root, "/sys");
  files.mount(
    "/sys/groups",
    {
      mode: 0o755,
      list: () => [...groups.keys()],
      find(name) {
        const folder = groups.get(name);
        if (folder === undefined) return undefined;
        const one = made.get(name) ?? { folder };
        made.set(name, one);
        return one;
      },
      makeFolder: (name) => void groups.set(name, group()),
      removeFolder: (name) => void groups.delete(name),
    },
    0x63677270,
  );
  files.makeFolder(root, "/sys/groups/7.1");
  expect(codeOf(() => files.makeFolder(root, "/sys/groups/7.1"))).toBe("EEXIST");
  expect(codeOf(() => files.makeFolder(user(files, 5), "/sys/groups/8.1"))).toBe("EACCES");
  const path = "/sys/groups/7.1/freeze";
  expect(files.typeOf(root, path)).toBe(0x63677270);
  expect(files.stat(root, path)).toEqual(files.stat(root, path));
  expect(files.find(root, path)).toBe(files.find(root, path));
  expect([read(files, root, path), read(files, root, path)]).toEqual(["é 1\n", "é 2\n"]);
  const descriptor = files.open(root, path, O_RDWR | O_TRUNC);
  const piece = new Uint8Array(2);
  const pieces = [0, 0, 0, 0].map(() => files.read(root, descriptor, piece));
  expect([pieces, value]).toEqual([[2, 2, 1, 0], 3]);
  files.write(root, descriptor, bytesOf("1"));
  expect(written).toEqual(["1"]);
  const refused = [
    codeOf(() => files.open(root, "/sys/groups/7.1/other", O_WRONLY | O_CREAT)),
    codeOf(() => files.open(user(files, 5), path, O_WRONLY)),
    codeOf(() => files.unlink(root, path)),
    codeOf(() => files.rename(root, "/sys/groups/7.1", "/sys/groups/7.2")),
    codeOf(() => files.removeFolder(root, "/sys/groups")),
  ];
  expect(refused).toEqual(["EACCES", "EACCES", "EPERM", "EPERM", "EBUSY"]);
  const folder = files.find(root, "/sys/groups/7.1");
  expect(files.pathOf(folder)).toBe("/sys/groups/7.1");
  files.removeFolder(root, "/sys/groups/7.1");
  expect(codeOf(() => files.stat(root, path))).toBe("ENOENT");
  expect(files.pathOf(folder)).toBe("/sys/groups/7.1 (deleted)");
});

test("links of /proc lead to inodes, also without names", () => {
  const { files, root } = make();
  files.makeFolder(root, "/work");
  const folder = files.find(root, "/work");
  const link = { link: { target: () => folder } };
  files.mount("/proc", { list: () => ["cwd"], find: (name) => (name === "cwd" ? link : undefined) });
  write(files, root, "/work/file", "text");
  expect(read(files, root, "/proc/cwd/file")).toBe("text");
  expect(files.readLink(root, "/proc/cwd")).toBe("/work");
  expect(files.find(root, "/proc/cwd")).toBe(folder);
  expect(files.lstat(root, "/proc/cwd").kind).toBe("link");
  files.rename(root, "/work", "/moved");
  files.makeFolder(root, "/proc/cwd/in");
  expect(names(files, "/moved")).toEqual(["file", "in"]);
  expect(codeOf(() => files.open(root, "/proc/cwd", O_RDONLY | O_NOFOLLOW))).toBe("ELOOP");
});

// Other things ----------------------------------------------------------------------------------------------

test("descriptors are the lowest free ones, and copies share a position", () => {
  const { files, root } = make();
  write(files, root, "/file", "abcdef");
  const [a, b] = [files.open(root, "/file", O_RDONLY), files.open(root, "/file", O_RDONLY)];
  const c = files.duplicate(root, a, 9);
  expect([a, b, c]).toEqual([0, 1, 9]);
  const one = new Uint8Array(1);
  files.read(root, a, one);
  files.read(root, c, one);
  expect(one[0]).toBe(bytesOf("b")[0]);
  files.close(root, a);
  expect(files.duplicate(root, b)).toBe(0);
  files.read(root, c, one);
  expect(one[0]).toBe(bytesOf("c")[0]);
  expect(codeOf(() => files.read(root, 5, one))).toBe("EBADF");
});

test("relative paths begin in the caller's folder, even after it is gone", () => {
  const { files, root } = make();
  files.makeFolder(root, "/a");
  files.makeFolder(root, "/a/b");
  root.cwd = files.find(root, "/a/b");
  write(files, root, "file", "text");
  files.rename(root, "/a", "/c");
  expect(read(files, root, "../b/file")).toBe("text");
  expect(files.pathOf(root.cwd)).toBe("/c/b");
  const descriptor = files.open(root, "file", O_RDONLY);
  expect(root.files.get(descriptor)?.path).toBe("/c/b/file");
  files.unlink(root, "file");
  files.removeFolder(root, "/c/b");
  expect(codeOf(() => write(files, root, "file", ""))).toBe("ENOENT");
  expect(files.pathOf(root.cwd)).toBe("/c/b (deleted)");
});

test("file systems are apart", () => {
  const { files, root } = make();
  write(files, root, "/file", "");
  expect(codeOf(() => files.rename(root, "/file", "/tmp/file"))).toBe("EXDEV");
  expect(codeOf(() => files.link(root, "/file", "/tmp/file"))).toBe("EXDEV");
  expect(codeOf(() => files.removeFolder(root, "/tmp"))).toBe("EBUSY");
  expect(codeOf(() => files.rename(root, "/tmp", "/x"))).toBe("EBUSY");
  expect([files.typeOf(root, "/file"), files.typeOf(root, "/run")]).toEqual([0xef53, 0x01021994]);
});

test("a file without a name lasts until it is closed", () => {
  const { files, root } = make();
  write(files, root, "/file", "text");
  const descriptor = files.open(root, "/file", O_RDWR | O_APPEND);
  const data = files.data(root.files.get(descriptor)!.inode);
  files.unlink(root, "/file");
  expect(files.fstat(root, descriptor)).toMatchObject({ nlink: 0, size: 4 });
  files.write(root, descriptor, bytesOf("more"));
  expect(data.size).toBe(8);
  data.writeAt(bytesOf("X"), 2);
  const into = new Uint8Array(8);
  files.read(root, descriptor, into, 0);
  expect(new TextDecoder().decode(into)).toBe("teXtmore");
});

test("/dev/null", () => {
  const { files, root } = make();
  const descriptor = files.open(root, "/dev/null", O_RDWR | O_CREAT | O_TRUNC);
  expect(files.write(root, descriptor, bytesOf("text"))).toBe(4);
  expect(files.read(root, descriptor, new Uint8Array(4))).toBe(0);
  expect(files.stat(root, "/dev/null")).toMatchObject({ kind: "device", mode: 0o666 });
});

test("names and paths that are too long, and loops of links", () => {
  const { files, root } = make();
  expect(codeOf(() => files.makeFolder(root, `/${"x".repeat(256)}`))).toBe("ENAMETOOLONG");
  expect(codeOf(() => files.makeFolder(root, `/${"é".repeat(128)}`))).toBe("ENAMETOOLONG");
  expect(codeOf(() => files.stat(root, "/x".repeat(3000)))).toBe("ENAMETOOLONG");
  files.makeLink(root, "/loop", "/loop");
  expect(codeOf(() => files.stat(root, "/loop"))).toBe("ELOOP");
  expect(codeOf(() => files.open(root, "/loop", O_WRONLY | O_CREAT | O_EXCL))).toBe("EEXIST");
});

test("folders may be nested deeper than calls", () => {
  const { files, root } = make();
  for (let i = 0; i < 20_000; i++) {
    files.makeFolder(root, "d");
    root.cwd = files.find(root, "d");
  }
  syncPath(files, root, ".");
  files.cutPower();
  expect(files.disk.usedBytes).toBe(20_000 * PAGE);
});
