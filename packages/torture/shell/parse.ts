/**
 * Reads a script: the grammar of POSIX, as dash understands it. With `isBash`, also `&>`. No aliases.
 */
import type { Assignment, Command, Part, Redirect, Script, Word } from "./syntax.ts";

/** Texts of scripts differ by job, so old trees must go some time. */
const MAX_KEPT = 500;
const kept = new Map<string, Script>();

export function parse(text: string, isBash: boolean): Script {
  const key = isBash ? `b${text}` : text;
  let script = kept.get(key);
  if (script === undefined) {
    script = new Parser(text, isBash).script();
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, script);
  }
  return script;
}

class Problem extends Error {}

/** Kinds of characters, by code. */
const BLANK = 1;
const ENDS_WORD = 2;
const SPECIAL = 4;
const NAME = 8;
const DIGIT = 16;
const kinds = new Uint8Array(128);
const mark = (characters: string, kind: number) => {
  for (const character of characters) kinds[character.charCodeAt(0)] |= kind;
};
mark(" \t", BLANK | ENDS_WORD);
mark("\n;&|<>()", ENDS_WORD);
mark("'\"\\$`", SPECIAL);
mark("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", NAME);
mark("0123456789", NAME | DIGIT);
const isKind = (code: number, kind: number) => code < 128 && (kinds[code] & kind) !== 0;

const NEWLINE = 10;
const BACKSLASH = 92;
const RESERVED = new Set("if then elif else fi while until do done for case esac { } ! in".split(" "));
/** Where a list ends. */
const ENDS_LIST = new Set("then elif else fi do done esac }".split(" "));
const SPECIAL_PARAMETERS = "@*#?$!-";

interface HereDocument {
  readonly end: string;
  readonly isQuoted: boolean;
  readonly dropsTabs: boolean;
  /** Its word is filled in when its text has been read. */
  readonly redirect: { word: Word };
}

class Parser {
  readonly #text: string;
  readonly #isBash: boolean;
  #at = 0;
  #line = 1;
  #lineAt = 0;
  #hereDocuments: HereDocument[] = [];

  constructor(text: string, isBash: boolean) {
    this.#text = text;
    this.#isBash = isBash;
  }

  script(): Script {
    const lines: Command[] = [];
    try {
      for (;;) {
        this.#skipNewlines();
        if (this.#at >= this.#text.length) break;
        lines.push(this.#lineOfCommands());
      }
      const endsWithCommand = lines.length > 0 && !this.#text.endsWith("\n");
      return { lines, problem: undefined, endsWithCommand };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return {
        lines,
        problem: { line: this.#lineNumber(), why: error.message },
        endsWithCommand: false,
      };
    }
  }

  /** Commands up to the end of a line. */
  #lineOfCommands(): Command {
    const items: Command[] = [];
    for (;;) {
      const command = this.#andOr();
      if (command === undefined) throw this.#unexpected();
      items.push(this.#separated(command));
      this.#skipBlanks();
      const isAtEnd = this.#at >= this.#text.length;
      if (this.#code() === NEWLINE) this.#newline();
      else if (!isAtEnd) continue;
      return listOf(items) ?? command;
    }
  }

  /** Commands up to a word or character that ends a list, which is not read. */
  #list(): Command {
    const items: Command[] = [];
    for (;;) {
      this.#skipNewlines();
      const command = this.#andOr();
      if (command === undefined) break;
      items.push(this.#separated(command));
    }
    return listOf(items) ?? { kind: "list", items };
  }

  #separated(command: Command): Command {
    this.#skipBlanks();
    const code = this.#code();
    if (code === 38) {
      this.#at++;
      return { kind: "background", body: command };
    }
    if (code === 59 && this.#text.charCodeAt(this.#at + 1) !== 59) this.#at++;
    return command;
  }

  #andOr(): Command | undefined {
    let left = this.#pipeline();
    if (left === undefined) return undefined;
    for (;;) {
      this.#skipBlanks();
      const kind = this.#takes("&&") ? "and" : this.#takes("||") ? "or" : undefined;
      if (kind === undefined) return left;
      this.#skipNewlines();
      const right = this.#pipeline();
      if (right === undefined) throw this.#unexpected();
      left = { kind, left, right };
    }
  }

  #pipeline(): Command | undefined {
    let isNegated = false;
    this.#skipBlanks();
    while (this.#reserved() === "!") {
      this.#at++;
      isNegated = !isNegated;
      this.#skipBlanks();
    }
    const first = this.#command();
    if (first === undefined) {
      if (isNegated) throw this.#unexpected();
      return undefined;
    }
    const commands = [first];
    for (;;) {
      this.#skipBlanks();
      if (this.#code() !== 124 || this.#text.charCodeAt(this.#at + 1) === 124) break;
      this.#at++;
      this.#skipNewlines();
      const next = this.#command();
      if (next === undefined) throw this.#unexpected();
      commands.push(next);
    }
    return commands.length === 1 && !isNegated ? first : { kind: "pipeline", commands, isNegated };
  }

  #command(): Command | undefined {
    this.#skipBlanks();
    const body = this.#compound();
    if (body === undefined) return this.#simple();
    const redirects = this.#redirects();
    return redirects.length === 0 ? body : { kind: "redirected", body, redirects };
  }

  #compound(): Command | undefined {
    if (this.#code() === 40) {
      this.#at++;
      const body = this.#list();
      this.#expect(")");
      return { kind: "subshell", body };
    }
    const word = this.#reserved();
    if (word === undefined || ENDS_LIST.has(word) || word === "in") return undefined;
    this.#at += word.length;
    switch (word) {
      case "if":
        return this.#if();
      case "while":
      case "until": {
        const test = this.#list();
        return { kind: word, test, body: this.#loop() };
      }
      case "for":
        return this.#for();
      case "case":
        return this.#case();
      default: {
        const body = this.#list();
        this.#expectReserved("}");
        return body;
      }
    }
  }

  #if(): Command {
    const test = this.#list();
    this.#expectReserved("then");
    const then = this.#list();
    const word = this.#reserved();
    if (word === "elif") {
      this.#at += 4;
      return { kind: "if", test, then, else: this.#if() };
    }
    let otherwise: Command | undefined;
    if (word === "else") {
      this.#at += 4;
      otherwise = this.#list();
    }
    this.#expectReserved("fi");
    return { kind: "if", test, then, else: otherwise };
  }

  #loop(): Command {
    this.#skipNewlines();
    this.#expectReserved("do");
    const body = this.#list();
    this.#expectReserved("done");
    return body;
  }

  #for(): Command {
    this.#skipBlanks();
    const name = this.#name();
    if (name === "") throw new Problem("Bad for loop variable");
    this.#skipBlanks();
    if (this.#code() === 59) this.#at++;
    this.#skipNewlines();
    if (this.#reserved() !== "in") return { kind: "for", name, words: undefined, body: this.#loop() };
    this.#at += 2;
    const words: Word[] = [];
    for (;;) {
      this.#skipBlanks();
      const code = this.#code();
      if (code === 59 || code === NEWLINE) break;
      words.push(this.#word());
    }
    if (this.#code() === 59) this.#at++;
    return { kind: "for", name, words, body: this.#loop() };
  }

  #case(): Command {
    this.#skipBlanks();
    const word = this.#word();
    this.#skipNewlines();
    if (this.#reserved() !== "in") throw this.#unexpected();
    this.#at += 2;
    const arms: { patterns: Word[]; body: Command }[] = [];
    for (;;) {
      this.#skipNewlines();
      if (this.#reserved() === "esac") break;
      if (this.#code() === 40) this.#at++;
      const patterns: Word[] = [];
      do {
        this.#skipBlanks();
        patterns.push(this.#word());
        this.#skipBlanks();
      } while (this.#takes("|"));
      this.#expect(")");
      const body = this.#list();
      arms.push({ patterns, body });
      if (!this.#takes(";;")) break;
    }
    this.#skipNewlines();
    this.#expectReserved("esac");
    return { kind: "case", word, arms };
  }

  #simple(): Command | undefined {
    const line = this.#lineNumber();
    const assignments: Assignment[] = [];
    const words: Word[] = [];
    const redirects: Redirect[] = [];
    if (ENDS_LIST.has(this.#reserved() ?? "")) return undefined;
    for (;;) {
      this.#skipBlanks();
      const redirect = this.#redirect();
      if (redirect !== undefined) {
        redirects.push(redirect);
        continue;
      }
      const code = this.#code();
      if (Number.isNaN(code) || isKind(code, ENDS_WORD)) break;
      if (words.length === 0) {
        const name = this.#assigned();
        if (name !== undefined) {
          assignments.push({ name, word: this.#word(true) });
          continue;
        }
      }
      words.push(this.#word());
      if (words.length === 1 && assignments.length === 0 && redirects.length === 0) {
        const body = this.#functionBody();
        if (body !== undefined) return { kind: "function", name: words[0].plain ?? "", body };
      }
    }
    if (words.length + assignments.length + redirects.length === 0) return undefined;
    return { kind: "simple", line, assignments, words, redirects };
  }

  /** NAME of NAME=VALUE; `at` is at the value then. */
  #assigned(): string | undefined {
    let end = this.#at;
    if (isKind(this.#text.charCodeAt(end), DIGIT)) return undefined;
    while (isKind(this.#text.charCodeAt(end), NAME)) end++;
    if (end === this.#at || this.#text.charCodeAt(end) !== 61) return undefined;
    const name = this.#text.slice(this.#at, end);
    this.#at = end + 1;
    return name;
  }

  #functionBody(): Command | undefined {
    const start = this.#at;
    this.#skipBlanks();
    if (this.#code() !== 40) {
      this.#at = start;
      return undefined;
    }
    this.#at++;
    this.#skipBlanks();
    this.#expect(")");
    this.#skipNewlines();
    const body = this.#command();
    if (body === undefined) throw this.#unexpected();
    return body;
  }

  #redirects(): Redirect[] {
    const redirects: Redirect[] = [];
    for (;;) {
      this.#skipBlanks();
      const redirect = this.#redirect();
      if (redirect === undefined) return redirects;
      redirects.push(redirect);
    }
  }

  #redirect(): Redirect | undefined {
    const text = this.#text;
    let at = this.#at;
    while (isKind(text.charCodeAt(at), DIGIT)) at++;
    const number = at > this.#at ? Number(text.slice(this.#at, at)) : undefined;
    const sign = text[at];
    if (this.#isBash && number === undefined && text.startsWith("&>", at)) {
      this.#at = at + 2;
      this.#skipBlanks();
      return { operator: "&>", descriptor: 1, word: this.#word() };
    }
    if (sign !== "<" && sign !== ">") return undefined;
    at++;
    const next = text[at];
    let operator: Redirect["operator"] = sign;
    let dropsTabs = false;
    if (next === "&" || (sign === ">" && (next === ">" || next === "|")) || (sign === "<" && next === ">")) {
      operator = (sign + next) as Redirect["operator"];
      at++;
    } else if (sign === "<" && next === "<") {
      operator = "<<";
      at++;
      dropsTabs = text[at] === "-";
      if (dropsTabs) at++;
    }
    this.#at = at;
    this.#skipBlanks();
    const start = this.#at;
    const redirect = { operator, descriptor: number ?? (sign === "<" ? 0 : 1), word: this.#word() };
    if (operator === "<<") {
      const raw = text.slice(start, this.#at);
      const end = raw.replace(/\\(.)|["']/g, "$1");
      this.#hereDocuments.push({ end, isQuoted: end !== raw, dropsTabs, redirect });
    }
    return redirect;
  }

  // Words ---------------------------------------------------------------------------------------------------

  #word(mayBeEmpty = false): Word {
    const start = this.#at;
    const parts: Part[] = [];
    this.#pieces(parts, false, undefined);
    if (this.#at === start && !mayBeEmpty) throw this.#unexpected();
    return wordOf(parts);
  }

  /**
   * Reads unquoted pieces of a word.
   * @param closing where it ends; undefined: where a word of a command ends
   */
  #pieces(parts: Part[], isQuoted: boolean, closing: number | undefined): void {
    const text = this.#text;
    let plain = "";
    let from = this.#at;
    const flush = (to: number) => {
      plain += text.slice(from, to);
      if (plain !== "") parts.push({ kind: "text", text: plain, isQuoted });
      plain = "";
    };
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code)) {
        if (closing !== undefined) throw new Problem("Syntax error: Missing '}'");
        break;
      }
      if (code === closing || (closing === undefined && isKind(code, ENDS_WORD))) break;
      if (!isKind(code, SPECIAL)) {
        this.#at++;
        continue;
      }
      if (code === 39 && isQuoted) {
        this.#at++;
        continue;
      }
      if (code === BACKSLASH && isQuoted) {
        // Inside double quotes, within braces.
        plain += text.slice(from, this.#at);
        plain += this.#escapedInQuotes("}");
        from = this.#at;
        continue;
      }
      if (code === 36 && !this.#startsExpansion()) {
        this.#at++;
        continue;
      }
      flush(this.#at);
      this.#special(parts, code, isQuoted);
      from = this.#at;
    }
    flush(this.#at);
  }

  /** Reads one quotation, escape or expansion. */
  #special(parts: Part[], code: number, isQuoted: boolean): void {
    const text = this.#text;
    switch (code) {
      case 39: {
        const end = text.indexOf("'", this.#at + 1);
        if (end < 0) throw new Problem("Syntax error: Unterminated quoted string");
        parts.push({ kind: "text", text: text.slice(this.#at + 1, end), isQuoted: true });
        this.#at = end + 1;
        return;
      }
      case 34:
        this.#at++;
        this.#quoted(parts, '"');
        return;
      case BACKSLASH: {
        const next = text[this.#at + 1];
        this.#at += 2;
        if (next === "\n") return;
        parts.push({ kind: "text", text: next ?? "\\", isQuoted: true });
        return;
      }
      case 96:
        this.#backquoted(parts, isQuoted);
        return;
      default:
        this.#expansion(parts, isQuoted);
    }
  }

  /** What is between double quotes; with `end` undefined, a here-document, which ends with the text. */
  #quoted(parts: Part[], end: '"' | undefined): void {
    const text = this.#text;
    const first = parts.length;
    let plain = "";
    let from = this.#at;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code) && end !== undefined)
        throw new Problem("Syntax error: Unterminated quoted string");
      if (Number.isNaN(code) || (code === 34 && end !== undefined)) break;
      if (code === BACKSLASH) {
        plain += text.slice(from, this.#at) + this.#escapedInQuotes(end ?? "");
        from = this.#at;
      } else if (code === 96 || (code === 36 && this.#startsExpansion())) {
        plain += text.slice(from, this.#at);
        if (plain !== "") parts.push({ kind: "text", text: plain, isQuoted: true });
        plain = "";
        this.#special(parts, code, true);
        from = this.#at;
      } else this.#at++;
    }
    plain += text.slice(from, this.#at);
    if (plain !== "" || parts.length === first) parts.push({ kind: "text", text: plain, isQuoted: true });
    if (end !== undefined) this.#at++;
  }

  #escapedInQuotes(also: string): string {
    const next = this.#text[this.#at + 1];
    if (next === "\n") {
      this.#at += 2;
      return "";
    }
    const isEscaped = next !== undefined && `$\`\\${also}`.includes(next);
    this.#at += isEscaped ? 2 : 1;
    return isEscaped ? next : "\\";
  }

  #startsExpansion(): boolean {
    const next = this.#text.charCodeAt(this.#at + 1);
    return (
      next === 123 ||
      next === 40 ||
      isKind(next, NAME) ||
      (next < 128 && SPECIAL_PARAMETERS.includes(String.fromCharCode(next)))
    );
  }

  /** What begins with a dollar sign. */
  #expansion(parts: Part[], isQuoted: boolean): void {
    const next = this.#text[++this.#at];
    if (next === "{") {
      this.#at++;
      parts.push(this.#inBraces(isQuoted));
      return;
    }
    if (next === "(") {
      const sum = this.#text[this.#at + 1] === "(" ? this.#sum(isQuoted) : undefined;
      if (sum !== undefined) {
        parts.push(sum);
        return;
      }
      this.#at++;
      const body = this.#list();
      this.#expect(")");
      const script: Script = { lines: [body], problem: undefined, endsWithCommand: true };
      parts.push({ kind: "command", body: script, isQuoted });
      return;
    }
    const name = this.#name() || this.#text[this.#at++];
    parts.push({ kind: "parameter", name, operator: "", word: undefined, isQuoted });
  }

  #inBraces(isQuoted: boolean): Part {
    const text = this.#text;
    let isLength = false;
    if (text[this.#at] === "#" && text[this.#at + 1] !== "}" && !/[-+=?:%#]/.test(text[this.#at + 1])) {
      isLength = true;
      this.#at++;
    }
    let name = "";
    if (isKind(text.charCodeAt(this.#at), DIGIT)) {
      const start = this.#at;
      while (isKind(text.charCodeAt(this.#at), DIGIT)) this.#at++;
      name = text.slice(start, this.#at);
    } else name = this.#name();
    if (name === "") {
      name = text[this.#at] ?? "";
      if (name === "" || !SPECIAL_PARAMETERS.includes(name))
        throw new Problem("Syntax error: Bad substitution");
      this.#at++;
    }
    if (isLength || text[this.#at] === "}") {
      this.#expect("}");
      return { kind: "parameter", name, operator: isLength ? "length" : "", word: undefined, isQuoted };
    }
    let operator = text[this.#at++] ?? "";
    const next = text[this.#at];
    if (operator === ":" || ((operator === "%" || operator === "#") && next === operator)) {
      operator += next;
      this.#at++;
    }
    const isPattern = operator[0] === "%" || operator[0] === "#";
    if (!isPattern && !/^:?[-+=?]$/.test(operator)) throw new Problem("Syntax error: Bad substitution");
    const parts: Part[] = [];
    this.#pieces(parts, isQuoted && !isPattern, 125);
    this.#at++;
    return { kind: "parameter", name, operator, word: wordOf(parts), isQuoted };
  }

  /** $((…)); undefined, and nothing is read, if this is a command that begins with a subshell. */
  #sum(isQuoted: boolean): Part | undefined {
    const text = this.#text;
    const start = this.#at;
    const parts: Part[] = [];
    let depth = 0;
    let from = start + 2;
    this.#at = from;
    const flush = () => {
      if (this.#at > from) parts.push({ kind: "text", text: text.slice(from, this.#at), isQuoted: true });
    };
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code)) break;
      if (code === 41 && depth-- === 0) {
        if (text[this.#at + 1] !== ")") break;
        flush();
        this.#at += 2;
        return { kind: "sum", word: wordOf(parts), isQuoted };
      }
      if (code === 40) depth++;
      if (code === 96 || (code === 36 && this.#startsExpansion())) {
        flush();
        this.#special(parts, code, true);
        from = this.#at;
      } else if (code === 34) {
        flush();
        from = ++this.#at;
      } else this.#at++;
    }
    this.#at = start;
    return undefined;
  }

  #backquoted(parts: Part[], isQuoted: boolean): void {
    const text = this.#text;
    let inner = "";
    for (;;) {
      const character = text[++this.#at];
      if (character === undefined) throw new Problem("Syntax error: EOF in backquote substitution");
      if (character === "`") break;
      const next = text[this.#at + 1];
      if (
        character === "\\" &&
        (next === "`" || next === "\\" || next === "$" || (next === '"' && isQuoted))
      ) {
        inner += next;
        this.#at++;
      } else inner += character;
    }
    this.#at++;
    parts.push({ kind: "command", body: new Parser(inner, this.#isBash).script(), isQuoted });
  }

  // Characters ----------------------------------------------------------------------------------------------

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #name(): string {
    const start = this.#at;
    if (isKind(this.#code(), DIGIT)) {
      this.#at++;
      return this.#text[start];
    }
    while (isKind(this.#code(), NAME)) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  /** The reserved word that comes next; it is not read. */
  #reserved(): string | undefined {
    let end = this.#at;
    const text = this.#text;
    const first = text.charCodeAt(end);
    if (first === 123 || first === 125 || first === 33) end++;
    else while (end - this.#at < 6 && isKind(text.charCodeAt(end), NAME)) end++;
    if (end === this.#at) return undefined;
    const after = text.charCodeAt(end);
    if (!Number.isNaN(after) && !isKind(after, ENDS_WORD)) return undefined;
    const word = text.slice(this.#at, end);
    return RESERVED.has(word) ? word : undefined;
  }

  #takes(sign: string): boolean {
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#takes(sign)) throw this.#unexpected();
  }

  #expectReserved(word: string): void {
    if (this.#reserved() !== word) throw this.#unexpected();
    this.#at += word.length;
  }

  /** Spaces, continued lines and comments. */
  #skipBlanks(): void {
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (isKind(code, BLANK)) this.#at++;
      else if (code === BACKSLASH && text.charCodeAt(this.#at + 1) === NEWLINE) this.#at += 2;
      else if (code === 35) {
        const end = text.indexOf("\n", this.#at);
        this.#at = end < 0 ? text.length : end;
      } else return;
    }
  }

  #skipNewlines(): void {
    for (;;) {
      this.#skipBlanks();
      if (this.#code() !== NEWLINE) return;
      this.#newline();
    }
  }

  #newline(): void {
    this.#at++;
    const waiting = this.#hereDocuments;
    if (waiting.length === 0) return;
    this.#hereDocuments = [];
    for (const { end, isQuoted, dropsTabs, redirect } of waiting) {
      let body = "";
      while (this.#at < this.#text.length) {
        const stop = this.#text.indexOf("\n", this.#at);
        const next = stop < 0 ? this.#text.length : stop + 1;
        let line = this.#text.slice(this.#at, next);
        this.#at = next;
        if (dropsTabs) line = line.replace(/^\t+/, "");
        if (line === end || line === `${end}\n`) break;
        body += line;
      }
      const parts: Part[] = [{ kind: "text", text: body, isQuoted: true }];
      redirect.word = wordOf(isQuoted ? parts : new Parser(body, this.#isBash).#hereParts());
    }
  }

  #hereParts(): Part[] {
    const parts: Part[] = [];
    this.#quoted(parts, undefined);
    return parts;
  }

  #lineNumber(): number {
    for (;;) {
      const next = this.#text.indexOf("\n", this.#lineAt);
      if (next < 0 || next >= this.#at) return this.#line;
      this.#lineAt = next + 1;
      this.#line++;
    }
  }

  #unexpected(): Problem {
    const word = this.#text[this.#at];
    const what =
      word === undefined ? "end of file" : word === "\n" ? "newline" : `"${this.#reserved() ?? word}"`;
    return new Problem(`Syntax error: ${what} unexpected`);
  }
}

function listOf(items: readonly Command[]): Command | undefined {
  return items.length < 2 ? items[0] : { kind: "list", items };
}

function wordOf(parts: readonly Part[]): Word {
  let plain: string | undefined = "";
  let hasCommand = false;
  for (const part of parts) {
    if (part.kind === "text" && (part.isQuoted || !/[*?[]/.test(part.text))) {
      if (plain !== undefined) plain += part.text;
    } else plain = undefined;
    if (part.kind === "command") hasCommand = true;
    else if (part.kind !== "text" && part.word?.hasCommand) hasCommand = true;
  }
  return { parts, plain, hasCommand };
}
