/** Runs jobs on this machine: an executor with one node and one conductor. */
import { type ClientOptions, ConductorClient } from "../../conductor/client.ts";
import { concurrentMeansHere } from "../../conductor/doctor.ts";
import { NodeTable, THIS_NODE } from "../../core/machine.ts";
import type { FreezerKind } from "../../protocol/attempts.ts";
import type { FromConductor, ToConductor } from "../../protocol/conductor.ts";
import type { Command, Executor, Report } from "./executor.ts";

interface LocalOptions extends ClientOptions {
  /** CPUs that jobs may use, in ascending order. */
  readonly cpus: readonly number[];
  readonly memoryBytes: number;
}

export function localExecutor({ cpus, memoryBytes, ...options }: LocalOptions): Executor {
  const client = new ConductorClient(options);
  return {
    capacity: { nodes: new NodeTable([{ node: THIS_NODE, cpus }]), memoryBytes },
    apply(commands) {
      for (const command of commands) client.send(messageOf(command));
    },
    listen(onReport, onDisconnect) {
      const onMessage = (message: FromConductor) => onReport(reportOf(message));
      client.on("message", onMessage).on("disconnect", onDisconnect);
      return () => {
        client.off("message", onMessage).off("disconnect", onDisconnect);
      };
    },
    close: () => client.close(),
  };
}

/** Whether gangs of other rows can run at low priority on this machine, as the mode "concurrent" requires. */
export function canRunBehind(freezer: FreezerKind | undefined): boolean {
  return concurrentMeansHere(freezer) !== "none";
}

function messageOf(command: Command): ToConductor {
  if (command.type !== "matrix") return command;
  const { rows, ...matrix } = command.matrix;
  const ownRows = rows.map((gangs) =>
    gangs.map(({ job, attempt, nodes }) => ({ job, attempt, cpus: nodes.flatMap(({ cpus }) => cpus) })),
  );
  return { type: "matrix", matrix: { ...matrix, rows: ownRows } };
}

function reportOf(message: FromConductor): Report {
  if (message.type !== "state") return message;
  const { attempts, sequence, epochMs, pid, freezer, protocol } = message;
  const knowsIdentities = protocol === 2;
  return { type: "connected", attempts, sequence, epochMs, knowsIdentities, facts: { pid, freezer } };
}
