/** Makes one file that runs without Node: a script and, behind it, an archive that it unpacks once. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { copyProgram, place, revisionS, root, setModes, version } from "./program.ts";

export function makeExecutable(out: string): string {
  const folder = mkdtempSync(join(tmpdir(), "tutti-executable-"));
  try {
    copyProgram(folder);
    place("python/tutti.py", join(folder, "python/tutti.py"));
    place("packaging/executable/executable.js", join(folder, "bin/executable.js"));
    setModes(folder, ["node"]);
    const file = join(out, `tutti-${version}-linux-${process.arch}`);
    writeFileSync(file, unpacking(folder, revisionS()), { mode: 0o755 });
    return file;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The bytes of an executable that unpacks a program and runs it.
 * @param folder with `node` and `bin/executable.js`
 * @param timeS Unix time of all files in it
 */
export function unpacking(folder: string, timeS: number): Buffer {
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${timeS}`];
  const tar = execFileSync("tar", ["-cf", "-", ...same, "-C", folder, "."], { maxBuffer: 2 ** 30 });
  const archive = gzipSync(tar, { level: 9 });
  const script = readFileSync(join(root, "packaging/executable/unpack.sh"), "utf8");
  const values: Readonly<Record<string, string>> = {
    VERSION: version,
    ARCH: process.arch,
    // Two builds of one version do not share a folder.
    HASH: createHash("sha256").update(archive).digest("hex").slice(0, 12),
    LINES: String(script.split("\n").length),
  };
  const header = script.replace(/@([A-Z]+)@/g, (_, name: string) => values[name]);
  return Buffer.concat([Buffer.from(header), archive]);
}
