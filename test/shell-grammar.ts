/** Random small scripts that dash and the simulated shell must understand in the same way. */
import type { Random } from "../packages/torture/world/contract.ts";

const NAMES = ["a", "b", "c"];
const TEXTS = ["x", "y z", "", " p  q ", "a:b", "*", "[xy]", "n1", "back\\slash", "it's", "-n", "7", "12"];
const PATTERNS = ["*", "?", "x*", "*y", "[a-m]*", "'*'", "7", "*:*", "\\*", "[!x]*", '"y z"', "''", "??"];
const TRIMS = ["#", "##", "%", "%%"];
const SUBSTITUTES = ["-", ":-", "+", ":+", "=", ":="];
const OPERATORS = ["+", "-", "*", "/", "%", "<", ">", "==", "!=", "<=", ">=", "&&", "||", "&", "|", "^"];

/** A script of some lines. */
export function randomScript(random: Random): string {
  const lines = Array.from({ length: random.between(2, 5) }, () => new Writer(random).line());
  return `${lines.join("\n")}\necho "$? $# $a|$b|$c"\n`;
}

class Writer {
  readonly #random: Random;
  #depth = 0;
  #loops = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  line(): string {
    return this.#command();
  }

  #pick(...items: readonly string[]): string {
    return this.#random.pick(items);
  }

  #quote(text: string): string {
    return `'${text.replaceAll("'", "'\\''")}'`;
  }

  #name(): string {
    return this.#random.pick(NAMES);
  }

  /** A word as written: quoted, expanded, or both. */
  #word(): string {
    return Array.from({ length: this.#random.between(1, 2) }, () => this.#piece()).join("");
  }

  #piece(): string {
    switch (this.#random.below(this.#depth > 1 ? 8 : 11)) {
      case 0:
        return this.#pick("w", "v1", "o-o", "n*", "\\$", "\\ ", "a\\bc");
      case 1:
        return this.#quote(this.#random.pick(TEXTS));
      case 2:
        return `$${this.#name()}`;
      case 3:
        return `"$${this.#name()}"`;
      case 4:
        return `"${this.#pick("s ", "")}\${${this.#parameter()}}${this.#pick(" e", "")}"`;
      case 5:
        return `\${${this.#parameter()}}`;
      case 6:
        return this.#pick("$#", "$1", "$?", '"$@"', "$*", '"$*"', "$@", "$2");
      case 7:
        return `$((${this.#sum()}))`;
      case 8:
        return `"$( ${this.#inner()})"`;
      case 9:
        return `$( ${this.#inner()})`;
      default:
        return `"p$( ${this.#inner()})$${this.#name()}"`;
    }
  }

  #parameter(): string {
    const name = this.#name();
    switch (this.#random.below(4)) {
      case 0:
        return name;
      case 1:
        return `#${name}`;
      case 2:
        return `${name}${this.#pick(...TRIMS)}${this.#pick(...PATTERNS)}`;
      default:
        return `${name}${this.#pick(...SUBSTITUTES)}${this.#pick("", "d", "$a", '"$b"', "e f", "$c$a", "'q r'")}`;
    }
  }

  #sum(): string {
    const value = () => this.#pick("1", "2", "3", "10", "0x1f", "n", "$#", "(2+3)", "-4", "~1", "!n");
    const parts = [value()];
    for (let i = this.#random.between(0, 2); i > 0; i--) parts.push(this.#pick(...OPERATORS), value());
    const sum = parts.join(" ");
    return this.#random.chance(0.2) ? `n = ${sum}` : this.#random.chance(0.15) ? `n ? ${sum} : 5` : sum;
  }

  #test(): string {
    const { [this.#random.below(7)]: test } = [
      () => `[ -n "${`$${this.#name()}`}" ]`,
      () => `[ -z ${this.#word()} ]`,
      () => `[ "$${this.#name()}" = ${this.#pick("x", '"$a"', "''")} ]`,
      () => `[ $# -${this.#pick("eq", "ne", "lt", "ge")} ${this.#random.below(3)} ]`,
      () => `[ ${this.#pick("-e", "-f", "-d", "-s", "! -e")} ${this.#pick("f", "g", "none", "d")} ]`,
      () => this.#pick("true", "false", "! true", ":"),
      () => `test "$a" != "$b" ${this.#pick("-a", "-o")} -n "$c"`,
    ];
    return test();
  }

  #inner(): string {
    this.#depth++;
    const command = this.#command();
    this.#depth--;
    return command;
  }

  #words(): string {
    return Array.from({ length: this.#random.between(0, 3) }, () => this.#word()).join(" ");
  }

  #command(): string {
    const simple = this.#depth > 1;
    const command = simple || this.#random.chance(0.5) ? this.#simple() : this.#compound();
    switch (this.#random.below(simple ? 20 : 9)) {
      case 0:
        return `${command} && ${this.#inner()}`;
      case 1:
        return `${command} || ${this.#inner()}`;
      case 2:
        return `${command}; ${this.#inner()}`;
      case 3:
        return `{ ${command}; } ${this.#pick("> f", ">> f", "2> /dev/null", "> g 2>&1", "< /dev/null")}`;
      default:
        return command;
    }
  }

  #simple(): string {
    switch (this.#random.below(12)) {
      case 0:
        return `${this.#name()}=${this.#word()}`;
      case 1:
        return `set -- ${this.#words()}`;
      case 2:
        return `printf '<%s>\\n' ${this.#words()}`;
      case 3:
        return this.#test();
      case 4:
        return `${this.#name()}=${this.#word()} ${this.#name()}=${this.#word()} :`;
      case 5:
        return this.#pick(
          "shift 2> /dev/null || :",
          "unset a",
          "IFS=:",
          "IFS=' x'",
          "unset IFS",
          "(exit 3)",
          "n=4",
          "echo *",
        );
      case 6:
        return `eval ${this.#quote(`echo ${this.#words()}`)}`;
      case 7:
        return `f() { echo "in $1 $#"; return ${this.#random.below(3)}; }; f ${this.#words()}`;
      default:
        return `printf '%s ' ${this.#words()} .; echo`;
    }
  }

  /** Each loop has a counter of its own, so it ends. */
  #loop(name: string): string {
    return `${name}=0; while [ $${name} -lt ${this.#random.below(4)} ]; do ${name}=$((${name}+1)); ${this.#inner()}; done`;
  }

  #compound(): string {
    const inner = () => this.#inner();
    switch (this.#random.below(10)) {
      case 0:
        return `if ${this.#test()}; then ${inner()}; else ${inner()}; fi`;
      case 1:
        return `for i in ${this.#words()}; do ${this.#pick("", '[ -n "$i" ] || continue; ', '[ "$i" = x ] && break; ')}printf '(%s)' "$i"; ${inner()}; done`;
      case 2:
        return this.#loop(`i${++this.#loops}`);
      case 3:
        return `case ${this.#word()} in ${this.#pick(...PATTERNS)}) ${inner()} ;; ${this.#pick(...PATTERNS)} | x) ${inner()} ;; *) ${inner()} ;; esac`;
      case 4:
        return `( ${inner()} )`;
      case 5:
        return `{ ${inner()}; } | { read -r a b; echo "$a/$b"; }`;
      case 6:
        return `printf '%s\\n' ${this.#words()} one 'two  three' | while read -r ${this.#pick("a", "a b", "c a b")}; do ${inner()}; done`;
      case 7:
        return `{ read ${this.#pick("", "-r ")}a b; echo "$?[$a][$b]"; } << E\n${this.#pick("", "$c and \\$c ", "k\\ l m ")}${this.#piece().replaceAll("E", "e")}\nE\n:`;
      case 8:
        return `! ${inner()}`;
      default:
        return `x=$( ${inner()}; echo end); echo "$x"`;
    }
  }
}
