/** Starts the ranks of a program that needs no launcher: n copies of a command. */
import { type ChildProcess, type IOType, spawn } from "node:child_process";
import { gpuVariables, type RankPlan, rankVariables } from "./plan.ts";
import { endByCode, endBySignal, endOfMissing, type RankEnd, type StartedRanks } from "./started.ts";

export function startPlain(plan: RankPlan): StartedRanks {
  const { ranks, cwd, outputs, waitS } = plan;
  const children: ChildProcess[] = [];
  const ends: Promise<RankEnd>[] = [];
  for (let rank = 0; rank < ranks; rank++) {
    const stdio = outputs.stdioOf(rank);
    const command = plan.programs?.[rank] ?? plan.command;
    const child = spawn(command[0], command.slice(1), {
      stdio: [inputOf(plan, rank), stdio.out, stdio.err],
      env: { ...plan.env, ...gpusOf(plan, rank), ...rankVariables(rank, plan.step) },
      cwd,
    });
    children.push(child);
    ends.push(endOf(child, rank, command[0]));
  }
  const signal = (name: NodeJS.Signals) => {
    for (const child of children) child.kill(name);
  };
  if (plan.killOnFailure) {
    for (const end of ends) end.then(({ code }) => code !== 0 && signal("SIGTERM"));
  }
  if (waitS !== undefined) {
    Promise.race(ends).then(() => {
      const timer = setTimeout(() => {
        process.stderr.write(`srun: First task exited ${waitS}s ago\n`);
        signal("SIGKILL");
      }, 1000 * waitS);
      Promise.all(ends).then(() => clearTimeout(timer));
    });
  }
  return {
    streams: children,
    ends: Promise.all(ends),
    code: (all) => Math.max(...all.map(({ code }) => code)),
    signal,
  };
}

/** The next ones of the job's list for each rank. */
function gpusOf(plan: RankPlan, rank: number): NodeJS.ProcessEnv {
  const { env, gpusEach = 0 } = plan;
  return Object.fromEntries(
    gpuVariables(plan).map((name) => {
      const units = (env[name] ?? "").split(",");
      return [name, units.slice(rank * gpusEach, (rank + 1) * gpusEach).join(",")];
    }),
  );
}

function inputOf({ ranks, isInTerminal }: RankPlan, rank: number): IOType {
  if (isInTerminal) return rank === 0 ? "inherit" : "ignore";
  return ranks === 1 ? "inherit" : "pipe";
}

function endOf(child: ChildProcess, rank: number, program: string): Promise<RankEnd> {
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(endOfMissing(rank, program, error)));
    // All output has arrived when the streams are closed.
    child.on("close", (code, signal) =>
      resolve(signal === null ? endByCode(rank, code ?? 1) : endBySignal(rank, signal)),
    );
  });
}
