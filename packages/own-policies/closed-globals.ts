/**
 * Closes the global names of a program before a user's own policy is loaded, in a process of Node or in a
 * worker of a browser:
 *
 *   - what differs from run to run (clocks, random numbers, the network) throws;
 *   - the built-in objects of the language are frozen, so that the policy cannot change the simulator that
 *     runs in the same program, or listen to what it hands around.
 */

/**
 * Global names that only compute. All others are refused: among them are clocks that nobody expects
 * (`new Event("x").timeStamp`), memory that others have used (`Buffer.allocUnsafe`), and what shows when
 * memory is collected (`WeakRef`).
 */
const KEPT = new Set(
  [
    "globalThis global console undefined NaN Infinity eval parseInt parseFloat isNaN isFinite escape unescape",
    "decodeURI decodeURIComponent encodeURI encodeURIComponent structuredClone queueMicrotask",
    "Object Function Boolean Symbol Number BigInt Math Date String RegExp JSON Intl Temporal Reflect Proxy",
    "Error AggregateError EvalError RangeError ReferenceError SuppressedError SyntaxError TypeError URIError",
    "Array Map Set WeakMap WeakSet Iterator Promise ArrayBuffer DataView",
    "Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array",
    "Uint32Array BigInt64Array BigUint64Array Float16Array Float32Array Float64Array WebAssembly",
    "DisposableStack AsyncDisposableStack TextEncoder TextDecoder URL URLSearchParams FinalizationRegistry",
  ].flatMap((names) => names.split(" ")),
);

/** A function that throws when it is called. */
export function refusing(what: string): (...all: unknown[]) => never {
  return () => {
    throw new Error(
      `a policy may not use ${what}: its decisions must be the same in every run, expected it to use machine.nowS, or numbers of its own`,
    );
  };
}

const refusals = new WeakSet<object>();

/** An object that throws at every use. */
function refusal(what: string): object {
  const refuse = refusing(what);
  const traps = ["get", "set", "has", "ownKeys", "apply", "construct", "defineProperty", "deleteProperty"];
  // Only a function that is a constructor can be called with `new`.
  const thrower = new Proxy(class {}, Object.fromEntries(traps.map((trap) => [trap, refuse])));
  refusals.add(thrower);
  return thrower;
}

/**
 * Makes every global name throw that does more than compute, on the global object and on what it inherits
 * from, and freezes the built-in objects.
 * @param print where the policy's console writes
 */
export function closeGlobals(print: (...texts: unknown[]) => void): void {
  const scope = globalThis as Record<string, unknown>;
  const replace = (name: string, value: unknown) =>
    Object.defineProperty(scope, name, { value, writable: false, configurable: false, enumerable: false });
  replace("Date", clocklessDate());
  replace("FinalizationRegistry", SilentRegistry);
  Math.random = refusing("Math.random()");
  const { Temporal } = scope as { Temporal?: object };
  if (Temporal !== undefined) Object.defineProperty(Temporal, "Now", { value: refusal("Temporal.Now") });
  // Waits of two lengths that run side by side are a clock.
  for (const name of ["wait", "waitAsync"])
    Object.defineProperty(Atomics, name, { value: refusing(`Atomics.${name}()`) });
  // Formats the present if it is not given a date.
  Object.defineProperty(Intl, "DateTimeFormat", { value: refusal("Intl.DateTimeFormat") });
  const names = new Set(namesOf(globalThis).filter((name) => !KEPT.has(name)));
  // In a browser's worker, the global object inherits functions such as addEventListener.
  for (let from = Object.getPrototypeOf(globalThis); isOwnPlace(from); from = Object.getPrototypeOf(from)) {
    for (const name of namesOf(from)) {
      if (name === "constructor") continue;
      names.add(name);
      Reflect.deleteProperty(from, name);
    }
  }
  // Some names load much code of Node when they are read or written, and not when they are deleted.
  for (const name of names) Reflect.deleteProperty(scope, name);
  for (const name of names) replace(name, refusal(name));
  const line = (...texts: unknown[]) => print(...texts);
  replace("console", Object.freeze({ log: line, info: line, debug: line, warn: line, error: line }));
}

function namesOf(place: object): string[] {
  return Object.getOwnPropertyNames(place);
}

function isOwnPlace(place: object | null): place is Record<string, unknown> {
  return place !== null && place !== Object.prototype;
}

/**
 * Never tells that memory was collected. Node needs the name when it reads a policy in TypeScript, to free
 * memory of its own sooner.
 */
class SilentRegistry {
  register(): void {}

  unregister(): boolean {
    return false;
  }
}

/** `new Date(number)` and `Date.UTC` still work: they compute, and the time zone is UTC. */
function clocklessDate(): DateConstructor {
  const refuse = refusing("the clock of Date");
  const Real = Date;
  Object.defineProperty(Real, "now", { value: refuse });
  const construct = (_: unknown, values: unknown[], made: unknown): object =>
    values.length === 0 ? refuse() : Reflect.construct(Real, values, made as never);
  const Clockless = new Proxy(Real, { apply: refuse, construct } as never) as DateConstructor;
  Object.defineProperty(Real.prototype, "constructor", { value: Clockless });
  return Clockless;
}

/** Freezes a built-in object. Errors and plain objects must stay assignable: `this.name = …`. */
export function lock(value: unknown): void {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return;
  if (ArrayBuffer.isView(value) || refusals.has(value)) return;
  Object.freeze(value);
  const { prototype } = value as { prototype?: unknown };
  if ((typeof prototype !== "object" && typeof prototype !== "function") || prototype === null) return;
  if (prototype === Object.prototype || prototype === Error.prototype || prototype instanceof Error)
    Object.seal(prototype);
  else Object.freeze(prototype);
}

export function lockIntrinsics(): void {
  const { getPrototypeOf } = Object;
  const hidden = [
    getPrototypeOf(Int8Array),
    getPrototypeOf(Int8Array.prototype),
    getPrototypeOf(new Set().values()),
    getPrototypeOf(new Map().values()),
    getPrototypeOf([].values()),
    getPrototypeOf(""[Symbol.iterator]()),
    getPrototypeOf("".matchAll(/./g)),
    getPrototypeOf(getPrototypeOf([].values())),
    ...[function* () {}, async () => {}, async function* () {}].flatMap((made) => {
      const prototype = getPrototypeOf(made);
      return [
        prototype,
        prototype.constructor,
        prototype.prototype,
        getPrototypeOf(prototype.prototype ?? {}),
      ];
    }),
  ];
  for (const value of hidden) if (value !== Object.prototype && value !== null) lock(value);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const property = Object.getOwnPropertyDescriptor(globalThis, name)!;
    if (name === "globalThis" || name === "global") continue;
    if ("value" in property) lock(property.value);
    if (!property.configurable) continue;
    const { writable: _, ...rest } = property;
    Object.defineProperty(globalThis, name, {
      ...rest,
      configurable: false,
      ...("value" in property && { writable: false }),
    });
  }
}
