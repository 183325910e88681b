/**
 * Expands words. A command in a word runs in a process and takes time, but everything else is plain
 * computation. So an expansion that needs the output of a command stops there with `Needed`, and is repeated
 * once the output is among the results; sums are kept with them, because they may set variables.
 */
import { calculate, type Variables } from "./arithmetic.ts";
import { escapePattern, trim } from "./pattern.ts";
import type { Part, Word } from "./syntax.ts";

/** What an expansion asks of the shell. */
export interface Context extends Variables {
  readonly args: readonly string[];
  /** The value of a variable or special parameter, except @ and *. */
  value(name: string): string | undefined;
  /** Outputs of commands, and sums, for the word that is expanded; undefined: it has no commands. */
  readonly results: Map<Part, string> | undefined;
  /** Whether an unset parameter is an error. */
  readonly isStrict: boolean;
  /** Paths that match, in order. */
  paths(pattern: string): readonly string[];
}

/** Thrown: the output of this command is needed. */
export class Needed {
  readonly part: Part & { readonly kind: "command" };
  constructor(part: Part & { readonly kind: "command" }) {
    this.part = part;
  }
}

/** A mistake that ends a shell which is not interactive. */
export class Fatal extends Error {}

/** As one text: of an assignment, for example. @param isPattern quoted characters are escaped in it */
export function expandText(word: Word, context: Context, isPattern = false): string {
  if (word.plain !== undefined) return isPattern ? escapePattern(word.plain) : word.plain;
  let text = "";
  for (const part of word.parts) {
    const value = part.kind === "text" ? part.text : expansionOf(part, context);
    if (typeof value === "object") text += expandText(value, context, isPattern);
    else if (!isPattern) text += value;
    else text += part.isQuoted ? escapePattern(value) : value.replaceAll("\\", "\\\\");
  }
  return text;
}

/** As words of a command: split and replaced by paths that match. */
export function expandFields(word: Word, context: Context, into: string[]): void {
  if (word.plain !== undefined) {
    into.push(word.plain);
    return;
  }
  const fields = new Fields(context, into);
  for (const part of word.parts) fields.add(part, false);
  fields.end();
}

/** @returns a word: what that expands to */
function expansionOf(part: Exclude<Part, { readonly kind: "text" }>, context: Context): string | Word {
  if (part.kind === "parameter") return parameter(part, context);
  const known = context.results?.get(part);
  if (known !== undefined) return known;
  if (part.kind === "command") throw new Needed(part);
  let sum: string;
  const text = expandText(part.word, context);
  try {
    sum = String(calculate(text, context));
  } catch (error) {
    throw new Fatal((error as Error).message);
  }
  context.results?.set(part, sum);
  return sum;
}

function parameter(part: Part & { readonly kind: "parameter" }, context: Context): string | Word {
  const { name, operator, word } = part;
  const value = name === "@" || name === "*" ? joined(name, context) : context.value(name);
  if (operator === "") return value ?? unset(name, context);
  if (operator === "length") return String((value ?? unset(name, context)).length);
  if (word === undefined) return "";
  const isMissing = value === undefined || (operator[0] === ":" && value === "");
  switch (operator.at(-1)) {
    case "-":
      return isMissing ? word : value;
    case "+":
      return isMissing ? "" : word;
    case "=": {
      if (!isMissing) return value;
      const text = expandText(word, context);
      context.set(name, text);
      return text;
    }
    case "?":
      if (!isMissing) return value;
      throw new Fatal(`${name}: ${expandText(word, context) || "parameter not set or null"}`);
    default:
      return trim(value ?? unset(name, context), expandText(word, context, true), operator);
  }
}

function unset(name: string, context: Context): string {
  if (context.isStrict && name !== "@" && name !== "*") throw new Fatal(`${name}: parameter not set`);
  return "";
}

/** All arguments as one text; undefined if there is no argument. */
function joined(name: string, context: Context): string | undefined {
  if (context.args.length === 0) return undefined;
  return context.args.join(name === "@" ? " " : (context.value("IFS") ?? " ").slice(0, 1));
}

class Fields {
  readonly #context: Context;
  readonly #into: string[];
  readonly #ifs: string;
  #text = "";
  /** The field as a pattern; undefined: it has no unquoted * ? [ */
  #pattern: string | undefined;
  /** Whether there is a field, which may be empty. */
  #has = false;
  /** The last field ended with white space, after which one other delimiter belongs to the same end. */
  #isBetween = false;

  constructor(context: Context, into: string[]) {
    this.#context = context;
    this.#into = into;
    this.#ifs = context.value("IFS") ?? " \t\n";
  }

  /** @param isSplit whether an unquoted text is split, as in the word of ${name-word} */
  add(part: Part, isSplit: boolean): void {
    if (part.kind === "text") {
      if (part.isQuoted) this.#quoted(part.text);
      else if (isSplit) this.#split(part.text);
      else this.#unquoted(part.text);
      return;
    }
    if (part.kind === "parameter" && part.operator === "" && (part.name === "@" || part.name === "*")) {
      this.#arguments(part.name, part.isQuoted);
      return;
    }
    const value = expansionOf(part, this.#context);
    if (typeof value === "object") {
      for (const inner of value.parts) this.add(inner, !part.isQuoted);
      if (part.isQuoted && value.parts.length === 0) this.#quoted("");
    } else if (part.isQuoted) this.#quoted(value);
    else this.#split(value);
  }

  end(): void {
    if (!this.#has) return;
    const pattern = this.#pattern;
    const paths = pattern === undefined ? [] : this.#context.paths(pattern);
    if (paths.length > 0) this.#into.push(...paths);
    else this.#into.push(this.#text);
    this.#text = "";
    this.#pattern = undefined;
    this.#has = false;
  }

  #arguments(name: string, isQuoted: boolean): void {
    const { args } = this.#context;
    if (isQuoted && name === "*") {
      this.#quoted(joined("*", this.#context) ?? "");
      return;
    }
    for (const [i, argument] of args.entries()) {
      if (i > 0) this.end();
      if (isQuoted) this.#quoted(argument);
      else this.#split(argument);
    }
  }

  #quoted(text: string): void {
    this.#has = true;
    this.#isBetween = false;
    this.#text += text;
    if (this.#pattern !== undefined) this.#pattern += escapePattern(text);
  }

  #unquoted(text: string): void {
    if (text === "") return;
    this.#has = true;
    this.#isBetween = false;
    if (this.#pattern === undefined && /[*?[]/.test(text)) this.#pattern = escapePattern(this.#text);
    if (this.#pattern !== undefined) this.#pattern += text.replaceAll("\\", "\\\\");
    this.#text += text;
  }

  #split(text: string): void {
    const ifs = this.#ifs;
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const character = text[i];
      if (!ifs.includes(character)) continue;
      this.#unquoted(text.slice(from, i));
      from = i + 1;
      if (character === " " || character === "\t" || character === "\n") {
        if (!this.#has) continue;
        this.end();
        this.#isBetween = true;
      } else if (this.#isBetween) this.#isBetween = false;
      else {
        this.#has = true;
        this.end();
      }
    }
    this.#unquoted(text.slice(from));
  }
}
