/** Programs that scripts use, with the options that ours use. */
import type { Program, Stat, Sys, Wait } from "../world/contract.ts";
import { O_CREAT, O_RDONLY, O_TRUNC, O_WRONLY } from "../world/files/open-flags.ts";
import { kill } from "./builtins.ts";
import { codeOf, complain, open, read, readFile, reasonOf, STEP, write, writeBytes } from "./io.ts";
import { echo, formatTime, printf } from "./printf.ts";
import { signalNamed, signalNumber } from "./signals.ts";
import { test } from "./test-command.ts";

/** @param words without the name. @returns its exit status. @throws SysError, Misuse */
type Command = (sys: Sys, words: readonly string[]) => Generator<Wait, number>;

/** By name; each is a file in /usr/bin. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  "[": (sys, words) => testing(sys, words.slice(0, -1)),
  basename: function* (sys, [path = "", suffix = ""]) {
    const name = path.replace(/\/+$/, "").split("/").at(-1) ?? "";
    const isCut = suffix !== "" && name !== suffix && name.endsWith(suffix);
    return yield* print(sys, isCut ? name.slice(0, -suffix.length) : name);
  },
  cat: concatenate,
  chmod: changeMode,
  chrt: changePolicy,
  cp: copy,
  date: function* (sys, words) {
    const format = words.find((word) => word[0] === "+")?.slice(1) ?? "%F %T UTC";
    return yield* print(sys, formatTime(format, sys.machine.clock.unixMs()));
  },
  dirname: function* (sys, [path = ""]) {
    const parts = path.replace(/\/+$/, "").split("/");
    return yield* print(sys, parts.length < 2 ? "." : parts.slice(0, -1).join("/") || "/");
  },
  echo: function* (sys, words) {
    yield* write(sys, 1, echo(words, true));
    return 0;
  },
  env: environment,
  false: function* () {
    yield STEP;
    return 1;
  },
  head,
  hostname: (sys) => print(sys, sys.machine.name),
  id: function* (sys, words) {
    const { uid, gid } = sys.self;
    const letters = words.join("");
    return yield* print(
      sys,
      letters.includes("g") ? gid : letters.includes("u") ? uid : `uid=${uid} gid=${gid}`,
    );
  },
  kill: (sys, words) => kill(sys, words, (why) => complain(sys, `kill: ${why}`)),
  ln: link,
  ls: list,
  mkdir: makeFolders,
  mkfifo: makePipes,
  mktemp: makeTemporary,
  mv: move,
  nproc: (sys) => print(sys, sys.machine.cpus),
  printf: function* (sys, words) {
    const { text, wrong } = printf(words, sys.machine.clock.unixMs());
    yield* write(sys, 1, text);
    return wrong.length > 0 ? 1 : 0;
  },
  pwd: (sys) => print(sys, sys.files.pathOf(sys.self.cwd)),
  rm: remove,
  rmdir: function* (sys, words) {
    for (const path of words) {
      sys.files.removeFolder(sys.self, path);
      yield STEP;
    }
    return 0;
  },
  seq: function* (sys, words) {
    const [first, last] = words.length > 1 ? [Number(words[0]), Number(words.at(-1))] : [1, Number(words[0])];
    let text = "";
    for (let i = first; i <= last; i++) text += `${i}\n`;
    yield* write(sys, 1, text);
    return 0;
  },
  setpriv: setRights,
  setsid: newSession,
  sleep: function* (_, words) {
    const us = words.reduce((sum, word) => sum + secondsOf(word) * 1e6, 0);
    yield { for: "time", us: Math.round(us) };
    return 0;
  },
  stat: status,
  sync: function* (sys, words) {
    for (const path of words) {
      const descriptor = yield* open(sys, path, O_RDONLY);
      yield STEP;
      sys.files.sync(sys.self, descriptor);
      yield STEP;
    }
    return 0;
  },
  taskset: setCpus,
  test: testing,
  timeout: limitTime,
  touch: function* (sys, words) {
    for (const path of words.filter((word) => word !== "--")) {
      sys.files.close(sys.self, yield* open(sys, path, O_WRONLY | O_CREAT));
      yield STEP;
    }
    return 0;
  },
  true: function* () {
    yield STEP;
    return 0;
  },
  uname: function* (sys, words) {
    const { name } = sys.machine;
    return yield* print(sys, words[0] === "-n" ? name : words[0] === "-r" ? "6.18.0" : "Linux");
  },
};

/** The program of a command: complaints begin with its name. */
export function programOf(name: string, command: Command): Program {
  return function* (sys) {
    yield STEP;
    try {
      return yield* command(sys, sys.self.argv.slice(1));
    } catch (error) {
      const isSystem = typeof (error as { code?: unknown }).code === "string";
      if (!isSystem && !(error instanceof Misuse)) throw error;
      yield* complain(sys, `${name}: ${isSystem ? reasonOf(error) : (error as Error).message}`);
      return 1;
    }
  };
}

class Misuse extends Error {}

function* print(sys: Sys, text: string | number): Generator<Wait, number> {
  yield* write(sys, 1, `${text}\n`);
  return 0;
}

/** Options at the front, as letters or long names, and the words after them. */
function split(words: readonly string[], withValue = ""): { options: Map<string, string>; rest: string[] } {
  const options = new Map<string, string>();
  let at = 0;
  for (; at < words.length && /^-./.test(words[at]); at++) {
    const word = words[at];
    if (word === "--") {
      at++;
      break;
    }
    if (word.startsWith("--")) {
      const [name, value = ""] = word.slice(2).split("=", 2);
      options.set(name, value);
      continue;
    }
    for (let i = 1; i < word.length; i++) {
      if (!withValue.includes(word[i])) options.set(word[i], "");
      else {
        options.set(word[i], word.slice(i + 1) || (words[++at] ?? ""));
        break;
      }
    }
  }
  return { options, rest: words.slice(at) };
}

/** Does it with each, and complains of those with which it fails. */
function* each(
  sys: Sys,
  paths: readonly string[],
  complaint: (path: string) => string,
  act: (path: string) => void,
): Generator<Wait, number> {
  let failed = 0;
  for (const path of paths) {
    try {
      act(path);
    } catch (error) {
      yield* complain(sys, `${complaint(path)}: ${reasonOf(error)}`);
      failed = 1;
    }
    yield STEP;
  }
  return failed;
}

function lstat(sys: Sys, path: string): Stat | undefined {
  try {
    return sys.files.lstat(sys.self, path);
  } catch (error) {
    codeOf(error);
    return undefined;
  }
}

function isFolder(sys: Sys, path: string): boolean {
  try {
    return sys.files.stat(sys.self, path).kind === "folder";
  } catch (error) {
    codeOf(error);
    return false;
  }
}

function baseOf(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) ?? path;
}

/** The path itself, or one of that name in it if it is a folder. */
function within(sys: Sys, target: string, name: string): string {
  return isFolder(sys, target) ? `${target.replace(/\/$/, "")}/${baseOf(name)}` : target;
}

function secondsOf(word: string): number {
  const found = /^([0-9]*\.?[0-9]*)([smhd]?)$/.exec(word);
  if (found === null || Number.isNaN(Number.parseFloat(found[1]))) {
    throw new Misuse(`invalid time interval '${word}'`);
  }
  const unitS = { s: 1, m: 60, h: 3600, d: 86_400 }[found[2] || "s"] ?? 1;
  return Number(found[1]) * unitS;
}

function* testing(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  yield STEP;
  try {
    return test(sys, words);
  } catch (error) {
    yield* complain(sys, `test: ${(error as Error).message}`);
    return 2;
  }
}

function* concatenate(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const buffer = new Uint8Array(8192);
  let failed = 0;
  for (const path of words.length > 0 ? words : ["-"]) {
    try {
      const from = path === "-" ? 0 : yield* open(sys, path, O_RDONLY);
      for (;;) {
        const bytes = yield* read(sys, from, buffer);
        if (bytes === 0) break;
        yield* writeBytes(sys, 1, buffer.slice(0, bytes));
      }
      if (from !== 0) sys.files.close(sys.self, from);
    } catch (error) {
      if (codeOf(error) === "EPIPE") throw error;
      yield* complain(sys, `cat: ${path}: ${reasonOf(error)}`);
      failed = 1;
    }
  }
  return failed;
}

function* changeMode(sys: Sys, [mode = "", ...paths]: readonly string[]): Generator<Wait, number> {
  if (!/^[0-7]+$/.test(mode)) throw new Misuse(`invalid mode: '${mode}'`);
  return yield* each(
    sys,
    paths,
    (path) => `chmod: cannot access '${path}'`,
    (path) => sys.files.chmod(sys.self, path, Number.parseInt(mode, 8)),
  );
}

/** chrt [-R] [-a] -f|-o|-i -p PRIORITY PID; with -f, only root may. */
function* changePolicy(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const policy = words.includes("-f") || words.includes("--fifo") ? 1 : words.includes("-i") ? 5 : 0;
  yield STEP;
  sys.setPolicy(Number(words.at(-1)), policy);
  return 0;
}

function* copy(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { rest } = split(words);
  const [from = "", to = ""] = rest;
  const { mode } = sys.files.stat(sys.self, from);
  const text = yield* readFile(sys, from);
  const descriptor = yield* open(sys, within(sys, to, from), O_WRONLY | O_CREAT | O_TRUNC, mode & 0o777);
  yield STEP;
  yield* write(sys, descriptor, text);
  return 0;
}

function* environment(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words, "u");
  const variables: Record<string, string> = options.has("i") ? {} : { ...sys.self.environment };
  const unset = options.get("u");
  if (unset !== undefined) delete variables[unset];
  let at = 0;
  for (; rest[at]?.includes("="); at++) {
    const equals = rest[at].indexOf("=");
    variables[rest[at].slice(0, equals)] = rest[at].slice(equals + 1);
  }
  if (at < rest.length) return yield* become(sys, "env", rest.slice(at), variables);
  for (const [name, value] of Object.entries(variables)) yield* write(sys, 1, `${name}=${value}\n`);
  return 0;
}

/** Another program takes over; 127 or 126 if there is no such program. */
function* become(
  sys: Sys,
  name: string,
  words: readonly string[],
  variables: Readonly<Record<string, string>> = sys.self.environment,
): Generator<Wait, number> {
  try {
    return yield* sys.exec(words, variables);
  } catch (error) {
    const code = codeOf(error);
    yield* complain(sys, `${name}: '${words[0]}': ${reasonOf(error)}`);
    return code === "ENOENT" ? 127 : 126;
  }
}

function* head(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words, "nc");
  const short = [...options.keys()].find((name) => /^[0-9]$/.test(name));
  const bytes = options.get("c");
  let left = Number(bytes ?? options.get("n") ?? short ?? 10);
  const from = rest.length > 0 ? yield* open(sys, rest[0], O_RDONLY) : 0;
  const buffer = new Uint8Array(1024);
  while (left > 0) {
    const count = yield* read(sys, from, buffer);
    if (count === 0) break;
    let end = 0;
    while (end < count && left > 0) if (buffer[end++] === 10 || bytes !== undefined) left--;
    yield* writeBytes(sys, 1, buffer.slice(0, end));
  }
  return 0;
}

function* link(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const [target = "", name = baseOf(target)] = rest;
  const path = options.has("n") && lstat(sys, name)?.kind === "link" ? name : within(sys, name, target);
  return yield* each(
    sys,
    [path],
    () => `ln: failed to create link '${path}'`,
    () => {
      if (options.has("f") && lstat(sys, path) !== undefined) sys.files.unlink(sys.self, path);
      if (options.has("s")) sys.files.makeLink(sys.self, target, path);
      else sys.files.link(sys.self, target, path);
    },
  );
}

function* list(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const showsAll = options.has("A") || options.has("a");
  const paths = rest.length > 0 ? rest : ["."];
  const folders = paths.filter((path) => !options.has("d") && isFolder(sys, path)).sort();
  const others = paths.filter((path) => !folders.includes(path)).sort();
  const shown = others.filter((path) => lstat(sys, path) !== undefined);
  let text = shown.map((path) => `${path}\n`).join("");
  for (const path of folders) {
    const names = sys.files.readFolder(sys.self, path).map(({ name }) => name);
    if (paths.length > 1) text += `${text === "" ? "" : "\n"}${path}:\n`;
    text += names
      .filter((name) => showsAll || name[0] !== ".")
      .sort()
      .map((name) => `${name}\n`)
      .join("");
  }
  if (text !== "") yield* write(sys, 1, text);
  if (shown.length === others.length) return 0;
  yield* complain(sys, "ls: cannot access a path: No such file or directory");
  return 2;
}

function* makeFolders(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words, "m");
  const mode = options.get("m");
  const { files, self } = sys;
  return yield* each(
    sys,
    rest,
    (path) => `mkdir: cannot create directory '${path}'`,
    (path) => {
      if (options.has("p")) {
        const parts = path.split("/");
        for (let i = 1; i < parts.length; i++) {
          const above = parts.slice(0, i).join("/");
          if (above !== "" && !isFolder(sys, above)) files.makeFolder(self, above, 0o777);
        }
        if (isFolder(sys, path)) return;
      }
      files.makeFolder(self, path, 0o777);
      if (mode !== undefined) files.chmod(self, path, Number.parseInt(mode, 8));
    },
  );
}

function* makePipes(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words, "m");
  const mode = options.get("m");
  return yield* each(
    sys,
    rest,
    (path) => `mkfifo: cannot create fifo '${path}'`,
    (path) => {
      sys.files.makePipe(sys.self, path, 0o666);
      if (mode !== undefined) sys.files.chmod(sys.self, path, Number.parseInt(mode, 8));
    },
  );
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

function* makeTemporary(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const [template = "/tmp/tmp.XXXXXXXXXX"] = rest;
  for (;;) {
    const path = template.replace(/X+$/, (some) => some.replace(/X/g, () => sys.random.pick([...LETTERS])));
    try {
      if (options.has("d")) sys.files.makeFolder(sys.self, path, 0o700);
      else sys.files.close(sys.self, yield* open(sys, path, O_WRONLY | O_CREAT, 0o600));
      yield STEP;
      return yield* print(sys, path);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

function* move(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const target = rest.at(-1) ?? "";
  return yield* each(
    sys,
    rest.slice(0, -1),
    (path) => `mv: cannot move '${path}' to '${target}'`,
    (path) => {
      const to = options.has("T") ? target : within(sys, target, path);
      if (options.has("n") && lstat(sys, to) !== undefined) return;
      sys.files.rename(sys.self, path, to);
    },
  );
}

function* remove(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const isDeep = options.has("r") || options.has("R");
  let failed = 0;
  for (const path of rest) {
    try {
      if (isDeep && lstat(sys, path)?.kind === "folder") yield* removeTree(sys, path);
      else sys.files.unlink(sys.self, path);
    } catch (error) {
      if (codeOf(error) === "ENOENT" && options.has("f")) continue;
      yield* complain(sys, `rm: cannot remove '${path}': ${reasonOf(error)}`);
      failed = 1;
    }
    yield STEP;
  }
  return failed;
}

function* removeTree(sys: Sys, folder: string): Generator<Wait, void> {
  for (const { name, kind } of sys.files.readFolder(sys.self, folder)) {
    const path = `${folder}/${name}`;
    if (kind === "folder") yield* removeTree(sys, path);
    else sys.files.unlink(sys.self, path);
    yield STEP;
  }
  sys.files.removeFolder(sys.self, folder);
}

/** setpriv --reuid=N --regid=N --init-groups|--clear-groups -- COMMAND */
function* setRights(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const uid = Number(options.get("reuid") ?? sys.self.uid);
  const gid = Number(options.get("regid") ?? sys.self.gid);
  const groups = options.has("init-groups") ? yield* groupsOf(sys, uid, gid) : [];
  sys.setIds(uid, gid, groups);
  yield STEP;
  return yield* become(sys, "setpriv", rest);
}

/** A user's groups, as /etc/passwd and /etc/group have them. */
function* groupsOf(sys: Sys, uid: number, gid: number): Generator<Wait, readonly number[]> {
  const rows = function* (path: string): Generator<Wait, string[][]> {
    try {
      return (yield* readFile(sys, path)).split("\n").map((line) => line.split(":"));
    } catch (error) {
      codeOf(error);
      return [];
    }
  };
  const users = yield* rows("/etc/passwd");
  const user = users.find(([, , id]) => Number(id) === uid)?.[0];
  const groups = yield* rows("/etc/group");
  const ids = groups
    .filter(([, , , members = ""]) => members.split(",").includes(user ?? ""))
    .map(([, , id]) => id);
  return [...new Set([gid, ...ids.map(Number)])];
}

function* newSession(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  if (sys.self.session !== sys.self.pid) {
    sys.newSession();
    yield STEP;
    return yield* become(sys, "setsid", rest);
  }
  const pid = sys.fork(function* (child) {
    child.newSession();
    yield STEP;
    return yield* become(child, "setsid", rest);
  });
  yield STEP;
  return options.has("w") || options.has("wait") ? yield* endOf(sys, pid) : 0;
}

function* endOf(sys: Sys, pid: number): Generator<Wait, number> {
  for (;;) {
    const end = sys.reap(pid)?.end;
    if (end !== undefined) return end.signal === undefined ? end.code : 128 + signalNumber(end.signal);
    yield { for: "child", pid };
  }
}

function* status(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words, "c");
  let failed = 0;
  for (const path of rest) {
    try {
      const stat = options.has("L") ? sys.files.stat(sys.self, path) : sys.files.lstat(sys.self, path);
      yield STEP;
      yield* print(
        sys,
        (options.get("c") ?? "%n").replace(/%([a-zA-Z])/g, (_, letter) => field(letter, path, stat)),
      );
    } catch (error) {
      yield* complain(sys, `stat: cannot statx '${path}': ${reasonOf(error)}`);
      failed = 1;
    }
  }
  return failed;
}

const KINDS = {
  file: "regular file",
  folder: "directory",
  link: "symbolic link",
  pipe: "fifo",
  socket: "socket",
  device: "character special file",
};

function field(letter: string, path: string, stat: Stat): string {
  switch (letter) {
    case "a":
      return (stat.mode & 0o7777).toString(8);
    case "d":
      return String(stat.dev);
    case "F":
      return stat.kind === "file" && stat.size === 0 ? "regular empty file" : KINDS[stat.kind];
    case "g":
      return String(stat.gid);
    case "h":
      return String(stat.nlink);
    case "i":
      return String(stat.ino);
    case "n":
      return path;
    case "s":
      return String(stat.size);
    case "u":
      return String(stat.uid);
    case "Y":
      return String(Math.floor(stat.mtimeMs / 1000));
    default:
      throw new Misuse(`unknown field %${letter}`);
  }
}

/** taskset -c LIST COMMAND, taskset -pc LIST PID */
function* setCpus(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words);
  const [cpus = "", ...others] = rest;
  if (options.has("p")) {
    sys.setCpus(Number(others[0]), cpusIn(cpus));
    yield STEP;
    return yield* print(sys, `pid ${others[0]}'s new affinity list: ${cpus}`);
  }
  sys.setCpus(sys.self.pid, cpusIn(cpus));
  yield STEP;
  return yield* become(sys, "taskset", others);
}

/** The CPUs of a list such as 0-3,8. */
function cpusIn(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    if (Number.isNaN(first) || Number.isNaN(last)) throw new Misuse(`failed to parse CPU list: ${text}`);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** timeout [-s SIGNAL] [-k SECONDS] SECONDS COMMAND */
function* limitTime(sys: Sys, words: readonly string[]): Generator<Wait, number> {
  const { options, rest } = split(words, "sk");
  const [limit = "", ...command] = rest;
  const signal = signalNamed(options.get("s") ?? "TERM") ?? "SIGTERM";
  const killAfter = options.get("k");
  const { clock } = sys.machine;
  let isDue = false;
  const alarm = (afterS: number) =>
    clock.at(clock.monotonicMs() + afterS * 1000, () => {
      isDue = true;
      if (sys.self.end === undefined) sys.kill(sys.self.pid, "SIGALRM");
    });
  sys.onSignal("SIGALRM", () => {});
  sys.onSignal("SIGCHLD", () => {});
  const pid = sys.fork((child) => become(child, "timeout", command));
  let cancel = alarm(secondsOf(limit));
  let isOver = false;
  for (;;) {
    const end = sys.reap(pid)?.end;
    if (end !== undefined) {
      cancel();
      if (end.signal === undefined) return isOver ? 124 : end.code;
      return isOver && end.signal !== "SIGKILL" ? 124 : 128 + signalNumber(end.signal);
    }
    yield { for: "signal" };
    if (!isDue) continue;
    isDue = false;
    sys.kill(pid, isOver ? "SIGKILL" : signal);
    sys.kill(pid, "SIGCONT");
    if (!isOver && killAfter !== undefined) cancel = alarm(secondsOf(killAfter));
    isOver = true;
  }
}
