/** Runs the kill loop as a program of its own, so that an ordinary user can run it too. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { resultOf } from "../accounts.ts";
import type { KillCounts, KillPlan } from "./run.ts";
import type { Mode } from "./scheduler.ts";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

/** @param plan mode: left out: drawn. @returns the counts, and the command that repeats the run */
export async function killLoop({ seed, faults, mode }: Omit<KillPlan, "only"> & { readonly mode?: Mode }) {
  const words = ["--seed", String(seed), "--faults", String(faults), ...(mode ? ["--mode", mode] : [])];
  const command = `npx node test/kill-loop/main.ts ${words.join(" ")}`;
  const { status, stdout, stderr } = await resultOf(spawn(process.execPath, [program, ...words]));
  if (stdout === "") throw new Error(`${command} ended with ${status}, expected its counts: ${stderr}`);
  return { command, counts: JSON.parse(stdout) as KillCounts };
}
