/** The form of commands that ask once: they print the answer as text for people, or as JSON. */

import { Client } from "@tutti/live/api/client/client.ts";
import type { Command } from "commander";
import { hint, writeJson, writeOut } from "../text/text.ts";

/** What a command was called with. */
export class Asked<Options = object, Words extends readonly unknown[] = []> {
  readonly words: Words;
  readonly options: Options;
  #client: Client | undefined;

  constructor(words: Words, options: Options) {
    this.words = words;
    this.options = options;
  }

  /** The scheduler, found when it is first needed. @throws NoDaemonError */
  get client(): Client {
    this.#client ??= new Client();
    return this.#client;
  }
}

export interface Shown<Answer, Options, Words extends readonly unknown[]> {
  /** The help of `--json`. */
  readonly json?: string;
  /** The answer, which is also what `--json` prints. */
  ask(asked: Asked<Options, Words>): Answer | Promise<Answer>;
  /** The answer for people, with its last newline. */
  text(answer: Answer, asked: Asked<Options, Words>): string | Promise<string>;
  /** What to add on standard error, such as what to type next. Not said with `--json`. */
  next?(answer: Answer, asked: Asked<Options, Words>): string | undefined;
}

/** Adds the option `--json` and the action to a command. */
export function show<Answer extends object, Options = object, Words extends readonly unknown[] = []>(
  command: Command,
  shown: Shown<Answer, Options, Words>,
): Command {
  return command
    .option("--json", shown.json ?? "print as JSON")
    .action(async (...given: readonly unknown[]) => {
      // Commander passes the arguments, the options and the command.
      const options = given.at(-2) as Options & { readonly json?: boolean };
      await present(new Asked(given.slice(0, -2) as readonly unknown[] as Words, options), shown);
    });
}

/** Asks, and prints the answer. */
export async function present<Answer extends object, Options, Words extends readonly unknown[]>(
  asked: Asked<Options & { readonly json?: boolean }, Words>,
  { ask, text, next }: Shown<Answer, Options, Words>,
): Promise<void> {
  const answer = await ask(asked);
  if (asked.options.json) return writeJson(answer);
  writeOut(await text(answer, asked));
  const remark = next?.(answer, asked);
  if (remark !== undefined) hint(remark);
}
