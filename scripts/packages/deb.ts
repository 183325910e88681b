/** Makes Debian's package: the program with its own Node, the systemd units, completions and guides. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { GUIDES, REFERENCES } from "../site/guides.ts";
import { copyProgram, place, revisionS, root, setModes, version } from "./program.ts";

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const MAINTAINER_SCRIPTS = ["postinst", "prerm", "postrm"];
/** What Node needs is in these packages; what Tutti runs (setpriv, taskset) is in every Debian. */
const DEPENDS = "libc6 (>= 2.28), libstdc++6 (>= 8), libatomic1, debconf (>= 0.5) | debconf-2.0";
const DOCUMENTS = [...GUIDES, ...REFERENCES, "cli.md", "security.md", "tutti.toml"];

export function makeDeb(out: string): string {
  const folder = mkdtempSync(join(tmpdir(), "tutti-deb-"));
  try {
    const program = join(folder, "usr/lib/tutti");
    copyProgram(program);
    place("packaging/debian/tutti", join(folder, "usr/bin/tutti"));
    place("packaging/debian/tutti.toml", join(folder, "etc/tutti.toml"));
    place("packaging/systemd/tutti.service", join(folder, "usr/lib/systemd/system/tutti.service"));
    // The one for a user has another name: `systemctl --user enable tutti` finds it there.
    place("packaging/systemd/tutti-user.service", join(folder, "usr/lib/systemd/user/tutti.service"));
    place("python/tutti.py", join(folder, "usr/lib/python3/dist-packages/tutti.py"));
    const doc = join(folder, "usr/share/doc/tutti");
    for (const name of DOCUMENTS) place(`docs/${name}`, join(doc, name));
    place("README.md", join(doc, "README.md"));
    writeFileSync(join(doc, "copyright"), copyright(program));
    const changes = readFileSync(join(root, "CHANGELOG.md"));
    writeFileSync(join(doc, "changelog.gz"), gzipSync(changes, { level: 9 }));
    writeCompletions(program, join(folder, "usr/share"));
    setModes(folder, ["usr/bin/tutti", "usr/lib/tutti/node"]);
    const control = join(folder, "DEBIAN");
    mkdirSync(control);
    for (const name of [...MAINTAINER_SCRIPTS, "templates"])
      copyFileSync(join(root, "packaging/debian", name), join(control, name));
    writeFileSync(join(control, "conffiles"), "/etc/tutti.toml\n");
    writeFileSync(join(control, "control"), controlOf(sizeKiB(folder)));
    setModes(control, MAINTAINER_SCRIPTS);
    const file = join(out, `tutti_${version}_${ARCHITECTURES[process.arch]}.deb`);
    execFileSync("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", folder, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(revisionS()) },
      stdio: ["ignore", "ignore", "inherit"],
    });
    return file;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function controlOf(installedKiB: number): string {
  return `Package: tutti
Version: ${version}
Architecture: ${ARCHITECTURES[process.arch]}
Maintainer: Tutti's authors <tutti@localhost>
Installed-Size: ${installedKiB}
Depends: ${DEPENDS}
Suggests: python3 (>= 3.9)
Section: admin
Priority: optional
Description: gang scheduler for one machine or a Slurm cluster
 Tutti runs parallel jobs as gangs: all processes of a job run together, in
 turns, on shared processors. It has queues, backfilling, reservations, a web
 page, and a laboratory that replays traces of jobs through its policies.
 .
 This package contains its own Node, which only Tutti uses.
`;
}

function sizeKiB(folder: string): number {
  return Number(execFileSync("du", ["-sk", "--apparent-size", folder], { encoding: "utf8" }).split("\t")[0]);
}

/** All licences of what the package contains: Tutti, the libraries in its bundles, and Node. */
function copyright(program: string): string {
  const dist = join(program, "dist");
  const libraries = readdirSync(dist)
    .filter((name) => name.endsWith(".LEGAL.txt"))
    .sort()
    .map((name) => readFileSync(join(dist, name), "utf8"));
  const licence = readFileSync(join(program, "LICENSE"), "utf8");
  const node = readFileSync(join(program, "LICENSE.node"), "utf8");
  return [licence, "Libraries in its bundles:", ...libraries, "Node, in /usr/lib/tutti/node:", node].join(
    "\n\n",
  );
}

function writeCompletions(program: string, share: string): void {
  const places = { bash: "bash-completion/completions/tutti", zsh: "zsh/vendor-completions/_tutti" };
  for (const [shell, name] of Object.entries(places)) {
    const script = execFileSync(join(program, "node"), [join(program, "bin/tutti.js"), "completions", shell]);
    mkdirSync(join(share, name, ".."), { recursive: true });
    writeFileSync(join(share, name), script);
  }
}
