/** Runs `tutti top` on a real terminal: keys, sizes, and what it leaves behind however it ends. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const scheduler = new LiveScheduler();
beforeAll(() => scheduler.start());
afterAll(() => scheduler.clear());

/** `tutti top` on a terminal of its own, and what that terminal shows. */
class TopOnTerminal {
  readonly #child: ChildProcess;
  #bytes = "";

  constructor(columns: number, lines: number) {
    const words = `'${process.execPath}' '${program}' top`;
    const script = [
      `stty cols ${columns} rows ${lines}; echo TTY=$(tty)`,
      `sh -c 'echo PID=$$; exec "$@"' sh ${words}; echo RC=$?`,
      "stty -a",
    ].join("; ");
    this.#child = spawn("script", ["-qec", script, "/dev/null"], {
      env: { ...process.env, NO_COLOR: "1", TERM: "xterm", TUTTI_SOCKET: scheduler.socket },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.stdout!.setEncoding("utf8").on("data", (piece) => {
      this.#bytes += piece;
    });
  }

  get bytes(): string {
    return this.#bytes;
  }

  get pid(): number {
    return Number(/PID=(\d+)/.exec(this.#bytes)![1]);
  }

  /** The lines of the screen: the program writes a whole line at a time, at a place. */
  get screen(): string[] {
    const lines: string[] = [];
    for (const piece of this.#bytes.split("\u001b[")) {
      const [, line, text] = /^(\d+);1H([\s\S]*)$/.exec(piece) ?? [];
      if (line !== undefined) lines[Number(line) - 1] = text;
    }
    return lines;
  }

  type(text: string): void {
    this.#child.stdin!.write(text);
  }

  resize(columns: number, lines: number): void {
    const terminal = /TTY=(\S+)/.exec(this.#bytes)![1];
    execFileSync("stty", ["-F", terminal, "cols", String(columns), "rows", String(lines)]);
  }

  async shows(text: string | RegExp): Promise<void> {
    await until(() =>
      this.screen.some((line) => (typeof text === "string" ? line.includes(text) : text.test(line))),
    );
  }

  /** Waits for its end, and returns its exit code after checking that the terminal is as it was. */
  async ended(): Promise<number> {
    await until(() => /RC=\d+[\s\S]*-iexten|RC=\d+[\s\S]*iexten/.test(this.#bytes));
    const [, code, settings] = /RC=(\d+)([\s\S]*)$/.exec(this.#bytes)!;
    // The second screen is left, the cursor is back, and lines continue after the last column.
    const restored = ["\u001b[?7h", "\u001b[?25h", "\u001b[?1049l"];
    for (const sequence of restored) expect(this.#bytes.lastIndexOf(sequence)).toBeGreaterThan(0);
    expect(this.#bytes.lastIndexOf("\u001b[?1049l")).toBeGreaterThan(
      this.#bytes.lastIndexOf("\u001b[?1049h"),
    );
    expect(stripVTControlCharacters(settings)).toMatch(/(?<!-)\bicanon\b[\s\S]*(?<!-)\becho\b/);
    this.#child.stdin!.end();
    return Number(code);
  }
}

test("jobs, output, changes, another size, a new scheduler: all on one screen", async () => {
  const script = String.raw`printf '\033[2Jred\033]0;title\007\n'; exec sleep 1000`;
  const number = await scheduler.submit(script, { name: "\u001b[2Jevil" });
  const top = new TopOnTerminal(100, 24);
  await top.shows(/^> +\d+ +\\x1b\[2Jevil +▶ running/);
  top.type("\r");
  await top.shows("\\x1b[2Jred\\x1b]0;title\\x07");
  top.type("p");
  await top.shows(/\\x1b\[2Jevil +❚ paused/);
  top.type("c");
  await top.shows(`Cancel job ${number} (\\x1b[2Jevil)?`);
  top.type("n");
  await top.shows("Nothing was changed.");
  expect(top.screen.length).toBe(24);
  top.resize(60, 16);
  top.type("k");
  await until(() => top.screen[15]?.startsWith("Enter log") === true);
  await scheduler.killFrontEnd();
  await top.shows("The scheduler is gone; waiting until it is back.");
  await scheduler.start();
  await scheduler.submit("exec sleep 1000", { name: "after" });
  await top.shows(/after +▶ running/);
  top.type("cy");
  await until(() => /⊘ cancelled|was cancelled/.test(top.screen.join("\n")));
  // Of another program's escape sequences, none has reached the terminal.
  expect(top.bytes).not.toContain("\u001b[2J");
  expect(top.bytes).not.toContain("\u001b]0;");
  top.type("q");
  expect(await top.ended()).toBe(0);
});

test("Ctrl-C and signals leave the terminal as it was", async () => {
  const endings = ["\u0003", "SIGTERM", "SIGHUP"].map(async (end) => {
    const top = new TopOnTerminal(80, 24);
    await top.shows("q quit");
    if (end === "\u0003") top.type(end);
    else process.kill(top.pid, end);
    expect(await top.ended()).toBe(130);
  });
  await Promise.all(endings);
});

test("without a terminal, it is refused with what to use instead", async () => {
  const { status, stdout, stderr } = await startTutti(scheduler.socket, ["top"]).result;
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toBe(
    "tutti: Cannot run tutti top: standard output is not a terminal; use tutti jobs, or tutti events -f\n",
  );
});
