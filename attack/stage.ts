/**
 * Sets up the environment of attacks: a folder with the package of Tutti that users install, real accounts,
 * and the schedulers that each attack starts. Everything is removed at the end, even after Ctrl-C.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../scripts/build.ts";
import { type Account, type Accounts, canMakeAccounts, makeAccounts, removeAccounts } from "./accounts.ts";
import { Scheduler, type SchedulerOptions } from "./scheduler.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

export interface StageOptions {
  readonly isShort: boolean;
  readonly seed: number;
  /** How long attacks go on that fill something; left out: only the short form. */
  readonly minutes?: number;
  /** A folder with bin/ and dist/ to attack; undefined: the sources here, bundled for it. */
  readonly package?: string | undefined;
  /** Called with lines about the progress. */
  readonly note?: (line: string) => void;
}

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Mode {
  readonly name: string;
  readonly options: SchedulerOptions;
}

export class Stage {
  readonly isShort: boolean;
  readonly seed: number;
  readonly minutes: number;
  /** The folder of all files; other users may enter it, as they may enter /tmp. */
  readonly folder: string;
  /** The folder of the package. */
  readonly package: string;
  readonly note: (line: string) => void;
  #accounts: Accounts | undefined;
  #folders = 0;
  #closed: Promise<void> | undefined;
  readonly #schedulers: Scheduler[] = [];
  readonly #children = new Set<ChildProcess>();

  private constructor(options: StageOptions, folder: string) {
    this.isShort = options.isShort;
    this.seed = options.seed;
    this.minutes = options.minutes ?? 0;
    this.folder = folder;
    this.package = join(folder, "package");
    this.note = options.note ?? (() => {});
  }

  static async open(options: StageOptions): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), "tutti-attack-"));
    const stage = new Stage(options, folder);
    try {
      await stage.#fill(options.package);
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  /** Whether there are accounts, which need root. */
  get hasAccounts(): boolean {
    return this.#accounts !== undefined;
  }

  get users(): Accounts {
    if (this.#accounts === undefined) throw new Error("Broken invariant: this attack needs accounts");
    return this.#accounts;
  }

  /** Makes a new folder. @param owner default: the user of this process */
  makeFolder(name: string, mode = 0o755, owner?: Account): string {
    const path = join(this.folder, `${++this.#folders}-${name}`);
    mkdirSync(path);
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    chmodSync(path, mode);
    return path;
  }

  /** Starts a scheduler in a new folder. */
  async serve(options: SchedulerOptions = {}): Promise<Scheduler> {
    const scheduler = new Scheduler(this, this.makeFolder("scheduler", 0o755, options.as), options);
    this.#schedulers.push(scheduler);
    await scheduler.start();
    return scheduler;
  }

  /**
   * The ways in which a scheduler can run here: for all, for root alone, for a user (without control groups).
   */
  get modes(): readonly Mode[] {
    if (process.getuid?.() !== 0) return [{ name: "own", options: {} }];
    const alone = { name: "private", options: { isPrivate: true } };
    if (!this.hasAccounts) return [alone];
    const user = { name: "user", options: { as: this.users.ann } };
    const shared = { name: "shared", options: {} };
    return this.isShort ? [shared, user] : [alone, shared, user];
  }

  /** Each mode with each of these. In the short form, each of these has one mode, in turn. */
  withModes<What>(all: readonly What[]): readonly (Mode & { readonly what: What })[] {
    const { modes, isShort } = this;
    return modes.flatMap((mode, i) =>
      all.filter((_, k) => !isShort || k % modes.length === i).map((what) => ({ ...mode, what })),
    );
  }

  /** Runs a program as a user, in that user's environment, and waits for it. */
  async run(as: Account | undefined, words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const child = this.start(as, words, { env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (piece) => {
      stdout += piece;
    });
    child.stderr?.setEncoding("utf8").on("data", (piece) => {
      stderr += piece;
    });
    const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { status, stdout, stderr };
  }

  /** Starts a program as a user. It is killed at the latest at the end of the attack. */
  start(as: Account | undefined, words: readonly string[], options: SpawnOptions = {}): ChildProcess {
    const { PATH, TMPDIR } = process.env;
    const [program = "", ...parameters] = words;
    const home = as?.home ?? process.env.HOME;
    const child = spawn(program, parameters, {
      cwd: "/",
      ...options,
      ...(as !== undefined && { uid: as.uid, gid: as.gid }),
      env: { PATH, TMPDIR, HOME: home, NO_COLOR: "1", ...options.env },
    });
    this.#children.add(child);
    child.on("close", () => this.#children.delete(child));
    return child;
  }

  /** The words that run `tutti` of the package. */
  get tutti(): readonly string[] {
    return [process.execPath, join(this.package, "bin", "tutti.js")];
  }

  /** Copies a program of attack/programs/ to where the accounts can read it, and returns its path. */
  program(name: string): string {
    const path = join(this.folder, name);
    copyFileSync(join(root, "attack", "programs", name), path);
    chmodSync(path, 0o755);
    return path;
  }

  /** Ends what an attack has left. */
  async clear(): Promise<void> {
    for (const child of this.#children) child.kill("SIGKILL");
    for (const scheduler of this.#schedulers.splice(0)) await scheduler.clear();
  }

  /** Ends everything and removes it. Further calls wait for the first one. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.clear();
    if (this.#accounts !== undefined) await removeAccounts();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  async #fill(from: string | undefined): Promise<void> {
    chmodSync(this.folder, 0o755);
    mkdirSync(this.package);
    const source = from ?? root;
    cpSync(join(source, "bin"), join(this.package, "bin"), { recursive: true });
    copyFileSync(join(source, "package.json"), join(this.package, "package.json"));
    if (from === undefined) await bundle(join(this.package, "dist"));
    else cpSync(join(from, "dist"), join(this.package, "dist"), { recursive: true });
    if (canMakeAccounts()) this.#accounts = await makeAccounts(this.makeFolder("homes"));
  }
}
