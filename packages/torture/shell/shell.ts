/**
 * A shell: dash, or bash as far as our scripts need it. It runs as a program of the simulated machine, with a
 * process wherever dash has one: for subshells, for commands in words, for the sides of a pipeline, and for
 * commands that are files, unless such a command is the last thing that the shell does.
 *
 * Something may happen to a process only where it waits, so every system call that others can notice is
 * followed by a step.
 */
import type { Process, ProcessEnd, Sys, Wait } from "../world/contract.ts";
import { O_APPEND, O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, X_OK } from "../world/files/open-flags.ts";
import { type Context, expandFields, expandText, Fatal, Needed } from "./expand.ts";
import { pathsLike } from "./glob.ts";
import { codeOf, complain, open, readAll, readFile, reasonOf, STEP, write } from "./io.ts";
import { parse } from "./parse.ts";
import { matches } from "./pattern.ts";
import { signalNumber } from "./signals.ts";
import type { Assignment, Command, Part, Redirect, Script, Simple, Word } from "./syntax.ts";

interface Variable {
  readonly value: string | undefined;
  readonly isExported: boolean;
  readonly isReadonly: boolean;
}

/** Commands that the shell runs itself, by their names. */
export type Builtins = Readonly<Record<string, Builtin>>;

/** @param words without the name. @returns the status. @throws Fatal, SysError */
export type Builtin = (shell: Shell, words: readonly string[]) => Generator<Wait, number>;

/** Why the rest of a script is skipped. */
type Jump =
  | { readonly kind: "exit" | "return" }
  /** Loops that end. */
  | { readonly kind: "break" | "continue"; readonly count: number };

/** What a descriptor was before a redirection: a copy of it, or undefined if it was closed. */
interface Undo {
  readonly descriptor: number;
  readonly saved: number | undefined;
}

/** Builtins: their mistakes end the shell, and assignments in front of them stay. */
const SPECIAL: ReadonlySet<string> = new Set(
  "break : continue . eval exec exit export readonly return set shift times trap unset".split(" "),
);
/** Copies of descriptors have numbers that scripts do not use. */
const FIRST_SAVED = 10;
/** Small here-documents fit into a pipe; larger ones need a process that writes. */
const MAX_IN_PIPE_BYTES = 4096;
/** A loop without system calls still takes time: this many µs per turn, and waits after as many turns. */
const TURNS = 32;
const MAX_WORK_US = 10_000;
/** How people read the death of a command; left out: not at all. */
const DEATHS: Readonly<Record<string, string>> = {
  SIGABRT: "Aborted",
  SIGALRM: "Alarm clock",
  SIGHUP: "Hangup",
  SIGKILL: "Killed",
  SIGQUIT: "Quit",
  SIGSEGV: "Segmentation fault",
  SIGTERM: "Terminated",
  SIGUSR1: "User defined signal 1",
  SIGUSR2: "User defined signal 2",
  SIGXCPU: "CPU time limit exceeded",
};
/** Node raises the limit to the maximum, and its children inherit that. */
const MAX_OPEN_FILES = 1_048_576;
/** Limits that shells have set, which stay when another program takes over. */
const openFiles = new WeakMap<Process, number>();
const NAME = /^[A-Za-z_][A-Za-z_0-9]*$/;

export class Shell implements Context {
  readonly sys: Sys;
  readonly isBash: boolean;
  readonly #builtins: Builtins;
  /** Its $$, also in subshells. */
  readonly pid: number;
  name: string;
  args: string[] = [];
  variables = new Map<string, Variable>();
  functions = new Map<string, Command>();
  /** Commands of traps by signal; "EXIT" for the end. An empty command ignores the signal. */
  traps = new Map<string, string>();
  status = 0;
  /** Options that are on, by letter: e, f, u. */
  options = "";
  jump: Jump | undefined;
  /** How children ended that nobody has asked for; undefined: they run. */
  readonly ends = new Map<number, ProcessEnd | undefined>();
  cpuLimitUs: number | undefined;
  results: Map<Part, string> | undefined;
  /** Functions and sourced files in which `return` may be. */
  depth = 0;
  /** Loops in which `break` may be. */
  loops = 0;
  /** Name of the builtin that runs. */
  called = "";
  /** Of functions: variables that `local` has hidden. */
  hidden: Map<string, Variable | undefined> | undefined;
  #background = 0;
  /** Status of the last command in a word: that of a command without a name. */
  #substituted = 0;
  /** Signals that have come, with a trap that must run. */
  #pending: string[] = [];
  /** Above 0, a failure is a condition. */
  #tested = 0;
  #line = 0;
  readonly #saved: Set<number>;
  #turnUs = -1;
  #turns = 0;

  constructor(sys: Sys, name: string, isBash: boolean, builtins: Builtins, parent?: Shell) {
    this.sys = sys;
    this.name = name;
    this.isBash = isBash;
    this.#builtins = builtins;
    this.pid = parent?.pid ?? sys.self.pid;
    this.#saved = new Set(parent === undefined ? [] : parent.#saved);
    if (parent === undefined) {
      this.#inherit();
      return;
    }
    this.args = parent.args;
    this.variables = new Map(parent.variables);
    this.functions = new Map(parent.functions);
    this.status = parent.status;
    this.options = parent.options;
    this.depth = parent.depth;
    this.loops = parent.loops;
    this.openFiles = parent.openFiles;
    this.cpuLimitUs = parent.cpuLimitUs;
    this.#background = parent.#background;
    this.#tested = parent.#tested;
    this.#line = parent.#line;
    for (const [signal, command] of parent.traps) if (command === "") this.traps.set(signal, "");
  }

  // Variables -----------------------------------------------------------------------------------------------

  value(name: string): string | undefined {
    const variable = this.variables.get(name);
    if (variable !== undefined) return variable.value;
    const first = name.charCodeAt(0);
    if (first > 57 && first !== 63) return undefined;
    switch (name) {
      case "?":
        return String(this.status);
      case "#":
        return String(this.args.length);
      case "$":
        return String(this.pid);
      case "!":
        return this.#background === 0 ? undefined : String(this.#background);
      case "-":
        return this.options;
      case "0":
        return this.name;
      default:
        return this.args[Number(name) - 1];
    }
  }

  set(name: string, value: string): void {
    const old = this.variables.get(name);
    if (old?.isReadonly) throw new Fatal(`${name}: is read only`);
    this.variables.set(name, { value, isExported: old?.isExported ?? false, isReadonly: false });
  }

  /** @throws Fatal if it is read only */
  unset(name: string): void {
    if (this.variables.get(name)?.isReadonly) throw new Fatal(`${name}: is read only`);
    this.variables.delete(name);
  }

  mark(name: string, marks: Partial<Pick<Variable, "isExported" | "isReadonly">>): void {
    const old = this.variables.get(name) ?? { value: undefined, isExported: false, isReadonly: false };
    this.variables.set(name, { ...old, ...marks });
  }

  /** Soft limit on open files. */
  get openFiles(): number {
    const { machine, self } = this.sys;
    return openFiles.get(self) ?? openFiles.get(machine.processes.get(self.parent) ?? self) ?? MAX_OPEN_FILES;
  }

  set openFiles(limit: number) {
    openFiles.set(this.sys.self, limit);
  }

  get isStrict(): boolean {
    return this.options.includes("u");
  }

  paths(pattern: string): readonly string[] {
    return this.options.includes("f") ? [] : pathsLike(this.sys, pattern);
  }

  environment(): Record<string, string> {
    const environment: Record<string, string> = {};
    for (const [name, { value, isExported }] of this.variables) {
      if (isExported && value !== undefined) environment[name] = value;
    }
    return environment;
  }

  #inherit(): void {
    const { files, self } = this.sys;
    const own = { isExported: false, isReadonly: false };
    this.variables.set("IFS", { ...own, value: " \t\n" });
    for (const name of Object.keys(self.environment)) {
      const value = self.environment[name];
      // Bash passes on variables that it could not write.
      if (this.isBash || NAME.test(name))
        this.variables.set(name, { value, isExported: true, isReadonly: false });
    }
    this.variables.set("IFS", { ...own, value: " \t\n" });
    this.variables.set("PPID", { ...own, value: String(self.parent) });
    this.variables.set("OPTIND", { ...own, value: "1" });
    const known = self.environment.PWD;
    if (known === undefined || !this.#isHere(known)) {
      this.variables.set("PWD", { value: files.pathOf(self.cwd), isExported: true, isReadonly: false });
    }
  }

  #isHere(path: string): boolean {
    const { files, self } = this.sys;
    try {
      const { ino, dev } = files.find(self, path);
      return path[0] === "/" && ino === self.cwd.ino && dev === self.cwd.dev;
    } catch (error) {
      codeOf(error);
      return false;
    }
  }

  // Whole scripts -------------------------------------------------------------------------------------------

  /** Runs a text as the whole of what this process does. @returns its exit status */
  *main(text: string): Generator<Wait, number> {
    return yield* this.#whole(() => this.run(text, true));
  }

  /** Runs a text in this shell. @param isLast whether the shell ends with it */
  *run(text: string, isLast = false): Generator<Wait, void> {
    yield* this.#script(parse(text, this.isBash), isLast);
  }

  *#script({ lines, problem, endsWithCommand }: Script, isLast: boolean): Generator<Wait, void> {
    for (const [i, line] of lines.entries()) {
      yield* this.command(line, isLast && endsWithCommand && i === lines.length - 1);
      if (this.jump !== undefined) return;
    }
    if (lines.length === 0) this.status = 0;
    if (problem === undefined) return;
    this.#line = problem.line;
    throw new Fatal(problem.why);
  }

  /** Ends the process with what `body` does. */
  *#whole(body: () => Generator<Wait, void>): Generator<Wait, number> {
    try {
      yield* body();
    } catch (error) {
      yield* this.#fail(error);
    }
    const last = this.traps.get("EXIT");
    if (last) {
      this.traps.delete("EXIT");
      const { status } = this;
      this.jump = undefined;
      try {
        yield* this.run(last);
      } catch (error) {
        yield* this.#fail(error);
      }
      if (this.jump === undefined) this.status = status;
    }
    return this.status;
  }

  /** A mistake after which a shell ends. */
  *#fail(error: unknown): Generator<Wait, void> {
    const why = error instanceof Fatal ? error.message : reasonOf(error);
    yield* this.complain(why);
    this.status = this.isBash ? 1 : 2;
    this.jump = { kind: "exit" };
  }

  *complain(why: string): Generator<Wait, void> {
    yield* complain(this.sys, `${this.name}: ${this.#line}: ${why}`);
  }

  // Commands ------------------------------------------------------------------------------------------------

  /**
   * Runs a command and sets the status.
   * @param isLast whether the shell ends with it
   */
  *command(command: Command, isLast = false): Generator<Wait, void> {
    switch (command.kind) {
      case "simple":
        yield* this.#simple(command, isLast);
        break;
      case "list": {
        const { items } = command;
        this.status = items.length === 0 ? 0 : this.status;
        for (let i = 0; i < items.length; i++) {
          yield* this.command(items[i], isLast && i === items.length - 1);
          if (this.jump !== undefined) return;
        }
        return;
      }
      case "and":
      case "or":
        yield* this.#test(command.left);
        if (this.jump === undefined && (this.status === 0) === (command.kind === "and")) {
          yield* this.command(command.right, isLast);
        }
        return;
      case "if":
        yield* this.#test(command.test);
        if (this.jump !== undefined) return;
        if (this.status === 0) yield* this.command(command.then, isLast);
        else if (command.else !== undefined) yield* this.command(command.else, isLast);
        else this.status = 0;
        return;
      case "while":
      case "until":
        yield* this.#loop(command.test, command.body, command.kind === "while");
        return;
      case "for":
        yield* this.#for(command.name, command.words, command.body);
        return;
      case "case":
        yield* this.#case(command.word, command.arms, isLast);
        return;
      case "function":
        this.functions.set(command.name, command.body);
        this.status = 0;
        return;
      case "redirected":
        yield* this.#redirected(command.body, command.redirects);
        return;
      case "background":
        yield* this.#inBackground(command.body);
        return;
      case "subshell":
        yield* this.#subshell(command.body, isLast);
        break;
      case "pipeline":
        if (command.commands.length > 1) yield* this.#pipeline(command.commands);
        else yield* this.#test(command.commands[0]);
        if (this.jump !== undefined) return;
        if (command.isNegated) {
          this.status = this.status === 0 ? 1 : 0;
          return;
        }
    }
    if (this.#pending.length > 0) yield* this.runTraps();
    if (this.status !== 0 && this.#tested === 0 && this.jump === undefined && this.options.includes("e")) {
      this.jump = { kind: "exit" };
    }
  }

  *#test(command: Command): Generator<Wait, void> {
    this.#tested++;
    yield* this.command(command);
    this.#tested--;
  }

  *#loop(test: Command, body: Command, whether: boolean): Generator<Wait, void> {
    let status = 0;
    this.loops++;
    for (;;) {
      const workUs = this.#turn();
      if (workUs > 0) yield* this.#work(workUs);
      yield* this.#test(test);
      if (this.jump === undefined) {
        if ((this.status === 0) !== whether) break;
        yield* this.command(body);
        status = this.status;
      }
      if (this.jump !== undefined && !this.#continues()) {
        status = this.status;
        break;
      }
    }
    this.loops--;
    this.status = status;
  }

  *#for(name: string, words: readonly Word[] | undefined, body: Command): Generator<Wait, void> {
    const values: string[] = words === undefined ? [...this.args] : [];
    for (const word of words ?? []) yield* this.#fields(word, values);
    this.status = 0;
    this.loops++;
    for (const value of values) {
      this.set(name, value);
      yield* this.command(body);
      if (this.jump !== undefined && !this.#continues()) break;
    }
    this.loops--;
  }

  /** Whether a loop goes on after a jump in it. */
  #continues(): boolean {
    const { jump } = this;
    if (jump?.kind !== "break" && jump?.kind !== "continue") return false;
    this.jump = jump.count > 1 ? { kind: jump.kind, count: jump.count - 1 } : undefined;
    return jump.kind === "continue" && jump.count === 1;
  }

  /** Counts turns in which no time has passed. @returns µs that the turns have taken, from time to time */
  #turn(): number {
    const { nowUs } = this.sys.machine.timeline;
    if (nowUs !== this.#turnUs) {
      this.#turnUs = nowUs;
      this.#turns = 0;
      return 0;
    }
    return ++this.#turns % TURNS === 0 ? Math.min(MAX_WORK_US, this.#turns) : 0;
  }

  *#work(us: number): Generator<Wait, void> {
    yield { for: "work", us };
    this.#turnUs = this.sys.machine.timeline.nowUs;
    if (this.#pending.length > 0) yield* this.runTraps();
    if (this.cpuLimitUs !== undefined && this.sys.self.cpuUs > this.cpuLimitUs) {
      this.sys.kill(this.sys.self.pid, "SIGXCPU");
      yield STEP;
    }
  }

  *#case(
    word: Word,
    arms: readonly { readonly patterns: readonly Word[]; readonly body: Command }[],
    isLast: boolean,
  ): Generator<Wait, void> {
    const value = word.hasCommand
      ? yield* this.#withCommands(() => expandText(word, this))
      : expandText(word, this);
    for (const { patterns, body } of arms) {
      for (const pattern of patterns) {
        const text = pattern.hasCommand
          ? yield* this.#withCommands(() => expandText(pattern, this, true))
          : expandText(pattern, this, true);
        if (!matches(text, value)) continue;
        yield* this.command(body, isLast);
        return;
      }
    }
    this.status = 0;
  }

  *#redirected(body: Command, redirects: readonly Redirect[]): Generator<Wait, void> {
    const undo = yield* this.#redirectOrComplain(redirects);
    if (undo === undefined) return;
    yield* this.command(body);
    this.#restore(undo);
  }

  *#inBackground(body: Command): Generator<Wait, void> {
    const pid = this.#fork(function* (child) {
      child.sys.onSignal("SIGINT", "ignore");
      child.sys.onSignal("SIGQUIT", "ignore");
      const descriptor = child.sys.files.open(child.sys.self, "/dev/null", O_RDONLY);
      child.#place(descriptor, 0);
      yield* child.command(body, true);
    });
    this.#background = pid;
    this.ends.set(pid, undefined);
    yield STEP;
    this.status = 0;
  }

  *#subshell(body: Command, isLast: boolean): Generator<Wait, void> {
    if (isLast && this.traps.size === 0) {
      yield* this.command(body, true);
      return;
    }
    const pid = this.#fork((child) => child.command(body, true));
    yield STEP;
    this.status = yield* this.waitFor(pid);
  }

  *#pipeline(commands: readonly Command[]): Generator<Wait, void> {
    const { files, self } = this.sys;
    const pids: number[] = [];
    let input: number | undefined;
    for (const [i, command] of commands.entries()) {
      const from = input;
      const [next, output] = i < commands.length - 1 ? files.pipe(self) : [undefined, undefined];
      const pid = this.#fork(function* (child) {
        if (next !== undefined) child.sys.files.close(child.sys.self, next);
        if (from !== undefined) child.#place(from, 0);
        if (output !== undefined) child.#place(output, 1);
        yield* child.command(command, true);
      });
      pids.push(pid);
      this.ends.set(pid, undefined);
      yield STEP;
      if (from !== undefined) files.close(self, from);
      if (output !== undefined) files.close(self, output);
      input = next;
    }
    for (const pid of pids) this.status = yield* this.waitFor(pid);
  }

  // Simple commands -----------------------------------------------------------------------------------------

  *#simple(command: Simple, isLast: boolean): Generator<Wait, void> {
    const { assignments, redirects } = command;
    this.#line = command.line;
    const words: string[] = [];
    this.#substituted = 0;
    for (const word of command.words) {
      if (word.plain !== undefined) words.push(word.plain);
      else yield* this.#fields(word, words);
    }
    const name = words[0];
    if (name === undefined) {
      yield* this.#assignAll(assignments);
      this.status = this.#substituted;
      if (redirects.length === 0) return;
      const undo = yield* this.#redirectOrComplain(redirects);
      if (undo !== undefined) this.#restore(undo);
      return;
    }
    if (name === "exec" || (name === "command" && words.length === 2 && words[1] === "exec")) {
      yield* this.#exec(words.slice(words.indexOf("exec")), assignments, redirects, name === "command");
      return;
    }
    const body = SPECIAL.has(name) ? undefined : this.functions.get(name);
    const isExternal = body === undefined && this.#builtins[name] === undefined;
    if (isExternal && isLast && this.traps.size === 0) {
      yield* this.#become(words, assignments, redirects);
      return;
    }
    const undo = yield* this.#redirectOrComplain(redirects, SPECIAL.has(name));
    if (undo === undefined) return;
    if (isExternal) yield* this.#external(words, assignments);
    else if (body !== undefined) yield* this.#call(body, words, assignments);
    else yield* this.#builtin(words, assignments);
    this.#restore(undo);
  }

  *#builtin(words: readonly string[], assignments: readonly Assignment[]): Generator<Wait, void> {
    const [name, ...rest] = words;
    const isSpecial = SPECIAL.has(name);
    const hidden = isSpecial ? undefined : this.#hide(assignments);
    yield* this.#assignAll(assignments);
    this.called = name;
    try {
      this.status = yield* this.#builtins[name](this, rest);
    } catch (error) {
      if (error instanceof Fatal) {
        if (isSpecial && !this.isBash) throw error;
        yield* this.complain(`${name}: ${error.message}`);
        this.status = this.isBash ? 1 : 2;
      } else {
        const reason = reasonOf(error);
        yield* this.complain(`${name}: ${this.isBash ? `write error: ${reason}` : `${name}: I/O error`}`);
        this.status = 1;
      }
    }
    if (hidden !== undefined) this.#show(hidden);
  }

  *#call(body: Command, words: readonly string[], assignments: readonly Assignment[]): Generator<Wait, void> {
    const { args, hidden: outer } = this;
    const hidden = this.#hide(assignments);
    yield* this.#assignAll(assignments, true);
    this.args = words.slice(1);
    this.hidden = hidden;
    const { loops } = this;
    this.loops = 0;
    this.depth++;
    yield* this.command(body);
    this.depth--;
    this.loops = loops;
    this.args = args;
    this.hidden = outer;
    this.#show(hidden);
    if (this.jump?.kind === "return") this.jump = undefined;
  }

  #hide(assignments: readonly Assignment[]): Map<string, Variable | undefined> {
    return new Map(assignments.map(({ name }) => [name, this.variables.get(name)]));
  }

  #show(hidden: ReadonlyMap<string, Variable | undefined>): void {
    for (const [name, variable] of hidden) {
      if (variable === undefined) this.variables.delete(name);
      else this.variables.set(name, variable);
    }
  }

  *#external(words: readonly string[], assignments: readonly Assignment[]): Generator<Wait, void> {
    yield STEP;
    const pid = this.#fork((child) => child.#become(words, assignments, []));
    yield STEP;
    this.status = yield* this.waitFor(pid);
    yield STEP;
  }

  /** The process becomes the command; if that fails, the shell ends. */
  *#become(
    words: readonly string[],
    assignments: readonly Assignment[],
    redirects: readonly Redirect[],
  ): Generator<Wait, void> {
    this.jump = { kind: "exit" };
    try {
      yield* this.#redirect(redirects, undefined);
    } catch (error) {
      yield* this.#complainOfRedirect(error);
      return;
    }
    yield* this.#assignAll(assignments, true);
    const { files, self } = this.sys;
    for (const descriptor of this.#saved) files.close(self, descriptor);
    this.#saved.clear();
    yield STEP;
    try {
      this.status = yield* this.sys.exec(words, this.environment());
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOEXEC") {
        yield* this.#interpret(words);
        return;
      }
      const isMissing = code === "ENOENT" || code === "ENOTDIR" || words[0] === "";
      yield* this.complain(`${words[0]}: ${isMissing ? "not found" : reasonOf(error)}`);
      this.status = isMissing ? 127 : 126;
    }
  }

  /** Runs a file that is no program. */
  *#interpret(words: readonly string[]): Generator<Wait, void> {
    const [name, ...rest] = words;
    const path = this.find(name) ?? name;
    const text = yield* readFile(this.sys, path);
    const [, interpreter] = /^#!\s*(\S.*)\n/.exec(text) ?? [];
    if (interpreter !== undefined) {
      yield* this.#become([...interpreter.trim().split(/\s+/), path, ...rest], [], []);
      return;
    }
    const shell = new Shell(this.sys, path, this.isBash, this.#builtins);
    shell.args = rest;
    this.status = yield* shell.main(text);
  }

  *#exec(
    words: readonly string[],
    assignments: readonly Assignment[],
    redirects: readonly Redirect[],
    goesOn = false,
  ): Generator<Wait, void> {
    const command = words[1] === "--" ? words.slice(2) : words.slice(1);
    if (command.length > 0) {
      yield* this.#become(command, assignments, redirects);
      return;
    }
    yield* this.#assignAll(assignments);
    try {
      yield* this.#redirect(redirects, undefined);
      this.status = 0;
    } catch (error) {
      yield* this.#complainOfRedirect(error);
      if (!this.isBash && !goesOn) this.jump = { kind: "exit" };
    }
  }

  *#assignAll(assignments: readonly Assignment[], isExported = false): Generator<Wait, void> {
    for (const { name, word } of assignments) {
      this.set(
        name,
        word.hasCommand ? yield* this.#withCommands(() => expandText(word, this)) : expandText(word, this),
      );
      if (isExported) this.mark(name, { isExported });
    }
  }

  /** Runs a command that is no function: what `command` does. */
  *runPlain(words: readonly string[]): Generator<Wait, void> {
    if (words[0] === "exec") yield* this.#exec(words, [], []);
    else if (this.#builtins[words[0]] === undefined) yield* this.#external(words, []);
    else {
      try {
        yield* this.#builtin(words, []);
      } catch (error) {
        // Without the name in front, such a mistake would end the shell.
        if (!(error instanceof Fatal)) throw error;
        yield* this.complain(error.message);
        this.status = 2;
      }
    }
  }

  get hasSignal(): boolean {
    return this.#pending.length > 0;
  }

  /** Path of a file in the PATH; undefined: it is nowhere. */
  find(name: string, isProgram = true): string | undefined {
    const { files, self } = this.sys;
    const folders = name.includes("/") ? [""] : (this.value("PATH") ?? "").split(":");
    for (const folder of folders) {
      const path = name.includes("/") ? name : `${folder || "."}/${name}`;
      try {
        if (files.stat(self, path).kind !== "file") continue;
        if (isProgram) files.access(self, path, X_OK);
        return path;
      } catch (error) {
        codeOf(error);
      }
    }
    return undefined;
  }

  // Words ---------------------------------------------------------------------------------------------------

  *#fields(word: Word, into: string[]): Generator<Wait, void> {
    if (!word.hasCommand) {
      expandFields(word, this, into);
      return;
    }
    const fields = yield* this.#withCommands(() => {
      const found: string[] = [];
      expandFields(word, this, found);
      return found;
    });
    into.push(...fields);
  }

  /** Repeats an expansion until all commands in it have run. */
  *#withCommands<Result>(expand: () => Result): Generator<Wait, Result> {
    const results = new Map<Part, string>();
    for (;;) {
      let needed: Needed;
      this.results = results;
      try {
        return expand();
      } catch (error) {
        if (!(error instanceof Needed)) throw error;
        needed = error;
      } finally {
        this.results = undefined;
      }
      results.set(needed.part, yield* this.#output(needed.part.body));
    }
  }

  *#output(script: Script): Generator<Wait, string> {
    const { files, self } = this.sys;
    if (script.lines.length === 0 && script.problem === undefined) return "";
    const [from, to] = files.pipe(self);
    const pid = this.#fork(function* (child) {
      child.sys.files.close(child.sys.self, from);
      child.#place(to, 1);
      yield* child.#script(script, true);
    });
    yield STEP;
    files.close(self, to);
    const text = yield* readAll(this.sys, from);
    files.close(self, from);
    this.#substituted = yield* this.waitFor(pid);
    let end = text.length;
    while (text[end - 1] === "\n") end--;
    return text.slice(0, end);
  }

  // Redirections --------------------------------------------------------------------------------------------

  /** @returns undefined if it failed; then the shell may have to end */
  *#redirectOrComplain(redirects: readonly Redirect[], isFatal = false): Generator<Wait, Undo[] | undefined> {
    const undo: Undo[] = [];
    if (redirects.length === 0) return undo;
    try {
      yield* this.#redirect(redirects, undo);
      return undo;
    } catch (error) {
      this.#restore(undo);
      yield* this.#complainOfRedirect(error);
      if (isFatal && !this.isBash) this.jump = { kind: "exit" };
      return undefined;
    }
  }

  *#complainOfRedirect(error: unknown): Generator<Wait, void> {
    if (!(error instanceof Unusable)) throw error;
    yield* this.complain(error.message);
    this.status = this.isBash ? 1 : 2;
  }

  /** @param undo undefined: they stay */
  *#redirect(redirects: readonly Redirect[], undo: Undo[] | undefined): Generator<Wait, void> {
    const { files, self } = this.sys;
    for (const { operator, descriptor, word } of redirects) {
      const target = word.hasCommand
        ? yield* this.#withCommands(() => expandText(word, this))
        : expandText(word, this);
      if (undo !== undefined) {
        undo.push({ descriptor, saved: self.files.has(descriptor) ? this.#save(descriptor) : undefined });
      }
      switch (operator) {
        case "<&":
        case ">&":
          if (target === "-") {
            if (self.files.has(descriptor)) files.close(self, descriptor);
          } else if (self.files.has(number(target))) files.duplicate(self, number(target), descriptor);
          else throw new Unusable(`${target}: Bad file descriptor`);
          continue;
        case "<<":
          this.#place(this.#document(target), descriptor);
          break;
        case "&>":
          if (undo !== undefined)
            undo.push({ descriptor: 2, saved: self.files.has(2) ? this.#save(2) : undefined });
          this.#place(yield* this.#open(target, ">"), 1);
          files.duplicate(self, 1, 2);
          break;
        default:
          this.#place(yield* this.#open(target, operator), descriptor);
      }
      yield STEP;
    }
  }

  *#open(path: string, operator: keyof typeof OPEN_FLAGS): Generator<Wait, number> {
    try {
      return yield* open(this.sys, path, OPEN_FLAGS[operator]);
    } catch (error) {
      const isNew = (OPEN_FLAGS[operator] & O_CREAT) !== 0;
      const isMissing = codeOf(error) === "ENOENT";
      if (this.isBash) throw new Unusable(`${path}: ${reasonOf(error)}`);
      const why = !isMissing ? reasonOf(error) : isNew ? "Directory nonexistent" : "No such file";
      throw new Unusable(`cannot ${isNew ? "create" : "open"} ${path}: ${why}`);
    }
  }

  /** @returns a descriptor from which the text can be read */
  #document(text: string): number {
    const { files, self } = this.sys;
    const [from, to] = files.pipe(self);
    const bytes = new TextEncoder().encode(text);
    if (bytes.length <= MAX_IN_PIPE_BYTES) {
      if (bytes.length > 0) files.write(self, to, bytes);
    } else {
      this.#fork(function* (child) {
        child.sys.files.close(child.sys.self, from);
        yield* write(child.sys, to, text);
      });
    }
    files.close(self, to);
    return from;
  }

  #save(descriptor: number): number {
    const { files, self } = this.sys;
    let copy = FIRST_SAVED;
    while (self.files.has(copy)) copy++;
    files.duplicate(self, descriptor, copy);
    this.#saved.add(copy);
    return copy;
  }

  /** Gives an open file that number. */
  #place(opened: number, descriptor: number): void {
    if (opened === descriptor) return;
    const { files, self } = this.sys;
    files.duplicate(self, opened, descriptor);
    files.close(self, opened);
  }

  #restore(undo: readonly Undo[]): void {
    const { files, self } = this.sys;
    for (const { descriptor, saved } of undo.toReversed()) {
      if (saved === undefined) {
        if (self.files.has(descriptor)) files.close(self, descriptor);
      } else {
        this.#place(saved, descriptor);
        this.#saved.delete(saved);
      }
    }
  }

  // Processes -----------------------------------------------------------------------------------------------

  /** Starts a shell with a copy of everything. */
  #fork(body: (child: Shell) => Generator<Wait, void>): number {
    // What the parent does before the child begins is not for the child.
    const copy = new Shell(this.sys, this.name, this.isBash, this.#builtins, this);
    try {
      return this.sys.fork((sys) => {
        const child = new Shell(sys, this.name, this.isBash, this.#builtins, copy);
        return child.#whole(() => body(child));
      });
    } catch (error) {
      throw new Fatal(`Cannot fork: ${reasonOf(error)}`);
    }
  }

  /** Waits for a child. @returns its exit status; 128 + n: it died by signal n */
  *waitFor(pid: number): Generator<Wait, number> {
    for (;;) {
      const end = this.#endOf(pid);
      if (end !== undefined) return yield* this.#statusOf(end);
      yield { for: "child" };
    }
  }

  *#statusOf(end: ProcessEnd): Generator<Wait, number> {
    if (end.signal === undefined) return end.code;
    const death = DEATHS[end.signal];
    if (death !== undefined) yield* complain(this.sys, death);
    return 128 + signalNumber(end.signal);
  }

  /** How a child has ended; it is forgotten then. Notes how others have ended. */
  #endOf(pid: number): ProcessEnd | undefined {
    const known = this.ends.get(pid);
    if (known !== undefined) {
      this.ends.delete(pid);
      return known;
    }
    for (;;) {
      const ended = this.sys.reap();
      if (ended === undefined) return undefined;
      if (ended.pid === pid) {
        this.ends.delete(pid);
        return ended.end;
      }
      if (this.ends.has(ended.pid)) this.ends.set(ended.pid, ended.end);
    }
  }

  /**
   * Waits for children in the background. A signal with a trap ends the wait.
   * @returns the status of the last one
   */
  *waitForAll(pids: readonly number[]): Generator<Wait, number> {
    let status = 0;
    // Without a trap, only the end of a child can be waited for.
    const mayBeSignal = [...this.traps.values()].some((command) => command !== "");
    if (mayBeSignal && !this.traps.has("SIGCHLD")) this.sys.onSignal("SIGCHLD", () => {});
    for (const pid of pids) {
      if (!this.ends.has(pid)) {
        status = 127;
        continue;
      }
      for (;;) {
        const end = this.#endOf(pid);
        if (end !== undefined) {
          status = yield* this.#statusOf(end);
          break;
        }
        yield mayBeSignal ? { for: "signal" } : { for: "child" };
        const [signal] = this.#pending;
        if (signal !== undefined) return 128 + signalNumber(signal);
      }
    }
    return status;
  }

  /** @param command undefined: the default action */
  trap(signal: string, command: string | undefined): void {
    if (command === undefined) this.traps.delete(signal);
    else this.traps.set(signal, command);
    if (signal === "EXIT") return;
    if (command === undefined) this.sys.onSignal(signal, "default");
    else this.sys.onSignal(signal, command === "" ? "ignore" : () => this.#pending.push(signal));
  }

  *runTraps(): Generator<Wait, void> {
    for (;;) {
      const signal = this.#pending.shift();
      if (signal === undefined) return;
      const { status } = this;
      yield* this.run(this.traps.get(signal) ?? "");
      if (this.jump !== undefined) return;
      this.status = status;
    }
  }
}

/** A redirection that fails. */
class Unusable extends Error {}

const OPEN_FLAGS = {
  "<": O_RDONLY,
  ">": O_WRONLY | O_CREAT | O_TRUNC,
  ">|": O_WRONLY | O_CREAT | O_TRUNC,
  ">>": O_WRONLY | O_CREAT | O_APPEND,
  "<>": O_RDWR | O_CREAT,
};

function number(word: string): number {
  if (!/^[0-9]+$/.test(word)) throw new Fatal("Syntax error: Bad fd number");
  return Number(word);
}
