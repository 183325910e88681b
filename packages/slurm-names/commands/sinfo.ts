/** `sinfo`: lists queues as partitions, and the nodes. */
import { type Command, refuseOptions, writeOut } from "../command.ts";
import { type Machine, type Partition, readMachine, SHORT_STATES } from "../job/machine.ts";
import { patientClient } from "../patient-client.ts";
import { type Column, partsOfLetters, tableText } from "../text/columns.ts";

interface Row {
  readonly machine: Machine;
  readonly partition: Partition;
  readonly nodes: readonly string[];
}

const column = (header: string, value: (row: Row) => string): Column<Row> => ({ header, value });
const shares = (total: number, busy: number, isDrained: boolean) =>
  isDrained ? `${busy}/0/${total - busy}/${total}` : `${busy}/${total - busy}/0/${total}`;
const isDrained = ({ state }: Machine) => state === "drained" || state === "draining";
const perNode = ({ machine, nodes }: Row, total: number) =>
  String(Math.floor(total / Math.max(1, Math.max(machine.nodes.length, nodes.length))));
const nodeShares = ({ machine, nodes }: Row) =>
  shares(nodes.length, machine.busyCpus > 0 ? nodes.length : 0, isDrained(machine));
const name = ({ partition }: Row) => `${partition.name}${partition.isDefault ? "*" : ""}`;

const LETTERS: Readonly<Record<string, Column<Row>>> = {
  a: column("AVAIL", () => "up"),
  A: column("NODES(A/I)", (row) => nodeShares(row).split("/").slice(0, 2).join("/")),
  b: column("ACTIVE_FEATURES", () => "(null)"),
  B: column("MAX_CPUS_PER_NODE", () => "UNLIMITED"),
  c: column("CPUS", (row) => perNode(row, row.machine.cpus)),
  C: column("CPUS(A/I/O/T)", ({ machine }) => shares(machine.cpus, machine.busyCpus, isDrained(machine))),
  D: column("NODES", ({ nodes }) => String(nodes.length)),
  E: column("REASON", ({ machine }) => (isDrained(machine) ? "drained by an administrator" : "none")),
  f: column("AVAIL_FEATURES", () => "(null)"),
  F: column("NODES(A/I/O/T)", nodeShares),
  G: column("GRES", ({ machine }) => machine.gres),
  h: column("OVERSUBSCRIBE", () => "NO"),
  l: column("TIMELIMIT", ({ partition }) => partition.limit),
  L: column("DEFAULTTIME", () => "n/a"),
  m: column("MEMORY", ({ machine }) => String(machine.memoryMiB)),
  n: column("HOSTNAMES", ({ nodes }) => nodes.join(",")),
  N: column("NODELIST", ({ nodes }) => nodes.join(",")),
  p: column("PRIO_TIER", () => "1"),
  P: column("PARTITION", name),
  r: column("ROOT", () => "no"),
  R: column("PARTITION", ({ partition }) => partition.name),
  s: column("JOB_SIZE", () => "1-infinite"),
  t: column("STATE", ({ machine }) => SHORT_STATES[machine.state]),
  T: column("STATE", ({ machine }) => machine.state),
};

const USUAL = "%9P %.5a %.10l %.6D %.6t %N";
const SUMMARY = "%9P %.5a %.10l %.16F %N";
const NODES = "%9N %.6D %.9P %6t";

export const sinfo: Command = {
  options:
    "all,a clusters,M= dead,d exact,e federation format,o= Format,O= future,F help hide iterate,i= json list-reasons,R local long,l nodes,n= noconvert noheader,h Node,N partition,p= reservation,T responding,r sort,S= states,t= summarize,s usage verbose,v version,V yaml",
  usage: "sinfo [-h] [-s | -N] [-p QUEUES] [-t STATES] [-n NODES] [-o FORMAT]",
  async run({ options }) {
    refuseOptions(
      options,
      ["json", "yaml", "Format", "iterate", "list-reasons", "reservation"],
      "sinfo -o, tutti status or tutti window list",
    );
    const machine = await readMachine(await patientClient());
    const partitions = options.partition?.split(",");
    const nodes = options.nodes?.split(",");
    const states = options.states?.toLowerCase().split(",");
    const isIn =
      states === undefined ||
      states.some((state) => ["all", machine.state, SHORT_STATES[machine.state]].includes(state));
    const shown = machine.nodes.filter((node) => nodes?.includes(node) ?? true);
    const isByNode = "Node" in options;
    const rows = machine.partitions
      .filter((partition) => isIn && shown.length > 0 && (partitions?.includes(partition.name) ?? true))
      .flatMap((partition): Row[] =>
        isByNode
          ? shown.map((node) => ({ machine, partition, nodes: [node] }))
          : [{ machine, partition, nodes: shown }],
      );
    const format =
      options.format ??
      process.env.SINFO_FORMAT ??
      (isByNode ? NODES : "summarize" in options ? SUMMARY : USUAL);
    writeOut(tableText(partsOfLetters(format, LETTERS), rows, !("noheader" in options)));
  },
};
