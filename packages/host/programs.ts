/**
 * Finds the files of Tutti's programs: the sources if Tutti runs from them, otherwise the bundles in dist.
 */
const isSource = import.meta.url.endsWith(".ts");

/** The folder of the bundles. */
export const DIST = new URL(isSource ? "../../dist/" : "./", import.meta.url);

/**
 * File of a program that runs as a separate process or thread.
 * @param bundle its name in dist
 * @param source its source file
 */
export function programFile(bundle: string, source: URL): URL {
  return isSource ? source : new URL(`${bundle}.js`, DIST);
}
