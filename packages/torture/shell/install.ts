/** Puts a shell and the commands of scripts onto a machine. */
import type { Machine, Program } from "../world/contract.ts";
import { awk } from "./awk.ts";
import { COMMANDS, programOf } from "./commands.ts";
import { startShell } from "./start.ts";

export function installShell(machine: Machine): void {
  const install = (name: string, program: Program) => {
    machine.install(`/usr/bin/${name}`, program);
    machine.install(`/bin/${name}`, program);
  };
  for (const name of ["sh", "dash", "bash"]) install(name, (sys) => startShell(sys, name === "bash"));
  for (const [name, command] of Object.entries(COMMANDS)) install(name, programOf(name, command));
  install("awk", programOf("awk", awk));
}
