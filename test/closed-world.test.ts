/**
 * Tests what a user's own policy can reach in its process, and what it cannot (listed in docs/security.md).
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describePolicy } from "@tutti/lab/experiments/apart.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-closed-"));
  mkdirSync(join(folder, "mine"));
  writeFileSync(join(folder, "outside.mjs"), "export default 1;");
  writeFileSync(join(folder, "mine/other.mjs"), "export default 41;");
  writeFileSync(join(folder, "mine/weights.json"), '{ "a": 7 }');
  writeFileSync(join(folder, "mine/old.cjs"), 'module.exports = require("node:fs").readdirSync("/");');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Evaluates each expression in a policy's file; returns its value or error as text. */
async function tried(expressions: readonly string[]): Promise<Record<string, string>> {
  const file = join(folder, "mine/tries.mjs");
  const tries = expressions.map((text) => `[${JSON.stringify(text)}, async () => (${text})]`);
  writeFileSync(
    file,
    `import util from "node:util";
     const seen = {};
     for (const [text, run] of [${tries.join(",")}]) {
       try { seen[text] = "gives " + util.inspect(await run()); } catch (error) { seen[text] = "throws " + error.message; }
     }
     export default { name: "tries", sharing: "space", summary: JSON.stringify(seen), make: () => ({ depart() {}, decide() {} }) };`,
  );
  return JSON.parse((await describePolicy(file)).definition.summary);
}

describe("a policy in its own process", () => {
  const modules = [
    "fs",
    "child_process",
    "worker_threads",
    "net",
    "http",
    "dgram",
    "dns",
    "module",
    "process",
    "os",
  ];
  const inner = [
    "sqlite",
    "vm",
    "v8",
    "inspector",
    "perf_hooks",
    "timers",
    "crypto",
    "wasi",
    "buffer",
    "trace_events",
  ];
  const OTHER_FILES = [
    'import("../outside.mjs")',
    'import("/etc/passwd")',
    'import("data:text/javascript,export default 1")',
    `import(${JSON.stringify(new URL("../packages/kernel/simulator/simulate.ts", import.meta.url).href)})`,
    "new Function('return import(\"node:fs\")')()",
    "eval('import(\"node:fs\")')",
    "(0, eval)('import(\"node:fs\")')",
  ];
  const CLOCKS = [
    "Date()",
    "Date.now()",
    "new Date()",
    "new (new Date(0).constructor)()",
    "new (class extends Date {})()",
    "Temporal.Now.instant()",
    "new Intl.DateTimeFormat().format()",
    "performance.now()",
    'new Event("x").timeStamp',
    'new File([], "x").lastModified',
    "Math.random()",
    "crypto.randomUUID()",
    "process.hrtime()",
    "process.exit(0)",
    "process.send({})",
    "process.getBuiltinModule('fs')",
    "globalThis.process.env",
    'fetch("http://127.0.0.1")',
    'new WebSocket("ws://127.0.0.1")',
    "new BroadcastChannel('x')",
    "setTimeout(() => {}, 1)",
    "Buffer.allocUnsafe(1000)",
    "util.transferableAbortController()",
    "import('node:util').then((named) => named.aborted())",
    "util.debuglog('x')",
    "util.getCallSites()",
    "util.styleText('red', 'x')",
    "util.parseArgs()",
    "new WeakRef({})",
    "new SharedArrayBuffer(4)",
    "Atomics.waitAsync(new Int32Array(4), 0, 0, 1)",
    "Atomics.wait(new Int32Array(4), 0, 0, 1)",
  ];
  const CHANGES = [
    "Array.prototype.push = 1",
    "Float64Array.prototype.slice = 1",
    "Object.getPrototypeOf(Int8Array.prototype).set = 1",
    "Object.getPrototypeOf([].values()).next = 1",
    "Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())).next = 1",
    "Map.prototype.get = 1",
    "Promise.prototype.then = 1",
    "Function.prototype.call = 1",
    "Object.defineProperty(Object.prototype, 'runS', { set() {} })",
    "globalThis.Float64Array = class {}",
    "Math.max = () => 0",
    "JSON.stringify = () => ''",
    "Error.prepareStackTrace = () => 0",
    "Error.stackTraceLimit = 1000",
    'import("tutti").then((kit) => { kit.WaitingQueue.prototype.add = 1; })',
  ];

  test("loads no built-in module that acts, and no file of others", async () => {
    const all = [...modules, ...inner].flatMap((name) => [`import("node:${name}")`, `import("${name}")`]);
    const seen = await tried([...all, ...OTHER_FILES]);
    expect(Object.keys(seen).length).toBeGreaterThan(40);
    const given = Object.entries(seen).filter(([, what]) => !what.startsWith("throws a policy may not load"));
    // Not a built-in module without its prefix, so that a package of this name is looked for.
    expect(given.map(([text]) => text)).toEqual(['import("sqlite")']);
    expect(given[0][1]).toMatch(/^throws Cannot find package 'sqlite'/);
    expect((await tried(['import("./old.cjs")']))['import("./old.cjs")']).toContain(
      "may not be a CommonJS module",
    );
  });

  test("has no clock, no random numbers, no process and no network", async () => {
    for (const [text, what] of Object.entries(await tried(CLOCKS)))
      expect(what, text).toMatch(/^throws a policy may not use /);
  });

  test("cannot change what the simulator is made of", async () => {
    for (const [text, what] of Object.entries(await tried(CHANGES)))
      expect(what, text).toMatch(/^throws (Cannot (assign to|define|redefine)|.*not extensible)/);
  });

  test("computes, and reads its own folder", async () => {
    expect(
      await tried([
        'import("./other.mjs").then((other) => other.default + 1)',
        'import("./weights.json", { with: { type: "json" } }).then((read) => read.default.a)',
        'import("node:path").then(({ basename }) => basename("/a/b"))',
        'import("tutti").then((kit) => typeof kit.definePolicy)',
        'import("tutti").then((kit) => typeof kit.readTrace)',
        "new Date(86400000).toISOString()",
        "new Date(0).getTimezoneOffset()",
        "new (class extends Error { constructor() { super(); this.name = 'Mine'; } })().name",
        'import("node:assert").then(({ default: assert }) => { assert(1); assert.equal(1, 1); return typeof assert.AssertionError; })',
        'import("util").then(({ format }) => format("%d", 7))',
        "(await Promise.all([1, 2])).length",
      ]),
    ).toEqual({
      'import("./other.mjs").then((other) => other.default + 1)': "gives 42",
      'import("./weights.json", { with: { type: "json" } }).then((read) => read.default.a)': "gives 7",
      'import("node:path").then(({ basename }) => basename("/a/b"))': "gives 'b'",
      'import("tutti").then((kit) => typeof kit.definePolicy)': "gives 'function'",
      'import("tutti").then((kit) => typeof kit.readTrace)': "gives 'undefined'",
      "new Date(86400000).toISOString()": "gives '1970-01-02T00:00:00.000Z'",
      "new Date(0).getTimezoneOffset()": "gives 0",
      "new (class extends Error { constructor() { super(); this.name = 'Mine'; } })().name": "gives 'Mine'",
      'import("node:assert").then(({ default: assert }) => { assert(1); assert.equal(1, 1); return typeof assert.AssertionError; })':
        "gives 'function'",
      'import("util").then(({ format }) => format("%d", 7))': "gives '7'",
      "(await Promise.all([1, 2])).length": "gives 2",
    });
  });
});
