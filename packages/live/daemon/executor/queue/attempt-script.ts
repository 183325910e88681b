/** The script of an attempt that is a job of a batch system. */
import { dirname } from "@tutti/host/ports/path.ts";
import { environmentInShell, quote } from "@tutti/host/shell.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { outputsElsewhere } from "../../../conductor/attempts/shim.ts";
import { beganFolder } from "./queued-attempt.ts";

/** What a batch system adds to the script. */
interface OwnParts {
  /** Lines that find out what the batch system has given, while its variables are still there. */
  readonly first?: readonly string[];
  /** Arms of `case $name in`, for variables of the batch system that the command sees. */
  readonly cases?: string;
  /** Whether a variable is of the batch system, so that the one of the submit does not replace it. */
  readonly isOwn?: (name: string) => boolean;
  /** Lines before the command. */
  readonly last?: readonly string[];
  /** In place of the attempt's command. */
  readonly words?: readonly string[];
}

export function scriptOf(spec: LaunchSpec, own: OwnParts = {}): string {
  const { cwd, command, env, stdout, stderr, umask = 0o022, openMode } = spec;
  const { first = [], cases = "", isOwn = () => false, last = [], words = command } = own;
  const { TUTTI_CPUS: _, ...kept } = env;
  const { exported, prefix } = environmentInShell(kept);
  return [
    "# The batch system may start a job again; its command runs once.",
    `mkdir ${quote(beganFolder(spec))} || exit 1`,
    `umask ${umask.toString(8).padStart(3, "0")}`,
    ...outputsElsewhere(spec).map((path) => `mkdir -p -- ${quote(dirname(path))}`),
    ...(openMode === "truncate" ? [`: >${quote(stdout)}; : >${quote(stderr)}`] : []),
    `exec </dev/null >>${quote(stdout)} 2>>${quote(stderr)}`,
    ...first,
    "# The environment is that of the submit, with the batch system's own variables.",
    "for name in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z_0-9]*\\)=.*/\\1/p'); do",
    `  case $name in ${cases}*) unset "$name" ;; esac`,
    "done",
    ...exported.filter(([name]) => !isOwn(name)).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...last,
    `cd ${quote(cwd)} || exit 126`,
    `exec ${prefix}${words.map(quote).join(" ")}`,
    "",
  ].join("\n");
}
