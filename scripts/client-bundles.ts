/**
 * Bundles the programs that people and scripts start most: the command line with the verbs that only ask a
 * scheduler, and Slurm's commands. Each is one file, because every further file costs time at each start; and
 * one of CommonJS, because V8 can keep compiled code only of that.
 */
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

/** Files of packages/cli/verbs. Other verbs load the laboratory or the scheduler, or run for long anyway. */
const VERBS: ReadonlySet<string> = new Set([
  "allocations",
  "attach",
  "change",
  "down",
  "drain",
  "events",
  "jobs",
  "list",
  "logs",
  "matrix",
  "rerun",
  "run",
  "show",
  "status",
  "submit",
  "usage",
  "wait",
  "web",
  "why",
  "window",
]);
const ROOT = fileURLToPath(new URL("../", import.meta.url));
const ENTRIES = { client: "packages/cli/client.ts", "slurm-names": "packages/slurm-names/main.ts" };

/** @returns what each bundle was made of */
export async function bundleClients(options: BuildOptions): Promise<Readonly<Record<string, Metafile>>> {
  const made = Object.entries(ENTRIES).map(async ([name, entry]) => {
    const { metafile } = await build({
      ...options,
      entryPoints: { [name]: entry },
      outExtension: { ".js": ".cjs" },
      format: "cjs",
      metafile: true,
      minifySyntax: true,
      define: { ...options.define, "import.meta.url": "importMetaUrl" },
      banner: {
        js: 'const importMetaUrl=process.getBuiltinModule("node:url").pathToFileURL(__filename).href;',
      },
      plugins: [...(name === "client" ? [onlyClients] : []), lazyBuiltInModules, builtInModules],
    });
    return [name, metafile] as const;
  });
  return Object.fromEntries(await Promise.all(made));
}

/**
 * Takes Node's own modules as `require` does. `import` asks a module for the values of all its names at once,
 * and for those of node:http, Node loads its WebSocket with the whole of undici: 40 ms of CPU time.
 */
export const builtInModules: Plugin = {
  name: "built-in-modules",
  setup({ onResolve, onLoad }) {
    // A chunk of its own would have no names but `default`.
    onResolve({ filter: /^node:/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path, external: true } : { path, namespace: "built-in" },
    );
    onLoad({ filter: /./, namespace: "built-in" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule("${path}");`,
    }));
  },
};

/** The same, and a module is loaded only when something of it is used. */
const lazyBuiltInModules: Plugin = {
  name: "lazy-built-in-modules",
  setup({ onResolve, onLoad }) {
    // The functions of node:process need it as `this`; it is loaded anyway.
    onResolve({ filter: /^node:/ }, ({ path }) =>
      path === "node:process" ? undefined : { path, namespace: "lazy" },
    );
    onLoad({ filter: /./, namespace: "lazy" }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) ?? {});
      const getters = names.map((name) => `get ${name}() { return load().${name}; }`);
      return {
        contents: `let loaded;
          const load = () => (loaded ??= process.getBuiltinModule("${path}"));
          module.exports = { ${getters.join(", ")} };`,
      };
    });
  },
};

/** Replaces all files that are loaded on demand, except those of the verbs. */
const onlyClients: Plugin = {
  name: "only-clients",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ kind, path }) => {
      const [, verb = ""] = /^\.\/verbs\/(.+)\.ts$/.exec(path) ?? [];
      return kind === "dynamic-import" && !VERBS.has(verb)
        ? { path: "left-out", namespace: "left-out" }
        : undefined;
    });
    onLoad({ filter: /./, namespace: "left-out" }, () => ({
      contents:
        'import { NeedsWholeProgram } from "./packages/cli/whole-program.ts"; throw new NeedsWholeProgram();',
      resolveDir: ROOT,
    }));
  },
};
