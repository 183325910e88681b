/**
 * Runs OpenSSH's client. Keys, known hosts, agent and configuration are those of the user; Tutti asks for no
 * password and keeps none.
 */
import { spawn } from "@tutti/host/ports/child-process.ts";
import { once } from "@tutti/host/ports/events.ts";
import { type HostCommand, remoteCommand } from "./host-script.ts";
import type { Host } from "./hosts-file.ts";

/** A host that does not answer is given up after this time. */
const TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 2 ** 20;
/** Exit status of ssh itself. */
const SSH_FAILED = 255;
/**
 * They win over the configuration. Each connection is one of its own: it must end when the network is cut,
 * and must not end with another one.
 */
const FIRST = [
  "BatchMode=yes",
  "ControlMaster=no",
  "ControlPath=none",
  "ClearAllForwardings=yes",
  "RequestTTY=no",
];
/** Unless the user says otherwise. */
const USUAL = ["ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=3", "LogLevel=ERROR"];

const asOptions = (settings: readonly string[]) => settings.flatMap((setting) => ["-o", setting]);

/** @param words the user's options for ssh */
export function sshCommand(
  words: readonly string[],
  { destination, nodeProgram }: Host,
  command: Omit<HostCommand, "nodeProgram">,
): readonly [string, ...string[]] {
  const remote = remoteCommand({ ...command, nodeProgram });
  return ["ssh", ...asOptions(FIRST), ...words, ...asOptions(USUAL), "--", destination, remote];
}

export function sshEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: "C" };
}

/** What ssh, or the script on the host, said last, for people. */
export function lastWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  return (lines.at(-1) ?? "")
    .trim()
    .replace(/^ssh: /, "")
    .replace(/\.$/, "")
    .slice(0, 300);
}

/** What a person does about a failure, by what ssh said. */
const CURES: readonly (readonly [RegExp, (ssh: string, destination: string) => string])[] = [
  [/Host key verification failed/, (ssh, to) => `connect once by hand, and look at its key: ${ssh} ${to}`],
  [/Permission denied \(/, (_, to) => `ssh-copy-id ${to} puts your key there; ssh-keygen makes one`],
  [/Could not resolve hostname/, () => "correct its name, or give it an address in ~/.ssh/config"],
  [/Connection refused/, () => "start an ssh server there, or name its port in ~/.ssh/config"],
  [/timed out|No route to host|no answer for/, (ssh, to) => `is it on? try ${ssh} ${to} true`],
];

/** The failure of a connection, with what to do about it if that is known. */
export function withCure(failure: string, words: readonly string[], { destination }: Host): string {
  const cure = CURES.find(([said]) => said.test(failure))?.[1];
  return cure === undefined ? failure : `${failure}; ${cure(["ssh", ...words].join(" "), destination)}`;
}

interface Outcome {
  readonly stdout: string;
  /** Why it failed, for people; undefined: it did not. */
  readonly failure: string | undefined;
  /** The command on the host has failed, and not the way to it. */
  readonly isRemote: boolean;
}

/**
 * @param source a command whose output the remote command reads; left out: it reads nothing
 * @param timeoutMs without any output
 */
export async function runSsh(
  [program, ...args]: readonly [string, ...string[]],
  source?: readonly [string, ...string[]],
  timeoutMs = TIMEOUT_MS,
): Promise<Outcome> {
  const child = spawn(program, args, { cwd: "/", env: sshEnvironment() });
  let [stdout, stderr, problem] = ["", "", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout = (stdout + chunk.toString("utf8")).slice(-MAX_OUTPUT_BYTES);
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString("utf8")).slice(-MAX_OUTPUT_BYTES);
  });
  child.stdin.on("error", () => {});
  if (source === undefined) child.stdin.end();
  else {
    const [archiver, ...words] = source;
    const from = spawn(archiver, words, { cwd: "/" });
    from.stdin.end();
    from.on("error", (error) => {
      problem = `cannot run ${archiver}: ${error.message}`;
      child.kill("SIGKILL");
    });
    from.stdout.pipe(child.stdin);
  }
  const timer = setTimeout(() => {
    problem = `no answer for ${timeoutMs / 1000} s`;
    child.kill("SIGKILL");
  }, timeoutMs);
  child.on("error", (error) => {
    problem = error.message;
  });
  try {
    const [code] = (await once(child, "close").catch(() => [null])) as [number | null];
    if (code === 0 && problem === "") return { stdout, failure: undefined, isRemote: false };
    const said = problem === "" ? lastWords(stderr) : problem;
    const failure = said === "" ? `ssh ended with status ${code}` : said;
    return { stdout, failure, isRemote: problem === "" && code !== null && code !== SSH_FAILED };
  } finally {
    clearTimeout(timer);
  }
}
