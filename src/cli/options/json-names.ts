/** Finds names that an object of a JSON text has twice: JSON.parse would silently take the last value. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** The first name that is repeated in its object. @param text valid JSON */
export function repeatedName(text: string): string | undefined {
  /** The names of each open object; undefined: a list. */
  const open: (Set<string> | undefined)[] = [];
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const name = JSON.parse(before) as string;
      const names = open.at(-1)!;
      if (names.has(name)) return name;
      names.add(name);
    }
    before = token;
  }
  return undefined;
}
