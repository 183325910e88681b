/** `node:util`, as far as the programs of Tutti use it. */

interface ArgumentSettings {
  readonly args: readonly string[];
  /** All have a value. */
  readonly options: Readonly<Record<string, { readonly type: "string" }>>;
}

/** Not strict, with positionals: an unknown option is true, and so is one without a value. */
export function parseArgs({ args, options }: ArgumentSettings) {
  const values: Record<string, string | true> = {};
  const positionals: string[] = [];
  for (let i = 0; i < args.length; i++) {
    if (!args[i].startsWith("--")) positionals.push(args[i]);
    else if (args[i] === "--") {
      positionals.push(...args.slice(i + 1));
      break;
    } else {
      const [name, ...value] = args[i].slice(2).split("=");
      const follows = value.length === 0 && options[name] !== undefined && i + 1 < args.length;
      values[name] = value.length > 0 ? value.join("=") : follows ? args[++i] : true;
    }
  }
  return { values, positionals };
}

/** Of data: numbers, texts, lists, typed arrays, objects, maps and sets of primitive keys. */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map && b instanceof Map)
    return (
      a.size === b.size && [...a].every(([key, value]) => b.has(key) && isDeepStrictEqual(value, b.get(key)))
    );
  if (a instanceof Set && b instanceof Set) return a.size === b.size && [...a].every((value) => b.has(value));
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length || lengthOf(a) !== lengthOf(b)) return false;
  return keys.every(
    (key) => Object.hasOwn(b, key) && isDeepStrictEqual(a[key as keyof typeof a], b[key as keyof typeof b]),
  );
}

/** Of a list, which may have holes. */
const lengthOf = (value: object) => (Array.isArray(value) ? value.length : undefined);
