/**
 * node:sqlite for simulated processes: SQLite, compiled to WebAssembly, over the simulated files. All
 * processes share one instance of the module. What keeps them apart, and what they share, is in sqlite/.
 */
import type { Sqlite3Static } from "@sqlite.org/sqlite-wasm";
import type { Caller, Files, Random } from "../world/contract.ts";
import { BUSY, DONE, LOCKED, OK, OPEN_CREATE, OPEN_READWRITE } from "./sqlite/codes.ts";
import { Database, type DatabaseOptions, Functions, type Host, Statement } from "./sqlite/database.ts";
import { errorOfCode, invalidType, sqliteError } from "./sqlite/errors.ts";
import { Heap, type Pointer } from "./sqlite/heap.ts";
import { SqliteProcess, Vfs } from "./sqlite/vfs.ts";
import type { Stepper } from "./steps.ts";

/** What a simulated process gives to its databases. */
export interface ProcessOfDatabases {
  readonly files: Files;
  readonly who: Caller;
  /** Unix time of its machine. */
  unixMs(): number;
  /** Calls in the process, after what is pending there. A backup pauses there between two steps. */
  soon(call: () => void): void;
  /** Makes a call that ends a transaction. */
  readonly step?: Stepper;
}

interface BackupOptions {
  /** Pages to copy in one step; 100 if left out. */
  readonly rate?: number;
  readonly progress?: (progress: { readonly totalPages: number; readonly remainingPages: number }) => void;
}

/** The module node:sqlite of one process. */
export interface NodeSqlite {
  readonly DatabaseSync: new (place: unknown, options?: DatabaseOptions) => Database;
  readonly StatementSync: typeof Statement;
  /** @returns pages copied */
  backup(source: Database, path: string, options?: BackupOptions): Promise<number>;
}

interface Running {
  readonly node: NodeSqlite;
  readonly host: Host;
  readonly vfs: Pointer;
  readonly backups: Set<Backup>;
}

export class Sqlite {
  readonly #heap: Heap;
  readonly #vfs: Vfs;
  readonly #functions: Functions;
  readonly #running = new Map<Caller, Running>();

  /** @param module which is loaded once, and can be used by one world after the other */
  constructor(module: Sqlite3Static) {
    this.#heap = new Heap(module);
    this.#vfs = new Vfs(this.#heap);
    this.#functions = new Functions(this.#heap);
  }

  /** Begins a world: ends all processes of the one before. */
  begin(random: Random): void {
    for (const who of this.#running.keys()) this.processEnded(who);
    this.#vfs.seed(random);
  }

  /** The same for every call with a process. */
  forProcess(given: ProcessOfDatabases): NodeSqlite {
    const known = this.#running.get(given.who);
    if (known !== undefined) return known.node;
    const process = new SqliteProcess(given.files, given.who, () => given.unixMs());
    const vfs = this.#vfs.add(process);
    const host: Host = {
      ...{ heap: this.#heap, process, functions: this.#functions, step: given.step },
      ...{ vfsName: this.#vfs.nameOf(vfs), open: new Set() },
    };
    function DatabaseSync(place: unknown, options?: DatabaseOptions): Database {
      return new Database(host, place, options);
    }
    DatabaseSync.prototype = Database.prototype;
    const backups = new Set<Backup>();
    const node: NodeSqlite = {
      // All processes share one class, so calls on its objects stay fast.
      DatabaseSync: DatabaseSync as unknown as NodeSqlite["DatabaseSync"],
      StatementSync: Statement,
      backup: (source, path, options) => new Backup(host, backups, source, path, options).run(given.soon),
    };
    this.#running.set(given.who, { node, host, vfs, backups });
    return node;
  }

  /**
   * Closes the databases of a process that has ended. Its files stay as they are, as after a SIGKILL: nothing
   * is written, no log is moved or deleted; its locks are gone. Not while SQLite runs for that process.
   */
  processEnded(who: Caller): void {
    const running = this.#running.get(who);
    if (running === undefined) return;
    this.#running.delete(who);
    const { host, vfs, backups } = running;
    host.process.isDead = true;
    for (const backup of backups) backup.end();
    for (const database of host.open) database.close();
    this.#vfs.remove(vfs);
  }
}

/** A copy of a database, made step by step. */
class Backup {
  readonly #heap: Heap;
  readonly #all: Set<Backup>;
  readonly #options: BackupOptions;
  /** The connection to the copy. */
  #to: Pointer = 0;
  #backup: Pointer = 0;

  constructor(host: Host, all: Set<Backup>, source: Database, path: string, options: BackupOptions = {}) {
    if (!(source instanceof Database)) throw invalidType('The "sourceDb" argument must be an object.');
    this.#heap = host.heap;
    this.#all = all;
    this.#options = options;
    const { pointer } = source;
    const { c, result } = this.#heap;
    const name = this.#heap.newText(path);
    const code = c.sqlite3_open_v2(name, result, OPEN_READWRITE | OPEN_CREATE, host.vfsName);
    c.free(name);
    this.#to = this.#heap.word(result);
    if (code === OK) {
      this.#heap.text("main");
      this.#backup = c.sqlite3_backup_init(this.#to, this.#heap.at, pointer, this.#heap.at);
    }
    all.add(this);
  }

  run(soon: (call: () => void) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        try {
          const pages = this.#step();
          if (pages === undefined) soon(step);
          else {
            this.end();
            resolve(pages);
          }
        } catch (error) {
          this.end();
          reject(error);
        }
      };
      step();
    });
  }

  /** @returns pages copied, once all are */
  #step(): number | undefined {
    const { c } = this.#heap;
    const backup = this.#backup;
    if (backup === 0) throw sqliteError(this.#heap, this.#to);
    const code = c.sqlite3_backup_step(backup, this.#options.rate ?? 100);
    if (code !== OK && code !== DONE && code !== BUSY && code !== LOCKED) throw errorOfCode(this.#heap, code);
    const totalPages = c.sqlite3_backup_pagecount(backup);
    const remainingPages = c.sqlite3_backup_remaining(backup);
    if (remainingPages !== 0) {
      this.#options.progress?.({ totalPages, remainingPages });
      return undefined;
    }
    if (code !== DONE) throw sqliteError(this.#heap, this.#to);
    return totalPages;
  }

  /** Also when the process has ended. */
  end(): void {
    const { c } = this.#heap;
    if (this.#backup !== 0) c.sqlite3_backup_finish(this.#backup);
    if (this.#to !== 0) c.sqlite3_close_v2(this.#to);
    this.#backup = 0;
    this.#to = 0;
    this.#all.delete(this);
  }
}
