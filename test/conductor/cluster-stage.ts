/**
 * Starts the conductors of a cluster for a test, one per node. Each node has its own processes and its own
 * monotonic clock, as on machines of their own (namespaces of Linux, which only root may make). The folders
 * are shared, as on a cluster with a shared file system.
 *
 *   node        first process
 *    ├─ slurmd     reads commands from a pipe and starts them, as Slurm starts tasks
 *    └─ keeper     starts the conductor, and starts it again
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { monotonicMs } from "@tutti/host/clock.ts";
import { signal } from "@tutti/host/processes.ts";
import { programFile } from "@tutti/host/programs.ts";
import { NO_NODE_VARIABLES } from "@tutti/live/daemon/executor/cluster/keeper-parts.ts";
import type { AttemptEnd, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type {
  ConductorMatrix,
  FromConductor,
  MemberSpec,
  PlacedGang,
  ToConductor,
} from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { marked, until } from "./stage.ts";

const PROGRAM = fileURLToPath(
  programFile("conductor", new URL("../../packages/live/conductor/main.ts", import.meta.url)),
);
/** Between the clocks of one node and the next. */
const CLOCKS_APART_S = 1000;
const OWNER = "a".repeat(32);

const NODE = `
sh "$0/slurmd" & sh "$0/keeper" &
while :; do wait; sleep 0.1; done`;

const SLURMD = `
exec 3<> "$1/tasks"
while read -r line <&3; do
  setsid sh -c "$line" < /dev/null 3>&- &
done`;

/** Whether nodes can be made here. */
export const CAN_MAKE_NODES =
  process.getuid!() === 0 &&
  spawnSync("unshare", ["--pid", "--fork", "--mount-proc", "--time", "--monotonic", "1", "true"]).status ===
    0;

type Message<Type extends FromConductor["type"]> = Extract<FromConductor, { type: Type }>;

/** A connection to a node's conductor. */
export class Link {
  readonly messages: FromConductor[] = [];
  closed = false;
  readonly #socket: Socket;

  constructor(home: string) {
    const lines = new LineReader();
    this.#socket = createConnection(join(home, "socket"));
    this.#socket.on("data", (chunk: Buffer) => {
      for (const line of lines.push(chunk) ?? []) this.messages.push(JSON.parse(line));
    });
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => {
      this.closed = true;
    });
  }

  send(message: ToConductor): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  hello(owner = OWNER): void {
    this.send({ type: "hello", protocol: 3, frontEnd: `test ${owner.slice(0, 3)}`, owner });
  }

  all<Type extends FromConductor["type"]>(type: Type): Message<Type>[] {
    return this.messages.filter((message): message is Message<Type> => message.type === type);
  }

  /** The next message of this type. */
  async next<Type extends FromConductor["type"]>(type: Type): Promise<Message<Type>> {
    const before = this.all(type).length;
    await until(`a message of type ${type}`, () => this.all(type).length > before);
    return this.all(type)[before] as Message<Type>;
  }

  close(): void {
    this.#socket.destroy();
  }
}

export class ClusterNode {
  readonly home: string;
  /** Its monotonic clock minus ours, in ms. */
  readonly offsetMs: number;
  link: Link;
  readonly #process: ChildProcess;

  constructor(folder: string, index: number, cluster: string) {
    this.home = join(folder, `node${index}`);
    this.offsetMs = CLOCKS_APART_S * 1000 * (index + 1);
    mkdirSync(this.home, { mode: 0o700 });
    spawnSync("mkfifo", [join(this.home, "tasks")]);
    writeFileSync(join(this.home, "slurmd"), `set -- '${this.home}'\n${SLURMD}`);
    const command = `'${process.execPath}' '${PROGRAM}' '${this.home}' signals --cluster ${cluster}`;
    writeFileSync(
      join(this.home, "keeper"),
      `${NO_NODE_VARIABLES}\nwhile :; do ${command} 2>> '${this.home}/log'; sleep 0.2; done`,
    );
    const clock = ["--time", "--monotonic", String(this.offsetMs / 1000)];
    const words = ["--pid", "--fork", "--kill-child", "--mount-proc", ...clock, "sh", "-c", NODE, this.home];
    // As many users have it: a conductor must not get it.
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt" };
    this.#process = spawn("unshare", words, { stdio: "ignore", cwd: "/", env });
    this.link = new Link(this.home);
  }

  /** Connects, again if necessary, until the conductor answers. */
  async connect(): Promise<Message<"state">> {
    let state: Message<"state"> | undefined;
    const end = monotonicMs() + 15_000;
    while (state === undefined && monotonicMs() < end) {
      this.link.close();
      this.link = new Link(this.home);
      const { link } = this;
      link.hello();
      await until("an answer", () => link.closed || link.all("state").length > 0, 20_000).catch(() => {});
      state = link.all("state")[0];
      if (state === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    if (state === undefined) throw new Error(`No conductor in ${this.home}: ${this.log()}`);
    return state;
  }

  log(): string {
    const path = join(this.home, "log");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Starts a command there as Slurm starts a task: its parent is not our program. */
  startTask(command: string): void {
    appendFileSync(join(this.home, "tasks"), `${command}\n`);
  }

  /** The cluster starts another keeper there, after the first one has ended. */
  startKeeper(): void {
    this.startTask(`exec sh ${this.home}/keeper`);
  }

  /** Pids, as we see them, of processes with this command. */
  pidsOf(part: string): number[] {
    const own = this.#namespace();
    const found = spawnSync("pgrep", ["-f", part], { encoding: "utf8" }).stdout.trim().split("\n");
    return found.map(Number).filter((pid) => pid > 0 && namespaceOf(pid) === own);
  }

  conductorPid(): number {
    return this.pidsOf(`^tutti-conductor ${this.home}`)[0] ?? 0;
  }

  /** Living processes on this node with a mark that begins so. */
  marked(marks: string): number[] {
    const own = this.#namespace();
    return marked(marks).filter((pid) => namespaceOf(pid) === own);
  }

  /** The node loses its power. */
  stop(): void {
    this.link.close();
    this.#process.kill("SIGKILL");
  }

  #namespace(): string {
    const [first = 0] = spawnSync("pgrep", ["-P", String(this.#process.pid)], { encoding: "utf8" })
      .stdout.trim()
      .split("\n")
      .map(Number);
    return namespaceOf(first) ?? "none";
  }
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

/**
 * A front end with conductors that turn the same rows. Jobs 1 … 9 are on all nodes. A job with a higher
 * number is on one node only, that of its last digit.
 */
export class ClusterStage {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-cluster-"));
  readonly name = `test-${createHash("sha256").update(this.folder).digest("hex").slice(0, 8)}`;
  readonly nodes: readonly ClusterNode[];
  /** Of all nodes, on our clock. */
  epochMs = 0;
  slotMs = 100;
  #sequence = 0;

  constructor(nodes: number) {
    this.nodes = Array.from({ length: nodes }, (_, i) => new ClusterNode(this.folder, i, this.name));
  }

  node(index: number): ClusterNode {
    const node = this.nodes[index];
    if (node === undefined) throw new Error(`There is no node ${index}`);
    return node;
  }

  /** Connects to all nodes and gives them a grid with slot 0 at this moment. */
  async ready(slotMs: number): Promise<void> {
    for (const node of this.nodes) await node.connect();
    this.slotMs = slotMs;
    this.grid(monotonicMs());
  }

  /** @param stopAtMs when the nodes are taken away, on our clock; left out: they stay */
  grid(epochMs: number, stopAtMs?: number): void {
    this.epochMs = epochMs;
    for (const { link, offsetMs } of this.nodes) {
      link.send({
        type: "grid",
        epochMs: epochMs + offsetMs,
        ...(stopAtMs !== undefined && { stopAtMs: stopAtMs + offsetMs }),
      });
    }
  }

  /** The present slot. */
  slot(): number {
    return Math.floor((monotonicMs() - this.epochMs) / this.slotMs);
  }

  /** The slot of an instant of the wall clock, as a job on any node writes it. */
  slotOf(unixMs: number): number {
    return Math.floor((unixMs - Date.now() + monotonicMs() - this.epochMs) / this.slotMs);
  }

  async untilSlot(slot: number): Promise<void> {
    await until(`slot ${slot}`, () => this.slot() >= slot, 60_000);
  }

  matrix(rows: readonly (readonly PlacedGang[])[], more: Partial<ConductorMatrix> = {}): ConductorMatrix {
    const { slotMs } = this;
    return { sequence: ++this.#sequence, slotMs, mode: "gang", strict: true, rows, ...more };
  }

  /** All nodes have this matrix in force from the slot on; by default, from the one after the next. */
  async turn(matrix: ConductorMatrix, atSlot = this.slot() + 2): Promise<number> {
    const { sequence } = matrix;
    this.nodes.forEach(({ link }, i) => {
      const rows = matrix.rows.map((row) => row.filter(({ job }) => job < 10 || job % 10 === i));
      link.send({ type: "stage", matrix: { ...matrix, rows } });
    });
    await this.#answers((link) => link.all("staged").some((staged) => staged.sequence === sequence));
    for (const { link } of this.nodes) link.send({ type: "turn", sequence, atSlot });
    await this.#answers((link) => link.all("turning").some((turning) => turning.sequence === sequence));
    return atSlot;
  }

  async #answers(isThere: (link: Link) => boolean): Promise<void> {
    await until("all nodes have answered", () => this.nodes.every(({ link }) => isThere(link)));
  }

  folderOf(job: number): string {
    return join(this.folder, `job${job}`);
  }

  member(job: number, ranks: readonly number[], more: Partial<MemberSpec> = {}): MemberSpec {
    const folder = this.folderOf(job);
    mkdirSync(folder, { recursive: true });
    return {
      job,
      attempt: 1,
      identity: identityOf(job),
      folder,
      graceMs: 300,
      nodes: this.nodes.map((_, i) => `node${i}`),
      tasksRun: ranks.length === 0 ? "once" : "each",
      ranks,
      ...own(),
      ...more,
    };
  }

  spec(job: number, script: string, more: Partial<LaunchSpec> = {}): LaunchSpec {
    const folder = this.folderOf(job);
    mkdirSync(folder, { recursive: true });
    return {
      job,
      attempt: 1,
      identity: identityOf(job),
      folder,
      command: ["sh", "-c", script],
      cwd: this.folder,
      env: { PATH: process.env.PATH ?? "" },
      stdout: join(folder, "out"),
      stderr: join(folder, "err"),
      graceMs: 300,
      ...own(),
      ...more,
    };
  }

  out(job: number): string {
    const path = join(this.folderOf(job), "out");
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  /** Living processes of the job on all nodes. */
  marked(job: number): number[] {
    return marked(`tutti-${this.name}/${job}.`);
  }

  async end(node: ClusterNode, job: number): Promise<AttemptEnd> {
    const ends = () => node.link.all("ended").filter(({ end }) => end.job === job);
    await until(`job ${job} has ended`, () => ends().length > 0, 40_000);
    return (ends()[0] as Message<"ended">).end;
  }

  /** Kills all jobs and removes their folders, so that the next test finds none. */
  async killJobs(): Promise<void> {
    for (const node of this.nodes) {
      const { attempts } = await node.connect();
      for (const { job, attempt } of attempts) {
        const key = { job, attempt };
        node.link.send({ type: "stop", attempt: key, kill: true, reason: "cancelled" });
        await this.end(node, job);
        node.link.send({ type: "forget", attempt: key });
      }
    }
    for (const name of readdirSync(this.folder)) {
      if (/^job\d+$/.test(name)) rmSync(join(this.folder, name), { recursive: true });
    }
  }

  /** Ends everything. */
  async clear(): Promise<void> {
    for (const node of this.nodes) node.stop();
    const left = () => this.nodes.flatMap(({ home }) => pidsNaming(home));
    await until("all nodes have ended", () => left().length === 0, 8000).catch(() => {});
    const alive = left();
    for (const pid of alive) signal(pid, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    if (alive.length > 0) throw new Error(`Processes are left: ${alive.join(", ")}`);
  }
}

function own() {
  return { uid: process.getuid!(), gid: process.getgid!() };
}

function identityOf(job: number): string {
  return createHash("sha256").update(String(job)).digest("hex").slice(0, 32);
}

function pidsNaming(path: string): number[] {
  const found = spawnSync("pgrep", ["-f", path], { encoding: "utf8" }).stdout.trim().split("\n");
  return found.map(Number).filter((pid) => pid > 0);
}
