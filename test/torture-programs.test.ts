/** Bundles the live scheduler for the simulated world, and evaluates it where there is nothing of Node. */
import { EventEmitter } from "node:events";
import { createContext, runInContext } from "node:vm";
import { SHARED_PORTS } from "@tutti/torture/node/ports.ts";
import { instantiator, programsOf } from "@tutti/torture/node/programs.ts";
import { describe, expect, test } from "vitest";
import { buildWorldPrograms } from "../scripts/torture-bundle.ts";

const built = await buildWorldPrograms();
/** What browsers have, too. */
const PLATFORM = { URL, TextEncoder, TextDecoder, AbortController };

class Exit extends Error {}

/** A process that ends where it first asks for something that this test does not give. */
async function started(name: string, args: readonly string[], texts = built) {
  const said: string[] = [];
  const connected: string[] = [];
  const view = Object.assign(new EventEmitter(), {
    argv: ["/usr/bin/node", `/tutti/${name}.js`, ...args],
    env: {},
    pid: 1,
    stdout: new EventEmitter(),
    stderr: new EventEmitter(),
    chdir() {},
    getuid: () => 7,
    umask: () => 0,
    hrtime: { bigint: () => 0n },
    exit(code: number) {
      said.push(`exit ${code}`);
      throw new Exit();
    },
  });
  const nothing = () => undefined;
  const folder = { uid: 7, isDirectory: () => true };
  const env = {
    process: view,
    console: { error: (text: string) => said.push(text) },
    Buffer,
    Date,
    ports: {
      ...SHARED_PORTS,
      fs: { constants: {}, readdirSync: () => [], existsSync: () => true, lstatSync: () => folder },
      "fs-promises": {},
      net: {
        createConnection(path: string) {
          connected.push(path);
          return new EventEmitter();
        },
      },
      "child-process": {},
      crypto: {},
      os: {},
      sqlite: {},
      "worker-threads": { parentPort: null },
    },
    ...{ setTimeout: nothing, setInterval: nothing, clearTimeout: nothing, clearInterval: nothing },
  };
  const instantiate = instantiator(programsOf(texts), Buffer);
  const failure = await instantiate(name, env).catch((error: unknown) => error);
  return { said, connected, view, failure };
}

describe("the programs", () => {
  test("begin where there is nothing of Node", async () => {
    const context = createContext({ ...PLATFORM });
    const texts = Object.entries(built.programs).map(([name, text]) => `${name}: ${text}`);
    const programs = runInContext(`({ shared: ${built.shared}, ${texts} })`, context);
    const shared = programs.shared({ Buffer, ports: SHARED_PORTS });
    for (const name of Object.keys(built.programs)) {
      /** Asks the world first, so all of its files have been evaluated. */
      let asks: string | undefined;
      const ask = (what: string) => {
        asks ??= what;
        throw new Exit();
      };
      const process = new Proxy({}, { get: (_, property) => ask(String(property)) });
      const fs = { constants: {}, existsSync: () => true, readdirSync: () => ask("fs") };
      const parentPort = { on: () => ask("thread") };
      const env = { process, Buffer, ports: { ...SHARED_PORTS, fs, "worker-threads": { parentPort } } };
      await programs[name](env, shared).catch((error: unknown) => expect(error, name).toBeInstanceOf(Exit));
      expect(asks, name).toEqual(expect.any(String));
    }
  });

  test("have arguments and consoles of their own", async () => {
    const one = await started("conductor", []);
    const other = await started("conductor", ["/home", "unknown"]);
    for (const { said } of [one, other]) expect(said).toEqual([expect.stringMatching(/^Usage: /), "exit 2"]);
    const [a, b] = await Promise.all([started("connect", ["/a/b"]), started("connect", ["/c/d"])]);
    expect([a.connected, b.connected]).toEqual([["/a/b/socket"], ["/c/d/socket"]]);
    expect(b.view.listenerCount("SIGTERM")).toBe(1);
  });

  test("are made of texts with planted mistakes", async () => {
    const limits = "packages/protocol/limits.ts";
    const mutated = await buildWorldPrograms([
      { file: "packages/live/conductor/connect.ts", find: "Usage: connect", replace: "Use: connect" },
      { file: limits, find: "export const MAX_ROWS", replace: "let rows = 0;\nexport const MAX_ROWS" },
    ]);
    expect((await started("connect", [], mutated)).said).toEqual([expect.stringMatching(/^Use: /), "exit 2"]);
    // A file with a variable is not shared.
    expect(built.programs.serve).toContain(`$shared("${limits}"`);
    expect(mutated.programs.serve).not.toContain(`$shared("${limits}"`);
    for (const find of ["not there", "slot"])
      await expect(buildWorldPrograms([{ file: limits, find, replace: "" }])).rejects.toThrow(
        /expected once/,
      );
  });
});
