/** `node:path`. */
import posix from "path-browserify";

const { basename, delimiter, dirname, isAbsolute, join, parse } = posix;

/** @param cwd folder of the process, for relative paths */
export function pathOf(cwd: () => string) {
  const resolve = (...parts: readonly string[]) =>
    parts.some(isAbsolute) ? posix.resolve(...parts) : posix.resolve(cwd(), ...parts);
  return { basename, delimiter, dirname, isAbsolute, join, parse, resolve };
}
