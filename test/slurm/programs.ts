/** Compiles the programs of test/slurm/tasks, which record when they ran. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Programs {
  /** `busy FOLDER SECONDS` computes. */
  readonly busy: string;
  /** `beat FILE BEATS STATUS` gives signs of life. */
  readonly beat: string;
  /** `ring FOLDER ROUNDS MIN_SECONDS` exchanges messages by MPI and checks them. */
  readonly ring: string;
  /** `grain ROUNDS STEPS` computes and exchanges in turn. */
  readonly grain: string;
}

/** @param folder for the programs */
export function compilePrograms(folder: string): Programs {
  const compile = (compiler: string, name: string) => {
    const source = fileURLToPath(new URL(`tasks/${name}.c`, import.meta.url));
    const program = join(folder, name);
    execFileSync(compiler, ["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program, source]);
    return program;
  };
  return {
    busy: compile("gcc", "busy"),
    beat: compile("gcc", "beat"),
    ring: compile("mpicc", "ring"),
    grain: compile("mpicc", "grain"),
  };
}
