/**
 * The parts of the simulated world and what they ask of each other. Everything happens on one timeline, in
 * one thread, and depends on one seed: no part asks the host for time, randomness or files, so the same seed
 * gives the same events in Node and in a browser.
 *
 *   Timeline   true time, and everything that will happen
 *   Machine    a Linux kernel: processes, signals, control groups, clocks; power that can be cut
 *   Files      its file systems: a disk that forgets what was not synced, memory, /proc and /sys
 *   Program    what a process runs: a modelled program (a generator), or a program of Tutti (node/)
 */

/** Draws from a seed. Parts that must not disturb each other have forks of their own. */
export interface Random {
  /** In [0, 1). */
  unit(): number;
  /** An integer in [0, count). */
  below(count: number): number;
  /** An integer in [low, high]. */
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Another source, which depends on this seed and the name alone. */
  fork(name: string): Random;
}

export interface Timeline {
  /** µs since the world began: a safe integer. */
  readonly nowUs: number;
  readonly random: Random;
  /** Calls at that instant, or now if it has passed, after everything set before for the same instant. */
  at(atUs: number, call: () => void): () => void;
}

/** A failed system call, as Node reports it: `code` is EACCES, ENOENT, … */
export interface SysError extends Error {
  readonly code: string;
  /** Negative, as in Node. */
  readonly errno: number;
  readonly syscall: string;
  readonly path?: string;
}

// Files -----------------------------------------------------------------------------------------------------

export type Kind = "file" | "folder" | "link" | "pipe" | "socket" | "device";

/** What stat says; times are Unix ms on the machine's clock. */
export interface Stat {
  readonly kind: Kind;
  readonly dev: number;
  readonly ino: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly nlink: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** An inode, of whatever file system. Two are the same if they are the same object. */
export interface Inode {
  readonly kind: Kind;
  readonly dev: number;
  readonly ino: number;
}

/** An open file description: forked processes share it, with its position. */
export interface OpenFile {
  readonly inode: Inode;
  /** O_ flags of Linux. */
  readonly flags: number;
  position: number;
  /** Descriptors that refer to it. */
  references: number;
  /** The path by which it was opened, for /proc/PID/fd. */
  readonly path: string;
}

/** In whose name a file is used. */
export interface Caller {
  readonly pid: number;
  /** Effective ids. Root (0) may do everything. */
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  umask: number;
  cwd: Inode;
  /** Its descriptors. */
  readonly files: Map<number, OpenFile>;
}

/** A file whose text is made when it is read, and whose writes do something: files of /proc and /sys. */
export interface MadeFile {
  readonly mode: number;
  readonly uid?: number;
  read?(who: Caller): string;
  /** @throws SysError */
  write?(text: string, who: Caller): void;
}

/** A folder of made files. Names that `list` leaves out can still be found, as threads in /proc. */
export interface MadeFolder {
  readonly mode?: number;
  readonly uid?: number;
  list(who: Caller): readonly string[];
  find(name: string, who: Caller): Made | undefined;
  /** Left out: EPERM. */
  makeFolder?(name: string, who: Caller): void;
  removeFolder?(name: string, who: Caller): void;
}

/** A link to another inode (as /proc/PID/cwd, also if that has no name left), or to a path. */
interface MadeLink {
  readonly target: (who: Caller) => Inode | string;
  /** What readlink says of an inode. */
  readonly text?: (who: Caller) => string;
}

/**
 * One made thing. The same object must be given for the same thing as long as it is there, since it stands
 * for an inode.
 */
export type Made =
  | { readonly file: MadeFile }
  | { readonly folder: MadeFolder }
  | { readonly link: MadeLink };

/**
 * The file systems of a machine, as its processes see them. Every call throws a SysError if it fails, as
 * Linux would: permissions, umask, symbolic links (at most 40), "." and "..", trailing slashes, O_EXCL,
 * O_NOFOLLOW, O_APPEND, unlinked files that are open, renames over something, link counts.
 */
export interface Files {
  /** @returns the lowest free descriptor of the caller */
  open(who: Caller, path: string, flags: number, mode?: number): number;
  close(who: Caller, descriptor: number): void;
  /** Another descriptor, `to` or the lowest free one, of the same open file. */
  duplicate(who: Caller, descriptor: number, to?: number): number;
  /**
   * @param position undefined: where the open file stands, which moves
   * @returns bytes read; 0 at the end, or if a pipe has no writer
   * @throws EAGAIN if a pipe is empty, whether or not it is O_NONBLOCK: who wants to wait uses `whenReadable`
   */
  read(who: Caller, descriptor: number, into: Uint8Array, position?: number): number;
  /** @returns bytes written. @throws ENOSPC, EROFS, EIO, EPIPE (a pipe without a reader), EAGAIN (full) */
  write(who: Caller, descriptor: number, bytes: Uint8Array, position?: number): number;
  /**
   * Calls once when a read of the pipe would not throw EAGAIN, at once if that is now.
   * @returns a function that cancels
   */
  whenReadable(who: Caller, descriptor: number, call: () => void): () => void;
  /** An anonymous pipe: [descriptor to read, descriptor to write]. */
  pipe(who: Caller): [number, number];
  stat(who: Caller, path: string): Stat;
  lstat(who: Caller, path: string): Stat;
  fstat(who: Caller, descriptor: number): Stat;
  /** As stat and lstat, but undefined if there is no such file. */
  statIfThere(who: Caller, path: string, isFollowed: boolean): Stat | undefined;
  access(who: Caller, path: string, mode: number): void;
  readFolder(who: Caller, path: string): { readonly name: string; readonly kind: Kind }[];
  makeFolder(who: Caller, path: string, mode?: number): void;
  removeFolder(who: Caller, path: string): void;
  unlink(who: Caller, path: string): void;
  rename(who: Caller, from: string, to: string): void;
  link(who: Caller, existing: string, path: string): void;
  makeLink(who: Caller, target: string, path: string): void;
  readLink(who: Caller, path: string): string;
  makePipe(who: Caller, path: string, mode?: number): void;
  chmod(who: Caller, path: string, mode: number): void;
  fchmod(who: Caller, descriptor: number, mode: number): void;
  /** −1 leaves an id as it is. */
  chown(who: Caller, path: string, uid: number, gid: number, isLink?: boolean): void;
  fchown(who: Caller, descriptor: number, uid: number, gid: number): void;
  truncate(who: Caller, descriptor: number, length: number): void;
  /** The file's data, or the names in the folder, survive a power cut from now on. */
  sync(who: Caller, descriptor: number, syscall?: "fsync" | "fdatasync"): void;
  /** Number of the file system's type, as statfs says. */
  typeOf(who: Caller, path: string): number;
  /** A socket at that path; the network decides what it does. @throws EADDRINUSE */
  makeSocket(who: Caller, path: string): Inode;
  /** The inode at a path, links followed. */
  find(who: Caller, path: string): Inode;
  /** The data of a regular file, which somebody keeps open. */
  data(file: Inode): FileData;
  /** A path that leads to a folder now; "/gone (deleted)" if it has none. */
  pathOf(folder: Inode): string;
  /** Calls once when a write of up to 4 KiB to the pipe would not throw EAGAIN. */
  whenWritable(who: Caller, descriptor: number, call: () => void): () => void;
  /**
   * Mounts a tree of made files.
   * @param type what `typeOf` says of it; default: sysfs
   */
  mount(path: string, tree: MadeFolder, type?: number): void;
  /**
   * All that is in memory is lost: tmpfs is empty, disks keep what was synced and, drawn from the seed, some
   * of what was not: pages of files, and changes of folders up to some moment.
   */
  cutPower(): void;
}

/** The data of a regular file, for a database beneath which no descriptor is needed. */
export interface FileData {
  readonly size: number;
  /** @returns the bytes there are, at most `into.length` */
  readAt(into: Uint8Array, position: number): number;
  /** @throws SysError ENOSPC, EROFS, EIO */
  writeAt(bytes: Uint8Array, position: number): void;
  truncate(size: number): void;
  /** @throws SysError EIO */
  sync(): void;
}

// Processes -------------------------------------------------------------------------------------------------

/** R running, S waiting, D frozen by a control group of version 1, T stopped, Z ended and not reaped. */
export type ProcessState = "R" | "S" | "D" | "T" | "Z";

export interface Process extends Caller {
  readonly machine: Machine;
  readonly parent: number;
  readonly session: number;
  /** Clock ticks (10 ms) between the boot and its start. */
  readonly startTicks: number;
  /** The first 15 bytes of its program's name. */
  name: string;
  /** What /proc/PID/cmdline shows. */
  argv: readonly string[];
  environment: Readonly<Record<string, string>>;
  readonly state: ProcessState;
  /** CPU time so far in µs. */
  readonly cpuUs: number;
  /** Undefined while it runs. */
  readonly end: ProcessEnd | undefined;
  /** It got a SIGKILL and does nothing more, but has not ended yet. */
  readonly isKilled: boolean;
  /** Its control group: a path below the root of the hierarchy, such as "tutti-1/7.1"; "" is the root. */
  readonly group: string;
}

export type ProcessEnd =
  | { readonly code: number; readonly signal?: never }
  | { readonly signal: string; readonly code?: never };

/** What a modelled program waits for between two system calls. It may be stopped or killed at each. */
export type Wait =
  /** Continues after the some µs that a system call takes. */
  | { readonly for: "step" }
  /** Time passes, also while it is stopped; but it continues only when it is not. */
  | { readonly for: "time"; readonly us: number }
  /** Computes: only time in which it runs counts. */
  | { readonly for: "work"; readonly us: number }
  /** Until a child (this one, or any) has ended and can be reaped. */
  | { readonly for: "child"; readonly pid?: number }
  /** Until the pipe can be read; at most until that instant of the timeline. */
  | { readonly for: "readable"; readonly descriptor: number; readonly untilUs?: number }
  /** Until a signal that it handles has come, which may be SIGCHLD. */
  | { readonly for: "signal" };

/** The system calls of a modelled program, in the name of its process. */
export interface Sys {
  readonly self: Process;
  readonly machine: Machine;
  /** Calls of Files, with this process as the caller. */
  readonly files: Files;
  readonly random: Random;
  /**
   * Starts a child that runs this program with a copy of the descriptors, the folder, the umask and what is
   * ignored. Signals that the parent handles have their default action. @throws EAGAIN
   */
  fork(program: Program): number;
  /**
   * Another program takes over this process. Use it as `return yield* sys.exec(…)`. `argv[0]` is looked up in
   * PATH if it has no slash. @throws ENOENT, EACCES before anything has changed
   */
  exec(argv: readonly string[], environment?: Readonly<Record<string, string>>): Generator<Wait, number>;
  /** A child that has ended, and forgets it; undefined: it has not. @throws ECHILD */
  reap(pid?: number): { readonly pid: number; readonly end: ProcessEnd } | undefined;
  /** @throws ESRCH, EPERM. @param pid negative: a process group, which is a session here */
  kill(pid: number, signal: string): void;
  /** Leads a new session from now on. @throws EPERM if it leads one */
  newSession(): void;
  /** Sets all ids of this process. @throws EPERM */
  setIds(uid: number, gid: number, groups: readonly number[]): void;
  /**
   * Default action, nothing, or a call that is made at once, also in the middle of a wait.
   * @param signal a name such as SIGTERM, as everywhere
   */
  onSignal(signal: string, act: "default" | "ignore" | (() => void)): void;
  /** CPUs on which it may run. @throws ESRCH, EPERM, EINVAL if none of them is there */
  setCpus(pid: number, cpus: readonly number[]): void;
  /** Scheduling class: 0 ordinary, 1 real-time, 5 idle. It is only shown. @throws ESRCH, EPERM */
  setPolicy(pid: number, policy: number): void;
  /**
   * Holds that much memory more, or less if negative. More than a limit of its control groups ends it, and
   * others with it, at its next step.
   */
  allocate(bytes: number): void;
}

/** @returns its exit status. Throwing ends it with 70. */
export type Program = (sys: Sys) => Generator<Wait, number>;

/**
 * A program that is not a generator, such as a program of Tutti. The machine calls it only while the process
 * may run.
 */
export interface Body {
  /** @returns whether it handles that signal; if not, the default action follows */
  signal(name: string): boolean;
  /** Its process has ended: nothing of it may run from now on. Descriptors are closed already. */
  ended(): void;
}

export interface StartOptions {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** It leads a session. */
  readonly isDetached?: boolean;
  /** Open files of the child by descriptor; the others are not inherited. */
  readonly files?: ReadonlyMap<number, OpenFile>;
}

export interface MachineClock {
  unixMs(): number;
  /** Ms since the boot without suspends. */
  monotonicMs(): number;
  /** Ms since the boot. */
  bootMs(): number;
  /** Sets Unix time by that much. */
  step(byMs: number): void;
  /** Calls once when that monotonic time has come. Returns a function that cancels. */
  at(monotonicMs: number, call: () => void): () => void;
}

export interface Machine {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly files: Files;
  readonly clock: MachineClock;
  readonly bootId: string;
  readonly isOn: boolean;
  readonly isSuspended: boolean;
  readonly cpus: number;
  /** All processes, also ended ones that nobody has reaped. */
  readonly processes: ReadonlyMap<number, Process>;
  /**
   * Starts a process. Its program is found by `argv[0]`.
   * @param parent undefined: the init process
   * @throws EAGAIN, ENOENT, EACCES
   */
  start(parent: Process | undefined, options: StartOptions): Process;
  /** @throws ESRCH, EPERM */
  kill(pid: number, signal: string, by?: Process): void;
  /** Ends a process from within, as exit does. */
  exit(process: Process, code: number): void;
  /** Calls when the process may run: now, once it is continued, or never if it has ended. */
  deliver(process: Process, call: () => void): void;
  /**
   * Lets a process that was just started, and its children, run to their ends at this instant, and reaps it:
   * what spawnSync waits for. Only for modelled programs.
   */
  runToEnd(process: Process): ProcessEnd;
  /** Called once when a child has ended; that also reaps it. */
  onChildEnd(parent: Process, pid: number, call: (end: ProcessEnd) => void): void;
  /** Makes the file of a program, with its folders, and runs the program wherever that file is executed. */
  install(path: string, program: Program): void;
  /** The same for a program that is not a generator: `node` starts the programs of Tutti. */
  installBody(path: string, begin: (process: Process) => Body): void;
  /** Every process is gone, and memory with them. */
  cutPower(): void;
  /** @throws Error if it is on */
  boot(): void;
  /** Nothing runs, and monotonic time stands still. */
  suspend(forMs: number): void;
}
