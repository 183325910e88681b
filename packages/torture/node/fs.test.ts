/** The same calls on a real folder with node:fs and on the simulated disk must have the same results. */
import * as realFs from "node:fs";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import * as realPromises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller } from "../world/contract.ts";
import { createFiles } from "../world/files/files.ts";
import { Draws } from "../world/random.ts";
import { createFs } from "./fs.ts";

type Fs = typeof realFs;
type Promises = typeof realPromises;

/** Open files by slot, and where the paths begin. */
interface Side {
  readonly fs: Fs;
  readonly promises: Promises;
  readonly root: string;
  readonly open: Map<number, number>;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-fs-"));
});
afterAll(() => removeAll(folder));

/** Also folders that a call has closed to their owner. */
function removeAll(path: string): void {
  if (realFs.lstatSync(path).isDirectory()) {
    realFs.chmodSync(path, 0o700);
    for (const entry of realFs.readdirSync(path)) removeAll(join(path, entry));
  }
  rmSync(path, { recursive: true });
}

/** @param root as long as the real one, since that is the size of links to it */
function simulated(root: string): Side {
  const files = createFiles({
    random: new Draws(1),
    unixMs: () => 1_700_000_000_000,
    capacityBytes: 2 ** 40,
  });
  const who: Caller = {
    ...files.asRoot(),
    uid: process.getuid!(),
    gid: process.getgid!(),
    groups: process.getgroups!(),
    umask: process.umask(),
  };
  files.makeFolder(files.asRoot(), root);
  files.chown(files.asRoot(), root, who.uid, who.gid);
  const { fs, promises } = createFs(files, who, {
    Buffer,
    random: new Draws(2),
    setInterval,
    clearInterval,
  });
  return {
    fs: fs as unknown as Fs,
    promises: promises as unknown as Promises,
    root,
    open: new Map(),
  };
}

/**
 * A call that is made on both sides. Paths are relative to the root. Links have no dots in them, and each
 * ".." follows a name, so no path leads out of the folder.
 */
interface Call {
  readonly name: string;
  readonly make: (side: Side) => unknown;
}

const NAMES = ["a", "b", "c", "d"];
const name = fc.constantFrom(...NAMES);
const part = fc.oneof(
  { weight: 8, arbitrary: name },
  { weight: 1, arbitrary: name.map((text) => `${text}/..`) },
  { weight: 1, arbitrary: fc.constant(".") },
);
const path = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 3 }), fc.constantFrom("", "", "", "", "", "", "/"))
  .map(([parts, end]) => parts.join("/") + end);
/** rmSync of Node treats a slash at the end in its own ways. */
const plainPath = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const target = fc.array(name, { minLength: 1, maxLength: 2 }).map((parts) => parts.join("/"));
const mode = fc.constantFrom(0o777, 0o755, 0o700, 0o644, 0o600, 0o400, 0o000, 0o1777, 0o2755, 0o4711);
const slot = fc.nat(3);
const text = fc.oneof(
  fc.string({ maxLength: 20, unit: "grapheme" }),
  fc.constantFrom("x".repeat(5000), "y".repeat(12_000)),
);
const encoding = fc.constantFrom<BufferEncoding>("utf8", "latin1");
const position = fc.constantFrom(null, null, 0, 1, 3, 4095, 4096, 9000);
const id = fc.constantFrom(-1, process.getuid!(), process.getgid!(), 12_345);

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = realFs.constants;
const { O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = realFs.constants;
const flags = fc.oneof(
  fc.constantFrom("r", "r+", "w", "w+", "wx", "wx+", "a", "a+", "ax", "ax+", "bad"),
  fc.constantFrom(
    O_RDONLY | O_NOFOLLOW,
    O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
    O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
    O_RDONLY | O_TRUNC,
    O_RDONLY | O_CREAT,
    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
    O_WRONLY | O_CREAT | O_NOFOLLOW,
    O_WRONLY | O_DIRECTORY,
    O_RDWR | O_NONBLOCK,
    O_RDWR | O_APPEND,
  ),
);

/** One kind of call, with what it is called with. */
function kind<Args extends readonly unknown[]>(
  label: string,
  args: { readonly [I in keyof Args]: fc.Arbitrary<Args[I]> },
  make: (side: Side, ...args: Args) => unknown,
): fc.Arbitrary<Call> {
  return fc.tuple(...(args as unknown as fc.Arbitrary<unknown>[])).map((values) => {
    const words = values.map((value) => JSON.stringify(value));
    const short = words.map((word) => (word.length > 100 ? `${word.slice(0, 3)}… (${word.length})` : word));
    const name = `${label}(${short.join(", ")})`;
    const call = { name, make: (side: Side) => make(side, ...(values as unknown as Args)) };
    return { ...call, [fc.toStringMethod]: () => name };
  });
}

const at = (side: Side, relative: string) => `${side.root}/${relative}`;
const fd = (side: Side, place: number) => side.open.get(place) ?? 9999;

function opened(side: Side, place: number, descriptor: number): void {
  const old = side.open.get(place);
  if (old !== undefined) side.fs.closeSync(old);
  side.open.set(place, descriptor);
}

function shown(stats: realFs.Stats | undefined) {
  if (stats === undefined) return undefined;
  const { mode, uid, gid, nlink, size } = stats;
  const isFolder = stats.isDirectory();
  return {
    ...{ mode, uid, gid },
    // File systems count folders in their own ways.
    ...(!isFolder && { nlink, size }),
    is: [stats.isFile(), isFolder, stats.isSymbolicLink(), stats.isFIFO(), stats.isSocket()],
  };
}

function listed(entries: readonly realFs.Dirent[]) {
  return entries
    .map((entry) => ({
      name: String(entry.name),
      is: [entry.isFile(), entry.isDirectory(), entry.isSymbolicLink()],
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function read(side: Side, place: number, length: number, from: number | null): string {
  const bytes = Buffer.alloc(length);
  const count = side.fs.readSync(fd(side, place), bytes, 0, length, from);
  return `${count} ${bytes.toString("latin1")}`;
}

/** So that sequences find something. */
const beginnings = [
  mkdir("a"),
  mkdir("a/b"),
  mkdir("b"),
  symlink("a", "c"),
  symlink("a/b", "d"),
  symlink("d", "b/a"),
  symlink("nothing", "a/c"),
  write("a/a"),
  write("a/b/c"),
  write("d"),
];

function mkdir(to: string): Call {
  return { name: `mkdir ${to}`, make: (side) => side.fs.mkdirSync(at(side, to)) };
}

function symlink(to: string, from: string): Call {
  return { name: `symlink ${to} ${from}`, make: (side) => side.fs.symlinkSync(to, at(side, from)) };
}

function write(to: string): Call {
  return { name: `write ${to}`, make: (side) => side.fs.writeFileSync(at(side, to), to) };
}

const calls: readonly fc.Arbitrary<Call>[] = [
  kind("open", [slot, path, flags, mode], (side, place, to, how, bits) =>
    opened(side, place, side.fs.openSync(at(side, to), how, bits)),
  ),
  kind("open", [slot, path, fc.constantFrom("r", "r+", "w+", "a+")], (side, place, to, how) =>
    opened(side, place, side.fs.openSync(at(side, to), how)),
  ),
  kind("close", [slot], (side, place) => {
    const descriptor = fd(side, place);
    side.open.delete(place);
    return side.fs.closeSync(descriptor);
  }),
  kind("readSync", [slot, fc.constantFrom(0, 1, 7, 5000), position], read),
  kind("readSync, place", [slot, fc.nat(4)], (side, place, offset) => {
    const bytes = Buffer.alloc(8);
    return [side.fs.readSync(fd(side, place), bytes, { offset, length: 3 }), bytes.toString("latin1")];
  }),
  kind("readSync, whole", [slot], (side, place) => {
    const bytes = Buffer.alloc(8);
    return [side.fs.readSync(fd(side, place), bytes), bytes.toString("latin1")];
  }),
  kind("writeSync", [slot, text, position], (side, place, what, where) =>
    side.fs.writeSync(fd(side, place), what, where),
  ),
  kind("writeSync, latin1", [slot, text], (side, place, what) =>
    side.fs.writeSync(fd(side, place), what, null, "latin1"),
  ),
  kind("writeSync, bytes", [slot, position], (side, place, where) =>
    side.fs.writeSync(fd(side, place), Buffer.from("0123456789"), 2, 5, where),
  ),
  kind("readFileSync", [path, encoding], (side, to, how) => side.fs.readFileSync(at(side, to), how)),
  kind("readFileSync, bytes", [path], (side, to) => side.fs.readFileSync(at(side, to)).toString("latin1")),
  kind("readFileSync, open", [slot], (side, place) => side.fs.readFileSync(fd(side, place), "utf8")),
  kind("writeFileSync", [path, text], (side, to, what) => side.fs.writeFileSync(at(side, to), what)),
  kind("writeFileSync, mode", [path, text, mode], (side, to, what, bits) =>
    side.fs.writeFileSync(at(side, to), what, { mode: bits }),
  ),
  kind("writeFileSync, flag", [path, text, fc.constantFrom("r+", "wx", "a")], (side, to, what, flag) =>
    side.fs.writeFileSync(at(side, to), what, { flag, flush: true }),
  ),
  kind("writeFileSync, latin1", [path, text], (side, to, what) =>
    side.fs.writeFileSync(at(side, to), what, "latin1"),
  ),
  kind("writeFileSync, open", [slot, text], (side, place, what) =>
    side.fs.writeFileSync(fd(side, place), what),
  ),
  kind("existsSync", [path], (side, to) => side.fs.existsSync(at(side, to))),
  kind("statSync", [path], (side, to) => shown(side.fs.statSync(at(side, to)))),
  kind("statSync, no throw", [path], (side, to) =>
    shown(side.fs.statSync(at(side, to), { throwIfNoEntry: false })),
  ),
  kind("lstatSync", [path], (side, to) => shown(side.fs.lstatSync(at(side, to)))),
  kind("lstatSync, no throw", [path], (side, to) =>
    shown(side.fs.lstatSync(at(side, to), { throwIfNoEntry: false })),
  ),
  kind("fstatSync", [slot], (side, place) => shown(side.fs.fstatSync(fd(side, place)))),
  kind("accessSync", [path, fc.nat(7)], (side, to, bits) => side.fs.accessSync(at(side, to), bits)),
  kind("accessSync", [path], (side, to) => side.fs.accessSync(at(side, to))),
  kind("readdirSync", [path], (side, to) => side.fs.readdirSync(at(side, to)).sort()),
  kind("readdirSync, types", [path], (side, to) =>
    listed(side.fs.readdirSync(at(side, to), { withFileTypes: true })),
  ),
  kind("mkdirSync", [path], (side, to) => side.fs.mkdirSync(at(side, to))),
  kind("mkdirSync, mode", [path, mode], (side, to, bits) => side.fs.mkdirSync(at(side, to), bits)),
  kind("mkdirSync, octal", [path], (side, to) => side.fs.mkdirSync(at(side, to), "0711")),
  kind("mkdirSync, recursive", [path, mode], (side, to, bits) =>
    side.fs.mkdirSync(at(side, to), { recursive: true, mode: bits }),
  ),
  kind("mkdtempSync", [path], (side, to) => typeof side.fs.mkdtempSync(at(side, `${to}/no/x`))),
  kind("rmdirSync", [path], (side, to) => side.fs.rmdirSync(at(side, to))),
  kind("unlinkSync", [path], (side, to) => side.fs.unlinkSync(at(side, to))),
  kind("rmSync", [plainPath], (side, to) => side.fs.rmSync(at(side, to))),
  kind("rmSync, force", [plainPath], (side, to) => side.fs.rmSync(at(side, to), { force: true })),
  kind("rmSync, recursive", [target, fc.boolean()], (side, to, force) =>
    side.fs.rmSync(at(side, to), { recursive: true, force }),
  ),
  ...Array.from({ length: 3 }, () =>
    kind("renameSync", [path, path], (side, from, to) => side.fs.renameSync(at(side, from), at(side, to))),
  ),
  kind("linkSync", [path, path], (side, from, to) => side.fs.linkSync(at(side, from), at(side, to))),
  kind("symlinkSync", [target, path], (side, to, from) => side.fs.symlinkSync(to, at(side, from))),
  kind("symlinkSync, absolute", [target, path], (side, to, from) =>
    side.fs.symlinkSync(at(side, to), at(side, from)),
  ),
  kind("symlinkSync, empty", [path], (side, from) => side.fs.symlinkSync("", at(side, from))),
  kind("readlinkSync", [path], (side, to) => side.fs.readlinkSync(at(side, to))),
  kind("chmodSync", [path, mode], (side, to, bits) => side.fs.chmodSync(at(side, to), bits)),
  kind("fchmodSync", [slot, mode], (side, place, bits) => side.fs.fchmodSync(fd(side, place), bits)),
  kind("chownSync", [path, id, id], (side, to, uid, gid) => side.fs.chownSync(at(side, to), uid, gid)),
  kind("lchownSync", [path, id, id], (side, to, uid, gid) => side.fs.lchownSync(at(side, to), uid, gid)),
  kind("fchownSync", [slot, id, id], (side, place, uid, gid) =>
    side.fs.fchownSync(fd(side, place), uid, gid),
  ),
  kind("ftruncateSync", [slot, fc.constantFrom(0, 1, 4096, 10_000)], (side, place, length) =>
    side.fs.ftruncateSync(fd(side, place), length),
  ),
  kind("fsyncSync", [slot], (side, place) => side.fs.fsyncSync(fd(side, place))),
  kind("fdatasyncSync", [slot], (side, place) => side.fs.fdatasyncSync(fd(side, place))),
  kind("access", [path, fc.nat(7)], (side, to, bits) => side.promises.access(at(side, to), bits)),
  kind("chmod", [path, mode], (side, to, bits) => side.promises.chmod(at(side, to), bits)),
  kind("open, promise", [path, flags], async (side, to, how) => {
    const handle = await side.promises.open(at(side, to), how);
    const stats = shown(await handle.stat());
    await handle.close();
    return stats;
  }),
  kind("opendir", [path], async (side, to) => {
    const entries: realFs.Dirent[] = [];
    for await (const entry of await side.promises.opendir(at(side, to))) entries.push(entry);
    return listed(entries);
  }),
  kind("opendir, bytes", [path], async (side, to) => {
    const names: string[] = [];
    const options = { encoding: "buffer" as BufferEncoding };
    for await (const entry of await side.promises.opendir(at(side, to), options)) {
      names.push((entry.name as unknown as Buffer).toString("hex"));
    }
    return names.sort();
  }),
  kind("rename", [path, path], (side, from, to) => side.promises.rename(at(side, from), at(side, to))),
  kind("rmdir", [path], (side, to) => side.promises.rmdir(at(side, to))),
  kind("stat", [path], async (side, to) => shown(await side.promises.stat(at(side, to)))),
  kind("unlink", [path], (side, to) => side.promises.unlink(at(side, to))),
  kind("writeFile", [path, text], (side, to, what) =>
    side.promises.writeFile(at(side, to), what, { flag: "r+" }),
  ),
];

/** What a call returned or threw, without the name of the root. */
async function outcome(side: Side, { make }: Call): Promise<unknown> {
  const clean = (value: string | undefined) => value?.replaceAll(side.root, "ROOT");
  try {
    const result = await make(side);
    return typeof result === "string" ? clean(result) : result;
  } catch (thrown) {
    const error = thrown as NodeJS.ErrnoException & { dest?: string };
    const { code, errno, syscall } = error;
    return {
      code,
      errno,
      syscall,
      path: clean(error.path),
      dest: clean(error.dest),
      text: clean(error.message),
    };
  }
}

/** Everything in a folder. Takes away what would prevent reading. */
function tree(side: Side, relative = ""): unknown {
  const here = side.root + relative;
  side.fs.chmodSync(here, 0o700);
  return side.fs
    .readdirSync(here)
    .sort()
    .map((entry) => {
      const stats = side.fs.lstatSync(`${here}/${entry}`);
      if (stats.isFile()) side.fs.chmodSync(`${here}/${entry}`, 0o700);
      const content = stats.isDirectory()
        ? tree(side, `${relative}/${entry}`)
        : stats.isSymbolicLink()
          ? side.fs.readlinkSync(`${here}/${entry}`).replace(side.root, "ROOT")
          : side.fs.readFileSync(`${here}/${entry}`, "latin1");
      return [entry, shown(stats), content];
    });
}

test("calls have the results, errors and effects that they have in a real folder", async () => {
  let count = 0;
  const sequence = fc.array(fc.oneof(...calls), { minLength: 1, maxLength: 60 });
  const property = fc.asyncProperty(fc.subarray(beginnings), sequence, async (begun, then) => {
    const root = join(folder, String(count++));
    mkdirSync(root, { mode: 0o755 });
    const real: Side = { fs: realFs, promises: realPromises, root, open: new Map() };
    const model = simulated(`/${"w".repeat(root.length - 1)}`);
    try {
      for (const call of [...begun, ...then]) {
        const expected = await outcome(real, call);
        expect([call.name, await outcome(model, call)]).toEqual([call.name, expected]);
      }
      expect(tree(model)).toEqual(tree(real));
    } finally {
      for (const descriptor of real.open.values()) realFs.closeSync(descriptor);
      removeAll(root);
    }
  });
  await fc.assert(property, { numRuns: 200 });
});
