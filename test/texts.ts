/**
 * Finds the prose of a TypeScript file: its comments, and its strings and templates. This is a small scanner
 * and not a parser: it knows strings, templates with holes, regular expressions and comments, and nothing
 * else.
 */

export interface Text {
  /** The line at which it begins, from 1. */
  readonly line: number;
  /** Without quotation marks and comment marks. A hole of a template reads `…`. */
  readonly text: string;
}

const TOKEN =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\/(?:[^/\\[\n*]|\\.|\[(?:[^\]\\\n]|\\.)*\])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])*\/|\s+|[\w$]+|[\s\S]/y;
/** A part of a template: up to a hole or to the end. */
const PART = /((?:[^`\\$]|\\[\s\S]|\$(?!\{))*)(\$\{|`)/y;
/** After one of these a slash divides; elsewhere it begins a regular expression. */
const OPERAND_END = /[\p{L}\p{N}_$)\]"'`}]$/u;
const KEYWORD = /^(?:return|typeof|case|in|of|delete|void|throw|new|await|yield|else|do)$/;

export function textsOf(source: string): { comments: Text[]; strings: Text[] } {
  const comments: Text[] = [];
  const strings: Text[] = [];
  /** Texts of the templates whose holes are open, each with the number of open braces in its hole. */
  const templates: { line: number; text: string; braces: number }[] = [];
  /** The last token that is neither space nor comment. */
  let last = "";
  let line = 1;
  let at = 0;

  /** Reads at the current position; counts lines. */
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match === null) throw new SyntaxError(`Cannot read line ${line}: expected TypeScript`);
    at = pattern.lastIndex;
    line += match[0].split("\n").length - 1;
    return match;
  };
  const takePart = (begun: number, before: string) => {
    const [, part, end] = take(PART);
    const text = before + part.replace(/\\n/g, "\n");
    if (end === "`") strings.push({ line: begun, text });
    else templates.push({ line: begun, text: `${text}…`, braces: 0 });
    last = end === "`" ? "`" : "{";
  };

  while (at < source.length) {
    const begun = line;
    const divides = OPERAND_END.test(last) && !KEYWORD.test(last);
    if (source[at] === "/" && divides && !/[/*]/.test(source[at + 1])) {
      at++;
      last = "/";
      continue;
    }
    const [token] = take(TOKEN);
    const open = templates.at(-1);
    if (token === "`") {
      takePart(begun, "");
      continue;
    }
    if (token === "}" && open?.braces === 0) {
      templates.pop();
      takePart(open.line, open.text);
      continue;
    }
    if (open !== undefined && token === "{") open.braces++;
    if (open !== undefined && token === "}") open.braces--;
    if (token.startsWith("//") || token.startsWith("/*")) comments.push({ line: begun, text: token });
    else if (/^["']./.test(token)) strings.push({ line: begun, text: token.slice(1, -1) });
    const isNonNull = token === "!" && divides;
    if (!/^(?:\s|\/\/|\/\*)/.test(token) && !isNonNull) last = token;
  }
  return { comments: comments.map(unmarked), strings };
}

const unmarked = ({ line, text }: Text): Text => ({
  line,
  text: text.replace(/^\/\*+|\*+\/$|^\/\/+/g, "").replace(/^[ \t]*\*[ \t]?/gm, ""),
});
