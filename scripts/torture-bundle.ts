/**
 * Bundles the programs of the live scheduler for a simulated world (packages/torture). Each becomes the text
 * of a function that the world calls for each simulated process, so that each has its own instance: of
 * `process`, timers and `Date`, and of the modules that use them. Node's built-ins come from the world by
 * the ports of packages/host/ports.
 *
 * To evaluate a program must cost little, so modules that depend on none of that are in one further function,
 * which is called once. All instances share them.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ownBuild } from "@tutti/host/version.ts";
import type { ProgramTexts } from "@tutti/torture/node/programs.ts";
import { type BuildOptions, build, type Metafile, type OnLoadResult, type Plugin, transform } from "esbuild";
import { recordedStores } from "./torture-stores.ts";

/** A planted mistake: another text in a file, which the world's checks must notice. */
export interface Mutation {
  /** From the root of the project. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const PROGRAMS: Readonly<Record<string, string>> = {
  backup: "packages/torture/node/backup-program.ts",
  conductor: "packages/live/conductor/main.ts",
  connect: "packages/live/conductor/connect.ts",
  forecast: "packages/live/daemon/forecast/worker.ts",
  hooks: "packages/live/conductor/hooks/runner.ts",
  serve: "packages/torture/node/serve-program.ts",
};
/** What a process has for itself. `world` is where a program gives something to the world. */
const OWN = [
  ...["process", "console", "performance", "Date", "world"],
  ...["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"],
];
/**
 * Simulated time stands still during a call, so nothing can be waited for; who wakes too early looks again
 * later. Pages may not have SharedArrayBuffer.
 */
const WAITING = ["Atomics", "SharedArrayBuffer"];
const NO_WAITING = 'const Atomics={wait:()=>"timed-out"},SharedArrayBuffer=ArrayBuffer;';
/** What no file may use, because it is the host's: its chance, network and timers. */
const HOSTS = ["Math.random", "crypto", "fetch", "AbortSignal.timeout"];
/** Only these of `Date` depend on the clock; `new Date()` is looked for below. */
const CLOCK = ["Date.now"];
/** Ports that do the same in each process. Of the path port, `resolve` may only be given absolute paths. */
const SHARED_PORTS = /\/host\/ports\/(?:events|path|url|util|zlib)\.ts$/;
/** Variables that change, and collections to be filled that are not named like constants. */
const STATE = /^(?:export )?(?:let |const [a-z]\w* = (?:new (?:Weak)?(?:Map|Set)\(\)|\[\]|\{\}))/m;
const PORT = /\/host\/ports\/([\w-]+)\.ts$/;
/** Files that do not do what they seem to, so that they can be shared. */
const SHARED: readonly (readonly [files: RegExp, because: string])[] = [
  [
    /^node_modules\/zod\//,
    "its clock and chance serve only what nobody calls; it looks for `navigator` once",
  ],
  [/^node_modules\/smol-toml\//, "it only looks whether texts have a method"],
];
const STUBS: Readonly<Record<string, string>> = {
  // Own policies need node:vm. Their loader is loaded only if a configuration names one.
  "packages/own-policies/own-policy.ts": `
    export async function loadLivePolicy(file) {
      throw new Error("Cannot load " + file + ": a simulated world has no policies of its users");
    }`,
  // 250 kB of other languages.
  "node_modules/zod/v4/locales/index.js": 'export { default as en } from "./en.js";',
};

interface BuiltPrograms extends ProgramTexts {
  /** What they were made of. */
  readonly metafile: Metafile;
}

/** @throws Error if the text of a mutation is not exactly once in its file */
export async function buildWorldPrograms(mutations: readonly Mutation[] = []): Promise<BuiltPrograms> {
  const files = new Files(mutations);
  const plugins = [toPorts, files.plugin];
  const metafile = await bundleOf({ entryPoints: PROGRAMS, plugins });
  const exportsOf = await exportsOfShared(await sharedFiles(metafile, files), metafile, plugins);
  const programs: Record<string, string> = {};
  /** What programs take from shared files. */
  const taken = new Map<string, Set<string>>();
  for (const [name, entry] of Object.entries(PROGRAMS)) {
    const code = await codeOf({
      stdin: { contents: `import "./${entry}";`, resolveDir: ROOT },
      plugins: [toShared(exportsOf), ...plugins],
      define: { "import.meta.url": JSON.stringify(`file:///tutti/${name}.js`) },
    });
    // A line that would be too long goes on in the middle of a text.
    for (const [, path = "", of = ""] of code
      .replaceAll("\\\n", "")
      .matchAll(/\$shared\(\s*"([^"]+)",\s*"([^"]+)"/g))
      taken.set(path, (taken.get(path) ?? new Set()).add(of));
    programs[name] =
      `async function(env,$shared){"use strict";const {${OWN},Buffer}=env;${BUILD}${NO_WAITING}${TAKE_PORT}(env.ports);{${code}}}`;
  }
  const offers = [...taken].map(([path, names], i) => {
    const list = [...names];
    return `import { ${list.map((name, j) => `${name} as x${i}_${j}`)} } from "./${path}";
      $offered["${path}"] = { ${list.map((name, j) => `${name}: x${i}_${j}`)} };`;
  });
  const code = await codeOf({ stdin: { contents: offers.join("\n"), resolveDir: ROOT }, plugins });
  return {
    shared: `function(given){"use strict";const $offered={};const {Buffer}=given;${TAKE_PORT}(given.ports);{${code}}return (path,name)=>$offered[path][name];}`,
    programs,
    stores: recordedStores(),
    metafile,
  };
}

/** The texts as a module, for programs and pages that cannot bundle. */
export function moduleOf({ shared, programs, stores }: ProgramTexts): string {
  const list = Object.entries(programs).map(([name, text]) => `${name}:${text}`);
  return `export const shared=${shared};\nexport const programs={${list.join(",\n")}};\nexport const stores=${JSON.stringify(stores)};\n`;
}

const BUILD = `const TUTTI_BUILD=${JSON.stringify(ownBuild())};`;
const TAKE_PORT = "const $port=(ports=>(port,name)=>ports[port]?.[name])";
const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  write: false,
  outdir: "/none",
  format: "esm",
  platform: "node",
  target: "es2024",
  minifyWhitespace: true,
  legalComments: "none",
  logLevel: "warning",
  // An error at a line of 100 kB would be printed with that line.
  lineLimit: 200,
} as const satisfies BuildOptions;

async function bundleOf(options: BuildOptions): Promise<Metafile> {
  return (await build({ ...COMMON, ...options, metafile: true })).metafile;
}

/** A bundle that imports and exports nothing. */
async function codeOf(options: BuildOptions): Promise<string> {
  const { outputFiles, metafile } = await build({ ...COMMON, ...options, write: false, metafile: true });
  const [{ imports, exports }] = Object.values(metafile.outputs);
  if (imports.length > 0 || exports.length > 0)
    throw new Error(`Cannot bundle: it imports ${imports.map(({ path }) => path)} and exports ${exports}`);
  return outputFiles[0].text;
}

/** The sources with their mutations. */
class Files {
  readonly #texts = new Map<string, string>();

  constructor(mutations: readonly Mutation[]) {
    for (const { file, find, replace } of mutations) {
      const parts = this.text(file).split(find);
      if (parts.length !== 2)
        throw new Error(`Cannot mutate ${file}: "${find}" is there ${parts.length - 1} times, expected once`);
      this.#texts.set(file, parts.join(replace));
    }
  }

  /** @param path from the root of the project */
  text(path: string): string {
    const known = this.#texts.get(path) ?? STUBS[path] ?? readFileSync(`${ROOT}${path}`, "utf8");
    this.#texts.set(path, known);
    return known;
  }

  readonly plugin: Plugin = {
    name: "files",
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.[jt]s$/, namespace: "file" }, ({ path }): OnLoadResult => {
        const contents = this.text(path.slice(ROOT.length));
        return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
      });
    },
  };
}

/** Takes the names that a port exports from the world. */
const toPorts: Plugin = {
  name: "ports",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, importer }) => ({
      errors: [{ text: `${importer} imports ${path}, which a simulated world does not have` }],
    }));
    onLoad({ filter: PORT, namespace: "file" }, ({ path }): OnLoadResult => {
      const [, port = ""] = PORT.exec(path) ?? [];
      const list = /^export \{([^}]+)\}/m.exec(readFileSync(path, "utf8"))?.[1] ?? "";
      const names = list.match(/\w+/g) ?? [];
      return { contents: names.map((name) => taking(name, "$port", port)).join("\n"), loader: "js" };
    });
  },
};

/** Takes what shared files export from the function that has them. */
function toShared(exportsOf: ReadonlyMap<string, readonly string[]>): Plugin {
  return {
    name: "shared",
    setup({ onLoad }) {
      onLoad({ filter: /\.[jt]s$/, namespace: "file" }, ({ path }): OnLoadResult | undefined => {
        const at = path.slice(ROOT.length);
        const names = exportsOf.get(at);
        return (
          names && { contents: names.map((name) => taking(name, "$shared", at)).join("\n"), loader: "js" }
        );
      });
    },
  };
}

/** Left out where nobody uses the name, which may be one such as `default`. */
const taking = (name: string, from: string, path: string) =>
  `const ${name}$ = /* @__PURE__ */ ${from}("${path}", "${name}"); export { ${name}$ as ${name} };`;

/** Files which do the same in each process, with all that they import. */
async function sharedFiles({ inputs }: Metafile, files: Files): Promise<ReadonlySet<string>> {
  const paths = Object.keys(inputs);
  const own = new Set<string>(Object.values(PROGRAMS));
  await Promise.all(paths.map(async (path) => (await isOwn(path, files.text(path))) && own.add(path)));
  for (let before = 0; before < own.size; ) {
    before = own.size;
    for (const path of paths) if (inputs[path].imports.some((to) => own.has(to.path))) own.add(path);
  }
  return new Set(paths.filter((path) => !own.has(path)));
}

/** Whether each process needs a file for itself. */
async function isOwn(path: string, text: string): Promise<boolean> {
  if (PORT.test(path)) return !SHARED_PORTS.test(path);
  if (SHARED.some(([files]) => files.test(path))) return false;
  const names = [...OWN.filter((name) => name !== "Date"), ...CLOCK, ...WAITING, ...HOSTS];
  const define = Object.fromEntries(names.map((name) => [name, `$own_${name.replace(".", "_")}`]));
  const { code } = await transform(text, { loader: path.endsWith(".ts") ? "ts" : "js", define });
  const ofHost = HOSTS.find((name) => code.includes(define[name]));
  if (ofHost !== undefined) throw new Error(`Cannot bundle ${path}: it uses ${ofHost}, which is the host's`);
  return /\$own_|\bimport\.meta\b|\bnew Date\(\)/.test(code) || STATE.test(code);
}

/** What shared files export that others import. */
async function exportsOfShared(
  shared: ReadonlySet<string>,
  { inputs }: Metafile,
  plugins: Plugin[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const imported = Object.entries(inputs)
    .filter(([path]) => !shared.has(path))
    .flatMap(([, { imports }]) => imports.map(({ path }) => path))
    .filter((path) => shared.has(path) && !PORT.test(path));
  const entryPoints = [...new Set(imported)].map((path) => `./${path}`);
  const { outputs } = await bundleOf({ entryPoints, plugins, splitting: true });
  return new Map(
    Object.values(outputs).flatMap(({ entryPoint, exports }) =>
      entryPoint === undefined ? [] : [[entryPoint, exports] as const],
    ),
  );
}
