/** The syntax tree of a script. Trees are shared by all shells that run the same text. */

/** A piece of a word. Quoted pieces are neither split nor patterns. */
export type Part =
  | { readonly kind: "text"; readonly text: string; readonly isQuoted: boolean }
  | {
      readonly kind: "parameter";
      readonly name: string;
      /** "" for the value; "length"; - + = ? with or without a colon in front; # ## % %% */
      readonly operator: string;
      readonly word: Word | undefined;
      readonly isQuoted: boolean;
    }
  | { readonly kind: "command"; readonly body: Script; readonly isQuoted: boolean }
  | { readonly kind: "sum"; readonly word: Word; readonly isQuoted: boolean };

export interface Word {
  readonly parts: readonly Part[];
  /** The word, if it needs no expansion. */
  readonly plain: string | undefined;
  /** Whether a command runs in its expansion. */
  readonly hasCommand: boolean;
}

export interface Redirect {
  readonly operator: "<" | ">" | ">>" | "<>" | ">|" | "<&" | ">&" | "<<" | "&>";
  readonly descriptor: number;
  /** A path, a descriptor or "-"; the text of a here-document. */
  readonly word: Word;
}

export interface Assignment {
  readonly name: string;
  readonly word: Word;
}

export interface Simple {
  readonly kind: "simple";
  readonly line: number;
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
}

export type Command =
  | Simple
  | { readonly kind: "pipeline"; readonly commands: readonly Command[]; readonly isNegated: boolean }
  | { readonly kind: "and" | "or"; readonly left: Command; readonly right: Command }
  | { readonly kind: "list"; readonly items: readonly Command[] }
  | { readonly kind: "background"; readonly body: Command }
  | { readonly kind: "redirected"; readonly body: Command; readonly redirects: readonly Redirect[] }
  | { readonly kind: "subshell"; readonly body: Command }
  | {
      readonly kind: "if";
      readonly test: Command;
      readonly then: Command;
      readonly else: Command | undefined;
    }
  | { readonly kind: "while" | "until"; readonly test: Command; readonly body: Command }
  | {
      readonly kind: "for";
      readonly name: string;
      /** Undefined: the arguments. */
      readonly words: readonly Word[] | undefined;
      readonly body: Command;
    }
  | {
      readonly kind: "case";
      readonly word: Word;
      readonly arms: readonly { readonly patterns: readonly Word[]; readonly body: Command }[];
    }
  | { readonly kind: "function"; readonly name: string; readonly body: Command };

/** A whole text. */
export interface Script {
  /** What was complete at the end of a line runs before the rest is read. */
  readonly lines: readonly Command[];
  /** Why the text after these lines cannot be run. */
  readonly problem: { readonly line: number; readonly why: string } | undefined;
  /** Whether the last command ends with the text: the shell may become that command then. */
  readonly endsWithCommand: boolean;
}
