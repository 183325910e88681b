/**
 * Packs a result so that no fractional number leaves the worker in an object: all numbers go into one
 * `Float64Array`, in the order in which they occur. V8's Maglev compiler can give new objects the same heap
 * cell for their fractional numbers (docs/decisions.md, Numbers), and a page cannot set flags of its browser.
 * Elements of typed arrays have no such cells.
 */

type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

export interface Packed {
  /** The value as JSON, with 0 for each number and `{"$": i}` for each column. */
  readonly shape: string;
  readonly numbers: Float64Array;
  readonly columns: readonly Column[];
}

/** Packs plain data with typed arrays. The typed arrays are shared, not copied. */
export function pack(value: unknown): Packed {
  const numbers: number[] = [];
  const columns: Column[] = [];
  const shapeOf = (part: unknown): unknown => {
    if (typeof part === "number") {
      numbers.push(part);
      return 0;
    }
    if (typeof part !== "object" || part === null) return part;
    if (ArrayBuffer.isView(part)) return { $: columns.push(part as Column) - 1 };
    if (Array.isArray(part)) return part.map(shapeOf);
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, shapeOf(member)]));
  };
  const shape = JSON.stringify(shapeOf(value));
  return { shape, numbers: Float64Array.from(numbers), columns };
}

/** The value again. Members that were undefined are missing. */
export function unpack<Value>({ shape, numbers, columns }: Packed): Value {
  let next = 0;
  const partOf = (part: unknown): unknown => {
    if (typeof part === "number") return numbers[next++];
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.map(partOf);
    if ("$" in part) return columns[part.$ as number];
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, partOf(member)]));
  };
  return partOf(JSON.parse(shape)) as Value;
}

/** What must be transferred so that the columns are not copied. */
export function buffersOf({ numbers, columns }: Packed): ArrayBuffer[] {
  return [...new Set([numbers, ...columns].map(({ buffer }) => buffer as ArrayBuffer))];
}

/** A value that was computed at least twice with the same result. */
export interface Agreed {
  readonly packed: Packed;
  /** How often a result differed from the one before it. */
  readonly mismatches: number;
}

/** After this many computations without two equal ones in a row, something other than chance is wrong. */
const MOST_COMPUTATIONS = 6;

/**
 * Computes a value until two results in a row have the same numbers, bit by bit. Each result is packed before
 * the next one is computed, so a later computation cannot change an earlier one.
 * @throws Error if no two results agree
 */
export function computeTwice(compute: () => unknown): Agreed {
  let before = pack(compute());
  for (let mismatches = 0; mismatches < MOST_COMPUTATIONS - 1; mismatches++) {
    const packed = pack(compute());
    if (isSame(before, packed)) return { packed, mismatches };
    before = packed;
  }
  throw new Error(
    `Broken invariant: ${MOST_COMPUTATIONS} computations of one summary gave different numbers; report this browser's version`,
  );
}

function isSame(a: Packed, b: Packed): boolean {
  return (
    a.shape === b.shape &&
    a.numbers.length === b.numbers.length &&
    a.numbers.every((value, i) => Object.is(value, b.numbers[i]))
  );
}
