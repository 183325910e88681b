/**
 * Makes a wheel: the command `tutti` with its Node, and the module `tutti`. Node needs a library that a bare
 * machine lacks, so the wheel has it.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyProgram, place, revisionS, root, setModes, version } from "./program.ts";

/** The C library that Node needs at least, as PyPA names it: PEP 600. */
const PLATFORM = `manylinux_2_28_${process.arch === "x64" ? "x86_64" : "aarch64"}`;
/** Not in PyPA's list of libraries that every machine has. */
const LIBRARY = "libatomic.so.1";

/** @param method of Python's zipfile. A stored wheel is made in a third of the time, for tests. */
export function makeWheel(out: string, method: "ZIP_DEFLATED" | "ZIP_STORED" = "ZIP_DEFLATED"): string {
  const folder = mkdtempSync(join(tmpdir(), "tutti-wheel-"));
  try {
    const data = join(folder, `tutti-${version}.data`);
    const info = join(folder, `tutti-${version}.dist-info`);
    const program = join(data, "data/lib/tutti");
    copyProgram(program);
    mkdirSync(join(program, "lib"));
    copyFileSync(libraryFile(), join(program, "lib", LIBRARY));
    execFileSync("patchelf", ["--set-rpath", "$ORIGIN/lib", join(program, "node")]);
    place("packaging/wheel/tutti", join(data, "scripts/tutti"));
    place("python/tutti.py", join(folder, "tutti.py"));
    place("LICENSE", join(info, "licenses/LICENSE"));
    copyFileSync(join(program, "LICENSE.node"), join(info, "licenses/LICENSE.node"));
    copyFileSync("/usr/share/doc/libatomic1/copyright", join(info, "licenses/LICENSE.libatomic"));
    writeFileSync(join(info, "METADATA"), METADATA);
    writeFileSync(join(info, "WHEEL"), WHEEL);
    setModes(
      folder,
      [join(data, "scripts/tutti"), join(program, "node")].map((path) => path.slice(folder.length + 1)),
    );
    const file = join(out, `tutti-${version}-py3-none-${PLATFORM}.whl`);
    const pack = join(root, "packaging/wheel/pack.py");
    execFileSync("python3", [pack, folder, file, String(revisionS()), method]);
    return file;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where the compiler's library is on this machine. */
function libraryFile(): string {
  const known = execFileSync("/sbin/ldconfig", ["-p"], { encoding: "utf8" });
  const path = new RegExp(`${LIBRARY} .* => (\\S+)`).exec(known)?.[1];
  if (path === undefined) throw new Error(`Cannot make the wheel without ${LIBRARY}: apt install libatomic1`);
  return path;
}

const METADATA = `Metadata-Version: 2.4
Name: tutti
Version: ${version}
Summary: Gang scheduling for parallel jobs: a live scheduler, and a laboratory that replays traces
License-Expression: MIT
License-File: LICENSE
License-File: LICENSE.node
License-File: LICENSE.libatomic
Requires-Python: >=3.9
Provides-Extra: plot
Requires-Dist: matplotlib; extra == "plot"
Classifier: Operating System :: POSIX :: Linux
`;

const WHEEL = `Wheel-Version: 1.0
Generator: tutti ${version}
Root-Is-Purelib: false
Tag: py3-none-${PLATFORM}
`;
