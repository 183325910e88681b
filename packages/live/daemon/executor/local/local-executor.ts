/** Runs jobs on this machine: an executor with one node and one conductor. */

import { NodeTable, THIS_NODE } from "@tutti/kernel/core/machine.ts";
import type { FromClusterConductor, FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { type ClientOptions, ConductorClient } from "../../../conductor/client.ts";
import { concurrentMeansHere } from "../../../conductor/doctor.ts";
import type { Ability, Capabilities, Command, Executor, Report } from "../executor.ts";
import type { OwnCpus } from "./own-cpus.ts";

interface LocalOptions extends ClientOptions {
  /** CPUs that jobs may use. */
  readonly own: OwnCpus;
  readonly memoryBytes: number;
}

export const LOCAL: Capabilities = {
  tasksRunEach: false,
  takesInput: true,
  // Looked up when somebody asks: it depends on the rights of this user.
  get modeConcurrent(): Ability {
    return (
      concurrentMeansHere(undefined) !== "none" ||
      'this user cannot run gangs at low priority here, expected a cpu control group or the right to change scheduling classes; use the mode "gang", or start the scheduler as root or with CAP_SYS_NICE; tutti doctor shows what works here'
    );
  },
  canPause: true,
  beginsAtOnce: true,
  timeSharing: true,
  signalsBeforeLimit: true,
  resources: true,
  movesGangs: true,
  offByWord: "all jobs run on this machine",
  endsWithReboot: true,
  hasNodes: false,
};

export function localExecutor({ own, memoryBytes, ...options }: LocalOptions): Executor {
  const client = new ConductorClient(options);
  return {
    capabilities: LOCAL,
    capacity: { nodes: new NodeTable([{ node: THIS_NODE, cpus: own.cpus }]), memoryBytes, own },
    apply(commands) {
      // Nodes of this executor are never lost.
      for (const command of commands) if (!isForNodes(command)) client.send(messageOf(command));
    },
    listen(onReport, onDisconnect) {
      const onMessage = (message: FromConductor) => {
        const report = reportOf(message);
        if (report !== undefined) onReport(report);
      };
      client.on("message", onMessage).on("disconnect", onDisconnect);
      return () => {
        client.off("message", onMessage).off("disconnect", onDisconnect);
      };
    },
    close: () => client.close(),
  };
}

type ForNodes = Extract<Command, { readonly node: string }>;

/** Such commands are about one of many nodes. */
function isForNodes(command: Command): command is ForNodes {
  return "node" in command;
}

function messageOf(command: Exclude<Command, ForNodes>): ToConductor {
  if (command.type !== "matrix") return command;
  const { rows, ...matrix } = command.matrix;
  const ownRows = rows.map((gangs) =>
    gangs.map(({ job, attempt, nodes }) => ({ job, attempt, cpus: nodes.flatMap(({ cpus }) => cpus) })),
  );
  return { type: "matrix", matrix: { ...matrix, rows: ownRows } };
}

/** Undefined for a message that only a cluster's conductor sends. */
function reportOf(message: FromConductor): Report | undefined {
  if (message.type !== "state") return isOfCluster(message) ? undefined : message;
  const { attempts, sequence, epochMs, pid, freezer, limitsMemory } = message;
  const facts = { pid, freezer, limitsMemory };
  return { type: "connected", attempts, sequence, epochMs, facts };
}

function isOfCluster(message: FromConductor): message is FromClusterConductor {
  return ["output", "pong", "staged", "turning", "ready", "input-taken"].includes(message.type);
}
