/**
 * A program named sendmail that keeps what it gets: its arguments, its user, its variables and the message.
 * Like some real ones, it ends at once, and delivers in the background.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TakenMail {
  readonly words: string;
  readonly uid: number;
  /** Names of its variables. */
  readonly variables: readonly string[];
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export class MailProgram {
  readonly #mails: string;
  /** To be added to the PATH of the scheduler. */
  readonly folder: string;

  /** @param folder a new one, which every user can enter */
  constructor(folder: string) {
    this.folder = folder;
    this.#mails = join(folder, "mails");
    mkdirSync(this.#mails, { recursive: true });
    chmodSync(folder, 0o755);
    chmodSync(this.#mails, 0o1777);
    const script = `#!/bin/sh
umask 022
new=$(mktemp ${this.#mails}/new.XXXXXX)
{ echo "$*"; id -u; env | cut -d= -f1 | tr '\\n' ' '; echo; cat; } > "$new"
chmod 644 "$new"
{ sleep 0.2; mv "$new" "${this.#mails}/mail.$$.$(basename "$new")"; } > /dev/null 2>&1 &
`;
    writeFileSync(join(folder, "sendmail"), script);
    chmodSync(join(folder, "sendmail"), 0o755);
  }

  /** All mails that it took. */
  taken(): TakenMail[] {
    const names = readdirSync(this.#mails).filter((name) => name.startsWith("mail."));
    return names.map((name) => {
      const [words, uid, variables, ...lines] = readFileSync(join(this.#mails, name), "utf8").split("\n");
      const end = lines.indexOf("");
      const headers = lines.slice(0, end).join("\n").replaceAll("\n ", " ").split("\n");
      return {
        words,
        uid: Number(uid),
        variables: variables.trim().split(" "),
        headers: new Map(
          headers.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
        ),
        body: lines.slice(end + 1).join("\n"),
      };
    });
  }
}
