/** Compares the world's built-in modules with Node's. */
import * as crypto from "node:crypto";
import { EventEmitter as NodeEmitter } from "node:events";
import * as os from "node:os";
import { posix } from "node:path";
import * as url from "node:url";
import * as util from "node:util";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Draws } from "../world/random.ts";
import { cryptoOf } from "./crypto.ts";
import { EventEmitter, once } from "./events.ts";
import { osOf } from "./os.ts";
import { pathOf } from "./path.ts";
import { fileURLToPath, pathToFileURL } from "./url.ts";
import { isDeepStrictEqual, parseArgs } from "./util.ts";
import { crc32 } from "./zlib.ts";

const check = <Values extends [unknown, ...unknown[]]>(property: fc.IProperty<Values>, numRuns = 1000) =>
  fc.assert(property, { seed: 1, numRuns });

describe("path", () => {
  const part = fc.constantFrom(
    "",
    ".",
    "..",
    "a",
    "b.c",
    ".d",
    "/",
    "/e",
    "f/",
    "g//h",
    "../i",
    "j.k.l/",
    " ",
  );
  const parts = fc.array(part, { minLength: 1, maxLength: 5 });
  const path = pathOf(() => "/some/folder");

  test("names of files, with every form of dots and slashes", () => {
    check(
      fc.property(parts, (list) => {
        const name = list.join("/");
        for (const call of ["dirname", "basename", "isAbsolute", "parse"] as const)
          expect(path[call](name), `${call} ${name}`).toEqual(posix[call](name));
        expect(path.basename(name, ".c")).toBe(posix.basename(name, ".c"));
        expect(path.join(...list)).toBe(posix.join(...list));
        expect(path.resolve(...list)).toBe(posix.resolve("/some/folder", ...list));
      }),
    );
    expect(path.delimiter).toBe(posix.delimiter);
  });
});

describe("url", () => {
  const name = fc.array(
    fc.constantFrom("a", " ", "%", "?", "#", "\\", "\n", "\t", "ä", "😀", "%41", ";", "'"),
  );

  test("paths become URLs and return", () => {
    check(
      fc.property(name, (list) => {
        const path = `/tutti/${list.join("")}`;
        expect(pathToFileURL(path).href).toBe(url.pathToFileURL(path).href);
        expect(fileURLToPath(pathToFileURL(path))).toBe(path);
      }),
    );
    expect(fileURLToPath("file:///tutti/a%20b.js")).toBe("/tutti/a b.js");
    for (const wrong of ["http://x/y", "file://host/y", "file:///a%2Fb"]) {
      expect(() => fileURLToPath(wrong)).toThrow(TypeError);
      expect(() => url.fileURLToPath(wrong)).toThrow(TypeError);
    }
  });
});

describe("util", () => {
  const word = fc.constantFrom(
    "/home",
    "signals",
    "--cluster",
    "--parent",
    "--cluster=a=b",
    "--other",
    "--",
    "7",
    "",
  );
  const options = { cluster: { type: "string" }, parent: { type: "string" } } as const;

  test("parseArgs without strictness", () => {
    check(
      fc.property(fc.array(word), (args) => {
        const { values, positionals } = util.parseArgs({
          args,
          options,
          strict: false,
          allowPositionals: true,
        });
        expect(parseArgs({ args, options })).toEqual({ values: { ...values }, positionals });
      }),
    );
  });

  test("isDeepStrictEqual of data", () => {
    const leaf = fc.constantFrom<unknown>(0, -0, 1, Number.NaN, "", "1", true, false, null, undefined);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "b", "0"), tie("tree"), { maxKeys: 3 }),
        fc.array(fc.constantFrom(0, 1, -0), { maxLength: 2 }).map((list) => Float64Array.from(list)),
        fc.array(fc.constantFrom(0, 1), { maxLength: 2 }).map((list) => Int32Array.from(list)),
        fc
          .array(fc.tuple(fc.constantFrom("a", "b"), tie("tree")), { maxLength: 2 })
          .map((list) => new Map(list)),
        fc.array(fc.constantFrom("a", 1), { maxLength: 2 }).map((list) => new Set(list)),
      ),
    }));
    check(
      fc.property(tree, tree, (a, b) => {
        expect(isDeepStrictEqual(a, b)).toBe(util.isDeepStrictEqual(a, b));
        expect(isDeepStrictEqual(a, structuredClone(a))).toBe(util.isDeepStrictEqual(a, structuredClone(a)));
      }),
    );
    // biome-ignore lint/suspicious/noSparseArray: a hole is not the same as undefined.
    expect(isDeepStrictEqual([, 1], [undefined, 1])).toBe(util.isDeepStrictEqual([, 1], [undefined, 1]));
  });
});

describe("zlib and crypto", () => {
  const { createHash, randomBytes, randomUUID } = cryptoOf(new Draws(1), Buffer);

  test("checksums and hashes of texts and bytes", () => {
    check(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 300 })), (data) => {
        expect(crc32(data)).toBe(zlib.crc32(data));
        const theirs = crypto.createHash("sha256").update(data).update("x");
        const ours = createHash("sha256").update(data).update("x");
        expect(Buffer.from(ours.digest())).toEqual(theirs.copy().digest());
        expect(createHash("sha256").update(data).update("x").digest("hex")).toBe(theirs.digest("hex"));
      }),
      100,
    );
    expect(() => createHash("md5")).toThrow();
  });

  test("chance has the form of Node's, and is the same for the same seed", () => {
    expect(randomBytes(12).toString("hex")).toMatch(/^[0-9a-f]{24}$/);
    expect(randomUUID()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const again = () => cryptoOf(new Draws(2), Buffer).randomUUID();
    expect(again()).toBe(again());
    expect(randomUUID()).not.toBe(randomUUID());
  });
});

test("events: who listens is called as by Node, also while listeners change", async () => {
  const log = (Emitter: typeof NodeEmitter) => {
    const heard: unknown[] = [];
    const emitter = new Emitter();
    const other = () => heard.push("other");
    emitter.once("a", (...values) => heard.push("once", ...values));
    emitter.on("a", () => emitter.off("a", other));
    emitter.on("a", other);
    emitter.prependListener("a", () => heard.push("first"));
    heard.push(emitter.emit("a", 1, 2), emitter.emit("a"), emitter.emit("b"), emitter.listenerCount("a"));
    emitter.removeAllListeners("a");
    heard.push(emitter.emit("a"));
    try {
      emitter.emit("error", new Error("nobody listens"));
    } catch (error) {
      heard.push(String(error));
    }
    return heard;
  };
  expect(log(EventEmitter)).toEqual(log(NodeEmitter));
  const emitter = new EventEmitter();
  const heard = once(emitter, "a");
  emitter.emit("a", 1);
  expect(await heard).toEqual([1]);
});

test("os: names of signals are those of Linux, and the first of a number is Node's", () => {
  const { signals } = osOf({} as never).constants;
  const names: Record<string, number> = { ...os.constants.signals };
  for (const [name, number] of Object.entries(signals)) {
    expect(names[name], name).toBe(number);
    expect(Object.entries(names).find(([, value]) => value === number)?.[0]).toBe(name);
  }
  expect(Object.keys(signals)).toHaveLength(new Set(Object.values(names)).size);
});
