/**
 * What is carried to hosts: Node, and the programs that run there, with their checksums. The name of all is
 * the checksum of these, so programs of another version are other programs.
 */
import { createHash } from "@tutti/host/ports/crypto.ts";
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { fileURLToPath } from "@tutti/host/ports/url.ts";
import { DIST } from "@tutti/host/programs.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";

const PROGRAMS = ["conductor.mjs", "connect.mjs", "facts.mjs"];
/**
 * How ssh of an mpirun inside a job reaches other nodes of its gang: what it starts there belongs to the
 * gang.
 */
export const AGENT = "agent";
const AGENT_SCRIPT = `#!/bin/sh
# In place of ssh: mpirun calls it with options, a host, and a command.
set -f
options=
while :; do
  case $1 in
  -x | -n | -q | -tt | -t | -T) options="$options $1"; shift ;;
  -l | -p | -o | -F | -i) options="$options $1 $2"; shift 2 ;;
  *) break ;;
  esac
done
host=$1
shift
exec ssh -o BatchMode=yes $options "$host" "TUTTI_GANG=$TUTTI_GANG; export TUTTI_GANG; $*"
`;

export interface Carried {
  readonly checksum: string;
  /** Writes an archive of all to its standard output. */
  readonly archive: readonly [string, ...string[]];
}

/**
 * @param folder private; files that are not there yet are made in it
 * @param hasOwnNode the host has a Node of its own
 * @throws InputError if the programs are not built
 */
export function carried(folder: string, hasOwnNode: boolean): Carried {
  const source = fileURLToPath(new URL("carried/", DIST));
  const missing = PROGRAMS.find((name) => !existsSync(join(source, name)));
  if (missing !== undefined) {
    throw new InputError(
      `Cannot carry Tutti to other hosts: "${join(source, missing)}" is missing, expected the bundles; run npm run build`,
    );
  }
  const files = new Map([
    ...PROGRAMS.map((name) => [name, join(source, name)] as const),
    ...(hasOwnNode ? [] : [["node", process.execPath] as const]),
  ]);
  const sums = [...files].map(([name, path]) => `${sha256(readFileSync(path))}  ${name}\n`);
  sums.push(`${sha256(AGENT_SCRIPT)}  ${AGENT}\n`);
  const checksum = sha256(sums.join(""));
  const made = join(folder, `carried-${checksum}`);
  if (!existsSync(made)) {
    const fresh = mkdtempSync(join(folder, "carried."));
    writeFileSync(join(fresh, "sums"), sums.join(""));
    writeFileSync(join(fresh, AGENT), AGENT_SCRIPT, { mode: 0o755 });
    for (const [name, path] of files) symlinkSync(path, join(fresh, name));
    renameSync(fresh, made);
  }
  return { checksum, archive: ["tar", "-c", "-h", "-f", "-", "-C", made, ...files.keys(), "sums", AGENT] };
}

function sha256(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
