/**
 * Describes values that come as JSON: one description is their check and their TypeScript type. The conductor
 * uses it instead of zod, which would take 30 ms and more of its start.
 */

/** Says why a value is not a T, in words that follow its name; undefined: it is a T. */
export interface Shape<T> {
  (value: unknown): string | undefined;
  /** Never set: it carries the type. */
  readonly type?: T;
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never;

/** The same value, to be read only. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalOf<F> = { [Key in keyof F]: undefined extends TypeOf<F[Key]> ? Key : never }[keyof F];
/** An object of fields; those that may be undefined may be left out. */
export type ObjectOf<F> = { -readonly [Key in Exclude<keyof F, OptionalOf<F>>]: TypeOf<F[Key]> } & {
  -readonly [Key in OptionalOf<F>]?: TypeOf<F[Key]>;
};

/** The messages of a table: the fields of a message by its type. */
export type MessageOf<Table> = {
  [Type in keyof Table]: Frozen<{ type: Type } & ObjectOf<Table[Type]>>;
}[keyof Table];

/** @param expected completes "is not …" */
export function shape<T>(expected: string, fits: (value: unknown) => boolean): Shape<T> {
  return (value) => (fits(value) ? undefined : ` ${show(value)} is not ${expected}`);
}

export const text = shape<string>("a text", (value) => typeof value === "string");
export const truth = shape<boolean>("true or false", (value) => typeof value === "boolean");
export const number = shape<number>("a number", Number.isFinite);
export const integer = shape<number>("a whole number", Number.isSafeInteger);

export function whole(min = 0, max = Number.MAX_SAFE_INTEGER): Shape<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  const fits = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max;
  return shape(`a whole number ${range}`, fits);
}

export function oneOf<const T>(...values: readonly T[]): Shape<T> {
  return shape(values.join(" or "), (value) => values.includes(value as T));
}

export function matching<T extends string = string>(expected: string, pattern: RegExp): Shape<T> {
  return shape(expected, (value) => typeof value === "string" && pattern.test(value));
}

export function optional<T>(inner: Shape<T>): Shape<T | undefined> {
  return (value) => (value === undefined ? undefined : inner(value));
}

export function list<T>(item: Shape<T>): Shape<T[]> {
  return (value) => {
    if (!Array.isArray(value)) return " is not a list";
    for (const [index, one] of value.entries()) {
      const problem = item(one);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  };
}

export function object<F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  return (value) => {
    if (!isObject(value)) return value === undefined ? " is missing" : " is not an object";
    for (const [name, check] of Object.entries(fields)) {
      const problem = check(value[name]);
      if (problem !== undefined) return `.${name}${problem}`;
    }
    return undefined;
  };
}

/** An object with any names. */
export function record<T>(item: Shape<T>): Shape<Record<string, T>> {
  return (value) => {
    if (!isObject(value)) return " is not an object";
    return object(Object.fromEntries(Object.keys(value).map((name) => [name, item])))(value);
  };
}

/** @param why says why a value of the shape is refused all the same */
export function refined<T>(inner: Shape<T>, why: (value: T) => string | undefined): Shape<T> {
  return (value) => inner(value) ?? why(value as T);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Why a value does not have a shape, from the name of its field on. */
export function problemIn(shape: Shape<unknown>, value: unknown): string | undefined {
  return shape(value)?.replace(/^[.: ]+/, "");
}

export function show(value: unknown): string {
  return value === undefined ? "(none)" : JSON.stringify(value).slice(0, 80);
}
