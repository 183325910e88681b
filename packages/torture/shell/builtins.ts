/** Commands that a shell runs itself. */
import type { Wait } from "../world/contract.ts";
import { O_RDONLY, X_OK } from "../world/files/open-flags.ts";
import { Fatal } from "./expand.ts";
import { codeOf, decode, open, readAll, reasonOf, STEP, write } from "./io.ts";
import { echo, printf } from "./printf.ts";
import type { Builtin, Builtins, Shell } from "./shell.ts";
import { signalNamed } from "./signals.ts";
import { test } from "./test-command.ts";

const RESERVED = new Set("if then elif else fi while until do done for case esac { } ! in".split(" "));
const NAME = /^[A-Za-z_][A-Za-z_0-9]*$/;
const OPTIONS: Readonly<Record<string, string>> = { errexit: "e", noglob: "f", nounset: "u" };

export const BUILTINS: Builtins = {
  __proto__: null as never,
  ":": constant(0),
  true: constant(0),
  false: constant(1),
  times: constant(0),
  ".": sourceFile,
  "[": testCommand,
  break: (shell, words) => leaveLoops(shell, "break", words),
  cd: changeFolder,
  command: commandCommand,
  continue: (shell, words) => leaveLoops(shell, "continue", words),
  echo: function* (shell, words) {
    yield* write(shell.sys, 1, echo(words, shell.isBash));
    return 0;
  },
  eval: function* (shell, words) {
    yield* shell.run(words.join(" "));
    return shell.status;
  },
  exit: (shell, words) => leave(shell, "exit", words),
  export: (shell, words) => declare(shell, words, { isExported: true }),
  kill: killCommand,
  local: localCommand,
  printf: function* (shell, words) {
    return yield* printCommand(shell, words);
  },
  pwd: function* (shell) {
    yield* write(shell.sys, 1, `${shell.value("PWD") ?? ""}\n`);
    return 0;
  },
  read: readCommand,
  readonly: (shell, words) => declare(shell, words, { isReadonly: true }),
  return: (shell, words) => leave(shell, shell.depth > 0 ? "return" : "exit", words),
  set: setCommand,
  shift: shiftCommand,
  test: testCommand,
  trap: trapCommand,
  type: (shell, words) => commandCommand(shell, ["-v", ...words]),
  ulimit: limitCommand,
  umask: umaskCommand,
  unset: unsetCommand,
  wait: waitCommand,
};

function constant(status: number): Builtin {
  // biome-ignore lint/correctness/useYield: it waits for nothing, as its caller expects of others
  return function* () {
    return status;
  };
}

function number(word: string): number {
  if (!/^[0-9]+$/.test(word)) throw new Fatal(`Illegal number: ${word}`);
  return Number(word);
}

// biome-ignore lint/correctness/useYield: see above
function* leave(shell: Shell, kind: "exit" | "return", words: readonly string[]): Generator<Wait, number> {
  const status = words.length === 0 ? shell.status : number(words[0]);
  shell.jump = { kind };
  return status & 255;
}

// biome-ignore lint/correctness/useYield: see above
function* leaveLoops(
  shell: Shell,
  kind: "break" | "continue",
  words: readonly string[],
): Generator<Wait, number> {
  const count = words.length === 0 ? 1 : number(words[0]);
  if (shell.loops > 0) shell.jump = { kind, count: Math.min(count, shell.loops) };
  return 0;
}

function* sourceFile(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const [name = ""] = words;
  const path = name.includes("/") ? name : (shell.find(name, false) ?? name);
  let text: string;
  try {
    const descriptor = yield* open(shell.sys, path, O_RDONLY);
    text = yield* readAll(shell.sys, descriptor);
    shell.sys.files.close(shell.sys.self, descriptor);
  } catch (error) {
    throw new Fatal(`cannot open ${path}: ${reasonOf(error)}`);
  }
  shell.depth++;
  shell.status = 0;
  yield* shell.run(text);
  shell.depth--;
  if (shell.jump?.kind === "return") shell.jump = undefined;
  return shell.status;
}

function* testCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const isBracket = shell.called === "[";
  try {
    if (isBracket && words.at(-1) !== "]") throw new Error("missing ]");
    return test(shell.sys, isBracket ? words.slice(0, -1) : words);
  } catch (error) {
    yield* shell.complain(`${shell.called}: ${(error as Error).message}`);
    return 2;
  }
}

function* changeFolder(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const { files, self } = shell.sys;
  let [folder = shell.value("HOME") ?? ""] = words.filter((word) => !/^-[-LP]$/.test(word));
  const isBack = folder === "-";
  if (isBack) folder = shell.value("OLDPWD") ?? "";
  const here = shell.value("PWD") ?? "/";
  const parts: string[] = [];
  for (const part of (folder[0] === "/" ? folder : `${here}/${folder}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const path = `/${parts.join("/")}`;
  try {
    if (files.stat(self, path).kind !== "folder") throw new Fatal(`can't cd to ${folder}`);
    files.access(self, path, X_OK);
    self.cwd = files.find(self, path);
  } catch (error) {
    if (!(error instanceof Fatal)) codeOf(error);
    yield* shell.complain(`cd: can't cd to ${folder}`);
    return shell.isBash ? 1 : 2;
  }
  yield STEP;
  shell.set("OLDPWD", here);
  shell.set("PWD", path);
  if (isBack) yield* write(shell.sys, 1, `${path}\n`);
  return 0;
}

function* commandCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  let isQuestion = false;
  let at = 0;
  for (; words[at]?.[0] === "-"; at++) {
    if (words[at] === "--") {
      at++;
      break;
    }
    isQuestion ||= words[at] === "-v" || words[at] === "-V";
  }
  const rest = words.slice(at);
  if (!isQuestion) {
    if (rest.length > 0) yield* shell.runPlain(rest);
    return rest.length > 0 ? shell.status : 0;
  }
  for (const name of rest) {
    const isOwn = RESERVED.has(name) || name === "exec" || name in BUILTINS || shell.functions.has(name);
    const found = isOwn ? name : shell.find(name);
    if (found === undefined) return shell.isBash ? 1 : 127;
    yield* write(shell.sys, 1, `${found}\n`);
  }
  return 0;
}

// biome-ignore lint/correctness/useYield: see above
function* declare(
  shell: Shell,
  words: readonly string[],
  marks: { readonly isExported?: true; readonly isReadonly?: true },
): Generator<Wait, number> {
  for (const word of words) {
    if (word === "-p") continue;
    const at = word.indexOf("=");
    const name = at < 0 ? word : word.slice(0, at);
    if (!NAME.test(name)) throw new Fatal(`${name}: bad variable name`);
    if (at >= 0) shell.set(name, word.slice(at + 1));
    shell.mark(name, marks);
  }
  return 0;
}

function* killCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  return yield* kill(shell.sys, words, (why) => shell.complain(`kill: ${why}`));
}

/** The command kill, of the shell or as a program. */
export function* kill(
  sys: Shell["sys"],
  words: readonly string[],
  complainOf: (why: string) => Generator<Wait, void>,
): Generator<Wait, number> {
  let signal: string | undefined = "SIGTERM";
  let at = 0;
  const [first = ""] = words;
  if (first === "-s" || first === "-n") {
    signal = words[1] === "0" ? "0" : signalNamed(words[1] ?? "");
    at = 2;
  } else if (first.length > 1 && first[0] === "-" && first !== "--") {
    signal = first === "-0" ? "0" : signalNamed(first.slice(1));
    at = 1;
  }
  if (words[at] === "--") at++;
  if (signal === undefined) {
    yield* complainOf(`invalid signal: ${first}`);
    return 2;
  }
  let status = 0;
  for (const word of words.slice(at)) {
    if (!/^-?[0-9]+$/.test(word)) {
      yield* complainOf(`Illegal number: ${word}`);
      return 2;
    }
    const pid = Number(word) || -sys.self.session;
    try {
      sys.kill(pid, signal);
      yield STEP;
    } catch (error) {
      yield* complainOf(reasonOf(error));
      status = 1;
    }
  }
  return status;
}

// biome-ignore lint/correctness/useYield: see above
function* localCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const { hidden } = shell;
  if (hidden === undefined) throw new Fatal("not in a function");
  for (const word of words) {
    const at = word.indexOf("=");
    const name = at < 0 ? word : word.slice(0, at);
    if (!hidden.has(name)) hidden.set(name, shell.variables.get(name));
    if (at >= 0) shell.set(name, word.slice(at + 1));
  }
  return 0;
}

function* printCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const rest = words[0] === "--" ? words.slice(1) : words;
  if (rest.length === 0) throw new Fatal("usage: printf format [arg ...]");
  const { text, wrong } = printf(rest, shell.sys.machine.clock.unixMs());
  if (text !== "") yield* write(shell.sys, 1, text);
  for (const word of wrong) yield* shell.complain(`printf: ${word}: expected numeric value`);
  return wrong.length > 0 ? 1 : 0;
}

function* readCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  let isRaw = false;
  let untilMs: number | undefined;
  let at = 0;
  for (; words[at]?.[0] === "-"; at++) {
    if (words[at] === "--") {
      at++;
      break;
    }
    if (words[at] === "-r") isRaw = true;
    else if (words[at] === "-p") at++;
    else if (words[at] === "-t" && shell.isBash) {
      untilMs = shell.sys.machine.clock.monotonicMs() + Number(words[++at]) * 1000;
    } else throw new Fatal(`Illegal option ${words[at]}`);
  }
  const names = words.slice(at);
  if (names.length === 0) {
    if (!shell.isBash) throw new Fatal("arg count");
    names.push("REPLY");
  }
  yield STEP;
  const { text, escaped, status } = yield* readLine(shell, isRaw, untilMs);
  const values = splitLine(text, escaped, shell.value("IFS") ?? " \t\n", names.length);
  for (const [i, name] of names.entries()) shell.set(name, values[i] ?? "");
  yield STEP;
  return status;
}

interface Line {
  readonly text: string;
  /** Indexes of characters that a backslash protects. */
  readonly escaped: ReadonlySet<number>;
  /** 0; 1 at the end of the file; above 128 when the time is over. */
  readonly status: number;
}

const NEWLINE = 10;
const BACKSLASH = 92;
const CHUNK = 512;

/** Reads no byte behind the line: the rest is for others who have the file open. */
function* readLine(shell: Shell, isRaw: boolean, untilMs: number | undefined): Generator<Wait, Line> {
  const { files, self } = shell.sys;
  const opened = self.files.get(0);
  // The position in a file can be set back.
  const buffer = new Uint8Array(opened?.inode.kind === "file" ? CHUNK : 1);
  const bytes: number[] = [];
  let status = 0;
  reading: for (;;) {
    let count: number;
    try {
      count = files.read(self, 0, buffer);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
      if (!(yield* mayBeRead(shell, untilMs))) {
        status = 142;
        break;
      }
      continue;
    }
    if (count === 0) {
      status = 1;
      break;
    }
    for (let i = 0; i < count; i++) {
      const byte = buffer[i];
      if (byte === 0) continue;
      const isContinued = !isRaw && isEscaped(bytes);
      if (byte === NEWLINE && !isContinued) {
        if (opened !== undefined && count > 1) opened.position -= count - i - 1;
        break reading;
      }
      bytes.push(byte);
    }
  }
  if (isRaw || !bytes.includes(BACKSLASH)) {
    return { text: decode(Uint8Array.from(bytes)), escaped: new Set(), status };
  }
  const escaped = new Set<number>();
  let text = "";
  const raw = decode(Uint8Array.from(bytes));
  for (let i = 0; i < raw.length; i++) {
    if (raw[i] !== "\\") text += raw[i];
    else if (++i < raw.length && raw[i] !== "\n") {
      escaped.add(text.length);
      text += raw[i];
    }
  }
  return { text, escaped, status };
}

/** Whether a backslash protects what comes next. */
function isEscaped(bytes: readonly number[]): boolean {
  let count = 0;
  while (bytes[bytes.length - 1 - count] === BACKSLASH) count++;
  return count % 2 === 1;
}

/** Waits. @returns whether something came before that time, which stands still while the machine sleeps */
function* mayBeRead(shell: Shell, untilMs: number | undefined): Generator<Wait, boolean> {
  const { clock, timeline } = shell.sys.machine;
  if (untilMs === undefined) {
    yield { for: "readable", descriptor: 0 };
    return true;
  }
  const leftMs = untilMs - clock.monotonicMs();
  if (leftMs <= 0) return false;
  yield { for: "readable", descriptor: 0, untilUs: timeline.nowUs + Math.ceil(leftMs * 1000) };
  return true;
}

/** @returns at most `count` fields; the last one has the rest */
function splitLine(text: string, escaped: ReadonlySet<number>, ifs: string, count: number): string[] {
  const isSpace = (at: number) => !escaped.has(at) && ifs.includes(text[at]) && " \t\n".includes(text[at]);
  const isDelimiter = (at: number) => !escaped.has(at) && ifs.includes(text[at]);
  const fields: string[] = [];
  let at = 0;
  while (at < text.length && isSpace(at)) at++;
  while (at < text.length) {
    const start = at;
    while (at < text.length && !isDelimiter(at)) at++;
    const end = at;
    while (at < text.length && isSpace(at)) at++;
    if (at < text.length && isDelimiter(at) && (end === at || !isSpace(at))) {
      at++;
      while (at < text.length && isSpace(at)) at++;
    }
    if (fields.length < count - 1 || at >= text.length) {
      fields.push(text.slice(start, end));
      continue;
    }
    let last = text.length;
    while (last > start && isSpace(last - 1)) last--;
    fields.push(text.slice(start, last));
    break;
  }
  return fields;
}

function* setCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === "--" || word === "-" || !/^[-+]./.test(word)) break;
    const isOn = word[0] === "-";
    let letters = word.slice(1);
    if (letters === "o") letters = OPTIONS[words[++at] ?? ""] ?? "";
    for (const letter of letters) {
      shell.options = shell.options.replace(letter, "") + (isOn ? letter : "");
    }
  }
  const isList = words[at] === "--" || words[at] === "-";
  if (isList || at < words.length) shell.args = words.slice(isList ? at + 1 : at);
  if (words.length > 0) return 0;
  const all = [...shell.variables].filter(([, { value }]) => value !== undefined).sort();
  for (const [name, { value }] of all) yield* write(shell.sys, 1, `${name}='${value}'\n`);
  return 0;
}

// biome-ignore lint/correctness/useYield: see above
function* shiftCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const count = words.length === 0 ? 1 : number(words[0]);
  if (count > shell.args.length) {
    if (shell.isBash) return 1;
    throw new Fatal("can't shift that many");
  }
  shell.args = shell.args.slice(count);
  return 0;
}

function* trapCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const rest = words[0] === "--" ? words.slice(1) : words;
  if (rest.length === 0) {
    for (const [signal, command] of shell.traps) {
      yield* write(shell.sys, 1, `trap -- '${command}' ${signal.replace(/^SIG/, "")}\n`);
    }
    return 0;
  }
  const isDefault = rest[0] === "-" || /^[0-9]+$/.test(rest[0]) || rest.length === 1;
  const command = isDefault ? undefined : rest[0];
  for (const word of rest.slice(rest[0] === "-" || !isDefault ? 1 : 0)) {
    const signal = word === "0" || word === "EXIT" ? "EXIT" : signalNamed(word);
    if (signal === undefined) {
      yield* shell.complain(`trap: ${word}: bad trap`);
      return 1;
    }
    shell.trap(signal, command);
  }
  return 0;
}

/** Open files and CPU time have limits here; others are accepted, and mean nothing. */
function* limitCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const letters = words.filter((word) => word[0] === "-").join("");
  const value = words.find((word) => word[0] !== "-");
  const isTime = letters.includes("t");
  if (value === undefined) {
    const { openFiles, cpuLimitUs } = shell;
    const isFiles = letters.includes("n");
    const limit = isFiles ? openFiles : isTime && cpuLimitUs !== undefined ? cpuLimitUs / 1e6 : "unlimited";
    yield* write(shell.sys, 1, `${limit}\n`);
  } else if (isTime) shell.cpuLimitUs = number(value) * 1e6;
  else if (letters.includes("n")) shell.openFiles = number(value);
  return 0;
}

function* umaskCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  const { self } = shell.sys;
  const [mask] = words;
  if (mask === undefined) yield* write(shell.sys, 1, `${self.umask.toString(8).padStart(4, "0")}\n`);
  else if (/^[0-7]+$/.test(mask)) self.umask = Number.parseInt(mask, 8) & 0o777;
  else throw new Fatal(`Illegal mode: ${mask}`);
  return 0;
}

// biome-ignore lint/correctness/useYield: see above
function* unsetCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  let isFunction = false;
  for (const word of words) {
    if (word === "-f") isFunction = true;
    else if (word === "-v") isFunction = false;
    else if (isFunction) shell.functions.delete(word);
    else shell.unset(word);
  }
  return 0;
}

function* waitCommand(shell: Shell, words: readonly string[]): Generator<Wait, number> {
  if (words.length > 0) return yield* shell.waitForAll(words.map(number));
  const status = yield* shell.waitForAll([...shell.ends.keys()]);
  return status > 128 && shell.hasSignal ? status : 0;
}
