/** Parses the text of the configuration file, JSON or TOML, and finds the line of a field. */
import { readFileSync } from "@tutti/host/ports/fs.ts";
import { whyUnreadable } from "@tutti/host/unreadable.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { parse, TomlError } from "smol-toml";

/** Text of a configuration file. @throws InputError if it cannot be read */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new InputError(
      `Cannot read the configuration "${file}": ${whyUnreadable(error)}, expected a file in JSON or TOML; tutti config schema lists its fields`,
    );
  }
}

/**
 * TOML if the file is named so, else JSON.
 * @throws InputError, with line and column if the parser reports them
 */
export function parseText(text: string, file: string): unknown {
  const isToml = file.endsWith(".toml");
  try {
    return isToml ? parse(text) : JSON.parse(text);
  } catch (error) {
    if (error instanceof TomlError) {
      const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
      throw new InputError(
        `Cannot read "${file}", line ${error.line}, column ${error.column}: ${reason}; expected TOML`,
      );
    }
    throw new InputError(
      `Cannot read "${file}": ${(error as Error).message.replaceAll(/\s+/g, " ")}; expected ${isToml ? "TOML" : "JSON, or TOML in a file named .toml"}`,
    );
  }
}

/** The line, from 1, of a field such as `slotMs`, `cpus[1]` or `queues[1].processors`; else undefined. */
export function lineOf(text: string, field: string): number | undefined {
  const parts = field.match(/[\w-]+|\[\d+\]/g) ?? [];
  const bare = withoutComments(text);
  let at = 0;
  for (const [i, part] of parts.entries()) {
    const [, index] = /^\[(\d+)\]$/.exec(part) ?? [];
    const position =
      index === undefined
        ? endOfKey(bare, part, at)
        : startOfItem(bare, parts[i - 1] ?? "", at, Number(index));
    // An element of a list of numbers is reported at the list.
    if (position < 0) return i === 0 ? undefined : lineAt(bare, at);
    at = position;
  }
  return parts.length === 0 ? undefined : lineAt(bare, at);
}

/**
 * The same text with blanks instead of comments, because comments may contain settings that are not in use.
 */
function withoutComments(text: string): string {
  return text.replace(
    /("(?:\\.|[^"\\\n])*"|'[^'\n]*')|#[^\n]*/g,
    (match, string: string | undefined) => string ?? " ".repeat(match.length),
  );
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split("\n").length;
}

function endOfKey(text: string, key: string, from: number): number {
  const pattern = new RegExp(
    `(?<=^|[{,\\s])(?:"${key}"|${key})(?=\\s*[:=])|(?<=^\\s*\\[\\[?(?:[^\\]\\n]*\\.)?\\s*"?)${key}(?="?\\s*[\\].])`,
    "gm",
  );
  pattern.lastIndex = from;
  const match = pattern.exec(text);
  return match === null ? -1 : match.index + match[0].length;
}

/** Position of the object `index` of a list: after that `[[name]]`, or at that opening brace. */
function startOfItem(text: string, name: string, from: number, index: number): number {
  const heads = [...text.matchAll(new RegExp(`^\\s*\\[\\[\\s*${name}\\s*\\]\\]`, "gm"))];
  if (heads.length > 0) {
    const head = heads[index];
    return head === undefined ? -1 : head.index + head[0].length;
  }
  let depth = 0;
  let seen = -1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '"') {
      const end = text.indexOf('"', i + 1);
      if (end < 0) return -1;
      i = end;
    } else if (text[i] === "{") {
      if (++depth === 1 && ++seen === index) return i;
    } else if (text[i] === "}") depth--;
    else if (text[i] === "]" && depth === 0) return -1;
  }
  return -1;
}
