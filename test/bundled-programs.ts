/**
 * Stands in tests for packages/host/programs.ts while the bundles in dist are as new as the sources: programs
 * that tests start, such as conductors and workers, are those that users run, and they start in a fifth of
 * the CPU time, because Node need not read a hundred TypeScript files.
 */
export const DIST = new URL("../dist/", import.meta.url);

export function programFile(bundle: string, source: URL): URL {
  // Policies of users' own share the kit's modules with the test's process.
  return bundle === "kit" ? source : new URL(`${bundle}.js`, DIST);
}
