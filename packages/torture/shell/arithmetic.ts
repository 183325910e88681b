/** Sums of the shell: integers of C without ++ and --. */

/** What a variable is, and how it is set. */
export interface Variables {
  value(name: string): string | undefined;
  /** @throws Error if it must not be changed */
  set(name: string, value: string): void;
}

const TOKEN =
  /\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+)|([A-Za-z_][A-Za-z_0-9]*)|(<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%<>&|^~!?:=()]))\s*/y;
/** Binary operators by how tightly they bind. */
const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["|"],
  ["^"],
  ["&"],
  ["==", "!="],
  ["<", "<=", ">", ">="],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "%"],
];

/** @throws Error with the reason why it is not a sum */
export function calculate(text: string, variables: Variables): number {
  const simple = Number(text);
  if (Number.isSafeInteger(simple) && /^[1-9][0-9]*$/.test(text)) return simple;
  return new Sum(text, variables).result();
}

class Sum {
  readonly #text: string;
  readonly #variables: Variables;
  readonly #tokens: string[] = [];
  #at = 0;
  /** Above 0, what is read is not done: the other side of && || ?: */
  #skipping = 0;

  constructor(text: string, variables: Variables) {
    this.#text = text;
    this.#variables = variables;
    TOKEN.lastIndex = 0;
    if (text.trim() === "") this.#tokens.push("0");
    else {
      for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
        TOKEN.lastIndex = at;
        const found = TOKEN.exec(text);
        if (found === null) throw this.#wrong();
        this.#tokens.push(found[1] ?? found[2] ?? found[3]);
      }
    }
  }

  result(): number {
    const value = this.#assignment();
    if (this.#at < this.#tokens.length) throw this.#wrong();
    return value;
  }

  #wrong(): Error {
    return new Error(`arithmetic expression: expecting primary: "${this.#text}"`);
  }

  #takes(...tokens: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (!tokens.includes(token)) return undefined;
    this.#at++;
    return token;
  }

  #assignment(): number {
    const name = this.#tokens[this.#at];
    const sign = this.#tokens[this.#at + 1];
    const isAssigned =
      name !== undefined && /^[A-Za-z_]/.test(name) && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(sign ?? "");
    if (!isAssigned) return this.#choice();
    this.#at += 2;
    const right = this.#assignment();
    if (this.#skipping > 0) return right;
    const value = sign === "=" ? right : this.#apply(sign.slice(0, -1), this.#valueOf(name), right);
    this.#variables.set(name, String(value));
    return value;
  }

  #choice(): number {
    const test = this.#binary(0);
    if (!this.#takes("?")) return test;
    const yes = this.#unless(test === 0, () => this.#assignment());
    if (!this.#takes(":")) throw this.#wrong();
    const no = this.#unless(test !== 0, () => this.#choice());
    return test === 0 ? no : yes;
  }

  #unless(isSkipped: boolean, read: () => number): number {
    if (isSkipped) this.#skipping++;
    const value = read();
    if (isSkipped) this.#skipping--;
    return value;
  }

  #binary(level: number): number {
    if (level === LEVELS.length) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const operator = this.#takes(...LEVELS[level]);
      if (operator === undefined) return left;
      if (operator === "||" || operator === "&&") {
        const right = this.#unless((left !== 0) === (operator === "||"), () => this.#binary(level + 1));
        left = Number(operator === "||" ? left !== 0 || right !== 0 : left !== 0 && right !== 0);
      } else left = this.#apply(operator, left, this.#binary(level + 1));
    }
  }

  #unary(): number {
    const operator = this.#takes("-", "+", "!", "~");
    if (operator !== undefined) {
      const value = this.#unary();
      if (operator === "+") return value;
      return operator === "-" ? 0 - value : operator === "!" ? Number(value === 0) : -value - 1;
    }
    if (this.#takes("(")) {
      const value = this.#assignment();
      if (!this.#takes(")")) throw this.#wrong();
      return value;
    }
    const token = this.#tokens[this.#at++];
    if (token === undefined || !/^[A-Za-z_0-9]/.test(token)) throw this.#wrong();
    return /^[0-9]/.test(token) ? integer(token) : this.#valueOf(token);
  }

  #valueOf(name: string): number {
    const value = this.#variables.value(name)?.trim() ?? "";
    if (value === "") return 0;
    const sign = value[0] === "-" ? -1 : 1;
    const digits = value.replace(/^[-+]/, "");
    if (!/^(?:0[xX][0-9a-fA-F]+|[0-9]+)$/.test(digits)) throw new Error(`Illegal number: ${value}`);
    return sign * integer(digits);
  }

  #apply(operator: string, left: number, right: number): number {
    switch (operator) {
      case "+":
        return left + right;
      case "-":
        return left - right;
      case "*":
        return left * right;
      case "/":
      case "%":
        if (right === 0) {
          if (this.#skipping > 0) return 0;
          throw new Error("arithmetic expression: division by zero");
        }
        // Adding 0 makes a zero without a sign.
        return (operator === "/" ? Math.trunc(left / right) : left % right) + 0;
      case "<":
        return Number(left < right);
      case "<=":
        return Number(left <= right);
      case ">":
        return Number(left > right);
      case ">=":
        return Number(left >= right);
      case "==":
        return Number(left === right);
      case "!=":
        return Number(left !== right);
      default:
        return bitwise(operator, BigInt(left), BigInt(right));
    }
  }
}

function integer(digits: string): number {
  return /^0[0-9]/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
}

function bitwise(operator: string, left: bigint, right: bigint): number {
  const shift = right & 63n;
  const value =
    operator === "&"
      ? left & right
      : operator === "|"
        ? left | right
        : operator === "^"
          ? left ^ right
          : operator === "<<"
            ? left << shift
            : left >> shift;
  return Number(BigInt.asIntN(64, value));
}
