/** Where the parts of Tutti lie: the sources run as they are, and in dist all bundles lie side by side. */
const isSource = import.meta.url.endsWith(".ts");

/** The folder of the bundles. */
export const DIST = new URL(isSource ? "../../dist/" : "./", import.meta.url);

/**
 * A program or thread of its own.
 * @param bundle its name in dist
 * @param source where it is among the sources
 */
export function programFile(bundle: string, source: URL): URL {
  return isSource ? source : new URL(`${bundle}.js`, DIST);
}
