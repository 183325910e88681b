/**
 * Which types of MPI srun starts here. Slurm starts MPI by a plugin; here, the launcher of the MPI library
 * does it, so a type is there if its launcher is on the PATH.
 */
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import type { Given } from "@tutti/cli/options/slurm-given.ts";
import { SlurmError } from "../errors.ts";

/** A program that starts the ranks of a library on this machine. */
export interface Launcher {
  /** Its full path. */
  readonly program: string;
  readonly kind: LauncherKind;
}

interface LauncherKind {
  readonly title: string;
  /** What to do if none is found. */
  readonly advice: string;
  readonly programs: readonly string[];
  /** In what the program says to --version. */
  readonly says: RegExp;
  /** The variable in which a rank finds its number. */
  readonly rank: string;
  /** Whether the launcher passes USR1 and USR2 on. If not, each rank is a process group of its own. */
  readonly passesSignals: boolean;
  /** @param isCrowded more ranks than CPUs */
  words(ranks: number, isCrowded: boolean): readonly string[];
  variables(ranks: number): Readonly<Record<string, string>>;
}

/** Without its parts for Slurm, which would look for a real one. */
const NOT_SLURM = "^slurm";

const OPEN_MPI: LauncherKind = {
  title: "Open MPI",
  advice: "install it (Debian: openmpi-bin) or load its module",
  programs: ["mpirun", "mpiexec", "orterun", "mpirun.openmpi"],
  says: /Open MPI/,
  rank: "OMPI_COMM_WORLD_RANK",
  // It could, but then it writes a line about every CONT, which a gang gets at each turn.
  passesSignals: false,
  words: (ranks, isCrowded) => [
    ...["-n", String(ranks), "--bind-to", "none"],
    ...(isCrowded ? ["--oversubscribe"] : []),
    // Slurm starts the ranks of root, too, and root's jobs are only those that root has submitted.
    ...(process.getuid?.() === 0 ? ["--allow-run-as-root"] : []),
  ],
  variables: (ranks) => ({
    OMPI_MCA_plm: NOT_SLURM,
    OMPI_MCA_ras: NOT_SLURM,
    PRTE_MCA_plm: NOT_SLURM,
    PRTE_MCA_ras: NOT_SLURM,
    OMPI_MCA_ess_base_forward_signals: "none",
    OMPI_MCA_orte_set_default_slots: String(ranks),
    PRTE_MCA_prte_set_default_slots: String(ranks),
  }),
};

const HYDRA: LauncherKind = {
  title: "MPICH",
  advice: "install it (Debian: mpich) or load its module",
  programs: ["mpiexec.hydra", "mpiexec.mpich", "mpiexec", "mpirun"],
  says: /HYDRA build/,
  rank: "PMI_RANK",
  passesSignals: true,
  words: (ranks) => ["-launcher", "fork", "-rmk", "user", "-n", String(ranks)],
  variables: () => ({}),
};

/** By the names that Slurm has for the protocols of these libraries. */
const TYPES: Readonly<Record<string, LauncherKind>> = { pmix: OPEN_MPI, openmpi: OPEN_MPI, pmi2: HYDRA };

/** What `srun --mpi=list` prints. */
export function listOfTypes(env: NodeJS.ProcessEnv): string {
  const found = Object.keys(TYPES).filter((type) => find(TYPES[type], env) !== undefined);
  return `MPI plugin types are...\n${[...found, "none"].map((type) => `\t${type}\n`).join("")}`;
}

/** The type that the option or the variable names. */
export function mpiType(options: Given, env: NodeJS.ProcessEnv): string {
  return options.get("mpi")?.value ?? (env.SLURM_MPI_TYPE || "none");
}

/**
 * Undefined: srun starts the ranks itself.
 * @throws SlurmError in Slurm's words for a plugin that is not there, and what to do
 */
export function launcherFor(type: string, env: NodeJS.ProcessEnv): Launcher | undefined {
  if (type === "none") return undefined;
  const kind = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  const launcher = kind && find(kind, env);
  if (launcher !== undefined) return launcher;
  const why =
    kind === undefined
      ? `Tutti knows ${Object.keys(TYPES).join(", ")} and none`
      : `the launcher of ${kind.title} is not on the PATH; ${kind.advice}`;
  throw new SlurmError(
    `Couldn't find the specified plugin name for mpi/${type} looking at all files\ncannot find mpi plugin for mpi/${type}\nInvalid MPI type '${type}', --mpi=list for acceptable types\n${why}`,
  );
}

function find(kind: LauncherKind, env: NodeJS.ProcessEnv): Launcher | undefined {
  for (const name of kind.programs) {
    for (const folder of (env.PATH ?? "").split(delimiter)) {
      if (!folder.startsWith("/")) continue;
      const program = join(folder, name);
      const { stdout, status } = spawnSync(program, ["--version"], {
        encoding: "utf8",
        env,
        timeout: 10_000,
      });
      // The first program of a name is the one that the user would get.
      if (status === null) continue;
      if (kind.says.test(stdout)) return { program, kind };
      break;
    }
  }
  return undefined;
}
