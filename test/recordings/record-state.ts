/**
 * Records what an earlier revision leaves on disk: `node test/recordings/record-state.ts REVISION FILE` runs
 * that revision's own scheduler and commands, and writes its store, compressed. It has to be run by root,
 * whose name is the same everywhere.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { root } from "../sources.ts";

const [revision, file] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "tutti-record-"));
const state = join(folder, "state");
/** Nothing of this machine gets into the recording. */
const env = {
  PATH: "/usr/bin:/bin",
  HOME: "/root",
  NO_COLOR: "1",
  TUTTI_STATE: state,
  TUTTI_SOCKET: join(folder, "run/tutti.sock"),
};

const archive = execFileSync("git", ["-C", root, "archive", revision], { maxBuffer: 2 ** 28 });
execFileSync("tar", ["-x", "-C", folder], { input: archive });
// Libraries from here, Tutti's own packages from that revision.
mkdirSync(join(folder, "node_modules/@tutti"), { recursive: true });
for (const name of readdirSync(join(root, "node_modules")))
  if (name !== "@tutti") symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
if (existsSync(join(folder, "packages")))
  for (const name of readdirSync(join(folder, "packages")))
    symlinkSync(join(folder, "packages", name), join(folder, "node_modules/@tutti", name));
const program = join(folder, "bin/tutti.js");
const submit = (...words: readonly string[]) =>
  execFileSync(process.execPath, [program, "submit", "--cwd", "/tmp", "-o", "/dev/null", ...words], { env });
const tutti = (...words: readonly string[]) => execFileSync(process.execPath, [program, ...words], { env });

const serve = spawn(process.execPath, [program, "serve", "--private", "--no-http"], { env });
serve.stderr.pipe(process.stderr);
await new Promise((ready) => serve.stdout.once("data", ready));
submit("--name", "fails", "--", "sh", "-c", "exit 41");
try {
  tutti("wait", "1");
} catch {
  // The job has failed.
}
submit("--name", "works", "-n", "2", "--time", "10m", "--priority", "3", "--", "true");
tutti("wait", "2");
submit("--name", "held", "--hold", "--retries", "2", "--", "sh", "-c", "exit 43");
submit("--name", "waits", "--after", "any:3", "--", "sh", "-c", "exit 44");
submit("--name", "array", "--hold", "-a", "1-3", "--", "sh", "-c", "exit $TUTTI_ARRAY_INDEX");
submit("--name", "cancelled", "--hold", "--", "true");
tutti("cancel", "8");
tutti("down");
if (serve.exitCode === null) await new Promise((ended) => serve.once("exit", ended));
// What is in the log gets into the file; the tables stay those of the revision.
const database = new DatabaseSync(join(state, "tutti.db"));
database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
const { latest } = database.prepare("SELECT max(number) AS latest FROM migrations").get()!;
database.close();
const store = zstdCompressSync(readFileSync(join(state, "tutti.db")));
writeFileSync(file, store);
console.log(`${revision}: version ${latest}, ${store.length} bytes`);
rmSync(folder, { recursive: true });
