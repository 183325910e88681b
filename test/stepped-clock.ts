/**
 * Loaded into front end and conductor before all else (`node --import`), it shifts their wall clock by the ms that a file tells, from one
 * moment to the next, as somebody who sets the machine's clock does. The machine's own clock stays as it is.
 */
import { readFileSync } from "node:fs";

const RealDate = Date;

function now(): number {
  try {
    return RealDate.now() + Number(readFileSync(process.env.TUTTI_TEST_CLOCK ?? "", "utf8"));
  } catch {
    return RealDate.now();
  }
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words, as) => Reflect.construct(target, words.length === 0 ? [now()] : words, as),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});
