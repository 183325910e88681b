/** The command test, also called [. */
import type { Stat, Sys } from "../world/contract.ts";
import { codeOf } from "./io.ts";

const R_OK = 4;
const W_OK = 2;
const X_OK = 1;

/** @returns 0 if it is so, 1 if not. @throws Error if it is no test */
export function test(sys: Sys, words: readonly string[]): number {
  const expression = new Test(sys, words);
  return expression.result() ? 0 : 1;
}

class Test {
  readonly #sys: Sys;
  readonly #words: readonly string[];
  #at = 0;

  constructor(sys: Sys, words: readonly string[]) {
    this.#sys = sys;
    this.#words = words;
  }

  result(): boolean {
    if (this.#words.length === 0) return false;
    const value = this.#or();
    if (this.#at < this.#words.length) throw new Error(`${this.#words[this.#at]}: unexpected operator`);
    return value;
  }

  #or(): boolean {
    let value = this.#and();
    while (this.#left > 1 && this.#words[this.#at] === "-o") {
      this.#at++;
      value = this.#and() || value;
    }
    return value;
  }

  #and(): boolean {
    let value = this.#not();
    while (this.#left > 1 && this.#words[this.#at] === "-a") {
      this.#at++;
      value = this.#not() && value;
    }
    return value;
  }

  get #left(): number {
    return this.#words.length - this.#at;
  }

  #not(): boolean {
    const [first, second] = this.#words.slice(this.#at);
    const isBinary = this.#left >= 3 && BINARY.has(second);
    if (first === "!" && this.#left > 1 && !isBinary) {
      this.#at++;
      return !this.#not();
    }
    if (first === "(" && this.#left > 2 && !isBinary) {
      this.#at++;
      const value = this.#or();
      if (this.#words[this.#at++] !== ")") throw new Error("closing paren expected");
      return value;
    }
    return this.#primary();
  }

  #primary(): boolean {
    const [left, operator, right] = this.#words.slice(this.#at, this.#at + 3);
    if (left === undefined) throw new Error("argument expected");
    if (this.#left >= 3 && BINARY.has(operator)) {
      this.#at += 3;
      return this.#compare(left, operator, right);
    }
    if (this.#left >= 2 && UNARY.test(left)) {
      this.#at += 2;
      return this.#unary(left, operator);
    }
    this.#at++;
    return left !== "";
  }

  #compare(left: string, operator: string, right: string): boolean {
    switch (operator) {
      case "=":
      case "==":
        return left === right;
      case "!=":
        return left !== right;
      case "<":
        return left < right;
      case ">":
        return left > right;
      case "-nt":
      case "-ot": {
        const [one, other] = [this.#stat(left), this.#stat(right)];
        if (one === undefined || other === undefined) return false;
        return operator === "-nt" ? one.mtimeMs > other.mtimeMs : one.mtimeMs < other.mtimeMs;
      }
      case "-ef": {
        const [one, other] = [this.#stat(left), this.#stat(right)];
        return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
      }
      default: {
        const [one, other] = [number(left), number(right)];
        if (operator === "-eq") return one === other;
        if (operator === "-ne") return one !== other;
        if (operator === "-gt") return one > other;
        if (operator === "-lt") return one < other;
        return operator === "-ge" ? one >= other : one <= other;
      }
    }
  }

  #unary(operator: string, operand: string): boolean {
    switch (operator) {
      case "-n":
        return operand !== "";
      case "-z":
        return operand === "";
      case "-t":
        return false;
      case "-r":
        return this.#may(operand, R_OK);
      case "-w":
        return this.#may(operand, W_OK);
      case "-x":
        return this.#may(operand, X_OK);
      case "-L":
      case "-h":
        return this.#stat(operand, true)?.kind === "link";
    }
    const stat = this.#stat(operand);
    if (stat === undefined) return false;
    switch (operator) {
      case "-e":
        return true;
      case "-f":
        return stat.kind === "file";
      case "-d":
        return stat.kind === "folder";
      case "-p":
        return stat.kind === "pipe";
      case "-c":
        return stat.kind === "device";
      case "-S":
        return stat.kind === "socket";
      case "-s":
        return stat.size > 0;
      case "-O":
        return stat.uid === this.#sys.self.uid;
      default:
        return stat.gid === this.#sys.self.gid;
    }
  }

  #stat(path: string, isLink = false): Stat | undefined {
    const { files, self } = this.#sys;
    try {
      return isLink ? files.lstat(self, path) : files.stat(self, path);
    } catch (error) {
      codeOf(error);
      return undefined;
    }
  }

  #may(path: string, mode: number): boolean {
    try {
      this.#sys.files.access(this.#sys.self, path, mode);
      return true;
    } catch (error) {
      codeOf(error);
      return false;
    }
  }
}

const BINARY = new Set("= == != < > -eq -ne -gt -lt -ge -le -nt -ot -ef".split(" "));
const UNARY = /^-[nztrwxLhefdpcsSOG]$/;

function number(word: string): number {
  if (!/^\s*[-+]?[0-9]+\s*$/.test(word)) throw new Error(`Illegal number: ${word}`);
  return Number(word);
}
