/**
 * Names of nodes in little space: every part of a gang on 1,000 nodes names all of them. Conductors keep the
 * names and give them back without reading them. No name of a node begins with "@".
 *
 *   n1, n2, n3, n7, login   ⇄   "@n[1-3,7] login"
 */

const MARK = "@";
/** A name that ends with a number; the number has at most as many digits as are exact. */
const NUMBERED = /^(.*?)(\d{1,15})$/s;
const PACKED = /^(.*)\[([\d,-]+)\]$/s;
/** What a packed name cannot contain. */
const SPECIAL = /[\s[\]@]/;

/** In the same order. @returns one word, or the names themselves if they cannot be packed */
export function packedNames(names: readonly string[]): readonly string[] {
  if (names.length < 3 || names.some((name) => name === "" || SPECIAL.test(name))) return names;
  const words: string[] = [];
  for (let i = 0; i < names.length; ) {
    const first = numbered(names[i]);
    const ranges: string[] = [];
    let k = i;
    while (first !== undefined && k < names.length) {
      const from = numbered(names[k]);
      if (from?.prefix !== first.prefix || from.width !== first.width) break;
      let last = from.number;
      k++;
      for (; k < names.length; k++) {
        const next = numbered(names[k]);
        if (next?.prefix !== first.prefix || next.width !== first.width || next.number !== last + 1) break;
        last = next.number;
      }
      const text = (number: number) => String(number).padStart(first.width, "0");
      ranges.push(last === from.number ? text(last) : `${text(from.number)}-${text(last)}`);
    }
    words.push(first === undefined ? names[i] : `${first.prefix}[${ranges.join(",")}]`);
    i = Math.max(k, i + 1);
  }
  return [MARK + words.join(" ")];
}

export function unpackedNames(names: readonly string[]): readonly string[] {
  const [word = ""] = names;
  if (names.length !== 1 || !word.startsWith(MARK)) return names;
  return word
    .slice(MARK.length)
    .split(" ")
    .flatMap((one) => {
      const [, prefix, ranges] = PACKED.exec(one) ?? [];
      if (prefix === undefined || ranges === undefined) return [one];
      return ranges.split(",").flatMap((range) => {
        const [from, to = from] = range.split("-");
        const isPadded = from.startsWith("0") && from.length > 1;
        return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => {
          const number = String(Number(from) + i);
          return prefix + (isPadded ? number.padStart(from.length, "0") : number);
        });
      });
    });
}

/** Width: digits with leading zeros; 0: without any. */
function numbered(name: string) {
  const [, prefix, digits] = NUMBERED.exec(name) ?? [];
  if (prefix === undefined || digits === undefined) return undefined;
  const width = digits.startsWith("0") && digits.length > 1 ? digits.length : 0;
  return { prefix, number: Number(digits), width };
}
