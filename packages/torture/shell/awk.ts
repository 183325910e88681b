/**
 * As much of awk (gawk, the default here) as our scripts need: BEGIN { … } with assignments, concatenation,
 * system() and ENVIRON. system() gives the exit code, or 256 + n if the command died by signal n.
 */
import type { Sys, Wait } from "../world/contract.ts";
import { complain, STEP, write } from "./io.ts";
import { signalNumber } from "./signals.ts";

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|([0-9]+)|([A-Za-z_][A-Za-z_0-9]*)|([{}()[\];=,])|(\n))[ \t]*/y;

/** @param words without the name */
export function* awk(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const tokens = tokensOf(words[0] ?? "");
  if (tokens === undefined || tokens[0] !== "BEGIN" || tokens[1] !== "{" || tokens.at(-1) !== "}") {
    yield* complain(sys, "awk: this program is not supported");
    return 2;
  }
  return yield* new Awk(sys, tokens.slice(2, -1)).run();
}

function tokensOf(text: string): string[] | undefined {
  const tokens: string[] = [];
  const trimmed = text.trim();
  for (let at = 0; at < trimmed.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(trimmed);
    if (found === null) return undefined;
    tokens.push(found[1] ?? found[2] ?? found[3] ?? found[4] ?? ";");
    if (/\n/.test(found[0].replace(/"(?:[^"\\]|\\.)*"/, ""))) tokens.splice(-1, 0, ";");
  }
  return tokens;
}

class Awk {
  readonly #sys: Sys;
  readonly #tokens: readonly string[];
  readonly #variables = new Map<string, string>();
  #at = 0;
  #status: number | undefined;

  constructor(sys: Sys, tokens: readonly string[]) {
    this.#sys = sys;
    this.#tokens = tokens;
  }

  *run(): Generator<Wait, number> {
    while (this.#at < this.#tokens.length && this.#status === undefined) {
      if (this.#takes(";")) continue;
      if (this.#takes("exit")) this.#status = Number(yield* this.#text());
      else if (this.#takes("print")) yield* write(this.#sys, 1, `${yield* this.#text()}\n`);
      else if (this.#tokens[this.#at + 1] === "=") {
        const name = this.#tokens[this.#at];
        this.#at += 2;
        this.#variables.set(name, yield* this.#text());
      } else yield* this.#text();
    }
    return this.#status ?? 0;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  /** A concatenation, up to what cannot belong to it. */
  *#text(): Generator<Wait, string> {
    let text = "";
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token === undefined || /^[;)\]},]/.test(token)) return text;
      this.#at++;
      if (token[0] === '"') text += plain(token.slice(1, -1));
      else if (token === "(") {
        text += yield* this.#text();
        this.#at++;
      } else if (token === "system" || token === "ENVIRON") {
        this.#at++;
        const argument = yield* this.#text();
        this.#at++;
        text +=
          token === "system" ? yield* this.#system(argument) : (this.#sys.self.environment[argument] ?? "");
      } else text += /^[0-9]/.test(token) ? token : (this.#variables.get(token) ?? "");
    }
  }

  *#system(text: string): Generator<Wait, string> {
    const sys = this.#sys;
    for (const signal of ["SIGINT", "SIGQUIT"]) sys.onSignal(signal, "ignore");
    yield STEP;
    const pid = sys.fork(function* (child) {
      for (const signal of ["SIGINT", "SIGQUIT"]) child.onSignal(signal, "default");
      yield STEP;
      return yield* child.exec(["sh", "-c", text], child.self.environment);
    });
    for (;;) {
      const end = sys.reap(pid)?.end;
      if (end === undefined) {
        yield { for: "child", pid };
        continue;
      }
      for (const signal of ["SIGINT", "SIGQUIT"]) sys.onSignal(signal, "default");
      yield STEP;
      return String(end.signal === undefined ? end.code : 256 + signalNumber(end.signal));
    }
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t" };

function plain(text: string): string {
  return text.replace(/\\(.)/g, (_, letter) => ESCAPES[letter] ?? letter);
}
