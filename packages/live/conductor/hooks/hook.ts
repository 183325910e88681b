/**
 * Runs one hook in a control group of its own: a shell waits at a gate until it is in the group, and then
 * becomes the command. After 30 s, or when the command has ended, all processes of the hook are killed.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { readPasswd } from "@tutti/host/passwd.ts";
import { type ChildProcess, spawn } from "@tutti/host/ports/child-process.ts";
import { closeSync, constants, fchownSync, openSync, writeSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { fileURLToPath } from "@tutti/host/ports/url.ts";
import { identityOf } from "@tutti/host/processes.ts";
import { programFile } from "@tutti/host/programs.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { SYSTEM_PATH } from "@tutti/host/surroundings.ts";
import type { HookResult, HookTask } from "@tutti/protocol/news/runner.ts";
import { findSetpriv } from "../attempts/shim.ts";
import type { Containment } from "../freezers/open-containment.ts";
import { MARK_VARIABLE } from "../freezers/signals.ts";

const LIMIT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** What comes after that is read this slowly, so that a flood costs nothing. */
const DISCARD_MS = 20;
const MAX_PROCESSES = 256;
const MAX_MEMORY_BYTES = 2 ** 30;
const KILL_AGAIN_MS = 20;
/** Processes that the kernel keeps longer than this are left to it. */
const KILL_PATIENCE_MS = 10_000;
const SETPRIV = findSetpriv();
const WEBHOOK = fileURLToPath(programFile("webhook", new URL("./webhook.ts", import.meta.url)));
/** Exit code of a shell whose gate was closed. */
const NOT_BEGUN = 125;
/** Soft limit on open files, as for jobs. */
const GATE = `read -r go || exit ${NOT_BEGUN}
ulimit -S -n 1024 2> /dev/null
cd "$FOLDER" 2> /dev/null || cd /
unset FOLDER
exec "$@" < /dev/null 2>&1`;
/** What users chose is in the message alone, which no shell reads. */
const SEND_MAIL = `message=$TUTTI_MESSAGE sendmail=$TUTTI_SENDMAIL
unset TUTTI_MESSAGE TUTTI_SENDMAIL
printf %s "$message" | "$sendmail" -t -i`;
/**
 * Exit codes of the webhook's program and of sendmail (sysexits.h) if another try would end the same way: bad
 * usage, bad data, no such user.
 */
const FINAL: ReadonlySet<number> = new Set([64, 65, 67]);

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
let count = 0;

export class Hook {
  readonly #containment: Containment;
  readonly #task: HookTask;
  readonly #onEnd: (result: HookResult) => void;
  readonly #gang = `hook-${process.pid}-${++count}`;
  readonly #output: Buffer[] = [];
  #bytes = 0;
  #isLate = false;

  constructor(containment: Containment, task: HookTask, onEnd: (result: HookResult) => void) {
    this.#containment = containment;
    this.#task = task;
    this.#onEnd = onEnd;
  }

  /** Never rejects. */
  async start(): Promise<void> {
    const { id } = this.#task;
    let result: HookResult;
    try {
      result = await this.#run();
    } catch (error) {
      result = { id, state: "failed", text: `cannot start it: ${(error as Error).message}` };
    }
    this.#onEnd({ ...result, ...(this.#writeOutput() && { hasOutput: true }) });
  }

  async #run(): Promise<HookResult> {
    const { id, mail } = this.#task;
    const { groups, freezer } = this.#containment;
    groups.make(this.#gang);
    groups.write("pids", this.#gang, "pids.max", String(MAX_PROCESSES));
    for (const file of ["memory.max", "memory.limit_in_bytes"]) {
      groups.write("memory", this.#gang, file, String(MAX_MEMORY_BYTES));
    }
    const child = this.#spawn();
    const ended = new Promise<{ readonly code: number | null; readonly killedBy: string | null }>(
      (resolve, reject) => {
        child.once("error", reject);
        child.once("exit", (code, killedBy) => resolve({ code, killedBy }));
      },
    );
    // Without a listener, a program that cannot be started would end this process.
    ended.catch(() => {});
    this.#read(child);
    const timer = setTimeout(() => {
      this.#isLate = true;
      // It may not have joined its group.
      child.kill("SIGKILL");
      void this.#killAll();
    }, LIMIT_MS);
    try {
      const identity = child.pid === undefined ? undefined : identityOf(child.pid);
      freezer.enter(this.#gang, undefined, identity);
      const isIn = child.pid !== undefined && (await groups.join(this.#gang, child.pid));
      child.stdin?.on("error", () => {});
      if (isIn) child.stdin?.write("go\n");
      else child.kill("SIGKILL");
      const { code, killedBy } = await ended;
      if (!isIn) return { id, state: "failed", text: "cannot start it: a control group refused it" };
      // Some programs leave the delivery to a process in the background.
      while (mail !== undefined && code === 0 && !this.#isLate && freezer.pids(this.#gang).length > 0) {
        await sleep(KILL_AGAIN_MS);
      }
      if (this.#isLate && code !== 0)
        return { id, state: "failed", text: `killed after ${LIMIT_MS / 1000} s` };
      if (code === 0) return { id, state: "done", text: "exit code 0" };
      const isFinal = code !== null && FINAL.has(code);
      return { id, state: "failed", text: this.#whyFailed(code, killedBy), ...(isFinal && { isFinal }) };
    } finally {
      clearTimeout(timer);
      const untilMs = await this.#killAll();
      while (!groups.remove(this.#gang) && monotonicMs() < untilMs) await sleep(KILL_AGAIN_MS);
      freezer.leave(this.#gang);
      child.stdout?.destroy();
      child.stdin?.destroy();
    }
  }

  #spawn(): ChildProcess {
    const { account, command, url, mail, data } = this.#task;
    const own = process.getuid!();
    const entry = readPasswd().find(({ uid }) => uid === (account?.uid ?? own));
    const user = account?.user ?? entry?.user ?? String(own);
    const env = {
      ...data,
      PATH: SYSTEM_PATH,
      HOME: entry?.home ?? "/",
      USER: user,
      LOGNAME: user,
      SHELL: "/bin/sh",
      LANG: "C.UTF-8",
      [MARK_VARIABLE]: `${this.#containment.marks}${this.#gang}`,
    };
    const isOther = account !== undefined && account.uid !== own;
    // Who may run jobs need not be able to read Tutti's programs, so this one changes its user itself.
    const who = isOther ? [String(account.uid), String(account.gid), account.user] : [];
    const words =
      url !== undefined
        ? [process.execPath, WEBHOOK, ...who]
        : mail !== undefined
          ? ["/bin/sh", "-c", SEND_MAIL]
          : command!;
    const gate = ["/bin/sh", "-c", GATE, "sh", ...words];
    // Root goes to no folder that a user has chosen.
    const isCommandOfJob = account !== undefined && command !== undefined;
    const options = {
      cwd: "/",
      detached: true,
      env: {
        ...env,
        FOLDER: isCommandOfJob ? data.TUTTI_CWD : "/",
        ...(url !== undefined && { TUTTI_WEBHOOK: url }),
        ...(mail !== undefined && { TUTTI_MESSAGE: mail.message, TUTTI_SENDMAIL: mail.sendmail }),
      },
      stdio: ["pipe", "pipe", "ignore"] as ["pipe", "pipe", "ignore"],
    };
    if (!isOther || url !== undefined) return spawn(gate[0], gate.slice(1), options);
    const { uid, gid } = account;
    if (SETPRIV === undefined) return spawn(gate[0], gate.slice(1), { ...options, uid, gid });
    const as = [`--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--"];
    return spawn(SETPRIV, [...as, ...gate], options);
  }

  #read(child: ChildProcess): void {
    const { stdout } = child;
    stdout?.on("data", (piece: Buffer) => {
      const room = MAX_OUTPUT_BYTES - this.#bytes;
      if (room > 0) {
        this.#output.push(piece.subarray(0, room));
        this.#bytes += Math.min(room, piece.length);
        return;
      }
      stdout.pause();
      setTimeout(() => stdout.resume(), DISCARD_MS).unref();
    });
    stdout?.on("error", () => {});
  }

  /** Also processes that the command has left behind. Resolves to the end of patience. */
  async #killAll(): Promise<number> {
    const { freezer } = this.#containment;
    const untilMs = monotonicMs() + KILL_PATIENCE_MS;
    while (!freezer.kill(this.#gang) && monotonicMs() < untilMs) await sleep(KILL_AGAIN_MS);
    return untilMs;
  }

  /** What our own programs said last. Of a user's command, the output is in a file. */
  #whyFailed(code: number | null, killedBy: string | null): string {
    const ending = killedBy === null ? `exit code ${code}` : `ended by ${killedBy}`;
    const { command, url } = this.#task;
    if (command !== undefined) return ending;
    const lines = Buffer.concat(this.#output).toString("utf8").trimEnd().split("\n");
    const last = lines.at(-1)!.slice(0, 200);
    return url !== undefined ? last : last === "" ? ending : `${ending}: ${last}`;
  }

  /** Only the scheduler's account can make files in that folder, so nobody can put a link there. */
  #writeOutput(): boolean {
    const { folder, output, account } = this.#task;
    if (this.#bytes === 0) return false;
    try {
      const path = join(folder, output);
      const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
      try {
        if (account !== undefined && account.uid !== process.getuid!()) {
          fchownSync(file, account.uid, account.gid);
        }
        writeSync(file, Buffer.concat(this.#output));
      } finally {
        closeSync(file);
      }
      return true;
    } catch {
      // The job was cancelled before its first start, or forgotten: it has no folder.
      return false;
    }
  }
}
