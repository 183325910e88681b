/** The policies of pilots: those that follow the queue, and one of all nodes that is always held. */
import { ModelError } from "@tutti/kernel/core/errors.ts";
import type { NodeKind } from "@tutti/kernel/core/node-plan.ts";
import { choice, integer, number } from "@tutti/kernel/core/parameters.ts";
import {
  NONE,
  type ParameterValues,
  type PolicyChoice,
  type SpacePolicyDefinition,
  setNumber,
  when,
} from "@tutti/kernel/core/policy.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { conservative } from "@tutti/kernel/policies/space/conservative.ts";
import { easy } from "@tutti/kernel/policies/space/easy.ts";
import { fcfs } from "@tutti/kernel/policies/space/fcfs.ts";
import { firstFit } from "@tutti/kernel/policies/space/first-fit.ts";
import type { PilotAsks, PilotsInstance, PilotsPolicyDefinition } from "./contract.ts";
import { BEGIN_S } from "./machine.ts";

/** Policies that can withdraw jobs, in the order in which help lists them. */
const QUEUES: readonly SpacePolicyDefinition[] = [easy, fcfs, firstFit, conservative];

const QUEUE = choice(
  "queue",
  QUEUES.map(({ name }) => name),
  "which policy decides on each pilot",
);

const MOST_NODES = 1_000_000;
const MOST_S = 1e9;

/** Integers of nodes; none: as many as the description says. */
function nodes(name: string, description: string) {
  return integer(name, { min: 1, max: MOST_NODES, default: NONE, noneFrom: 0 }, description);
}

const elastic: PilotsPolicyDefinition = {
  name: "pilots-elastic",
  title: "Pilots that follow the queue",
  summary: "Pilots are asked for because jobs wait, and go back when nothing uses them.",
  rules: [
    "jobs that wait are taken in order, at most 200 of them; the first that no pilot on its way will hold chooses the kind of the next pilot, the first kind that can hold it",
    "further jobs that this kind can hold make the pilot wider, and longer until all of them can have run; a minute for the start and `stop` are added, up to whole minutes",
    "of each kind, one pilot at a time is on its way; a job that waits only because others run asks for another pilot within `most` nodes of all pilots; for a job that no pilot can take, pilots that drain do not count",
    "a pilot on which nothing runs, and that no waiting job could use, goes back after `idle` seconds, at once if a job waits for others",
    "a pilot on which nothing runs goes back at once if it drains and another one runs that does not, and at the latest at its stop",
    ...when(
      ({ idle }) => idle === NONE,
      ["idle=none: a pilot is asked for whenever all others drain, and none goes back because it is idle"],
    ),
    ...when(
      ({ narrow }) => narrow !== NONE,
      [
        "narrow: a first kind of pilots, of 1 to that many nodes, is asked for if it can hold the job; other jobs need the second kind",
      ],
    ),
    ...when(
      ({ hours }) => hours !== NONE,
      [
        "hours: what pilots that are gone have used and what the others may still use is at most that many node-hours; a pilot that needs more is not asked for",
      ],
    ),
  ],
  source: "docs/slurm.md, several pilots at once; core/node-plan.ts",
  parameters: [
    QUEUE,
    number(
      "idle",
      { min: 0, max: MOST_S, default: 300, unit: "s", noneFrom: -1 },
      "time without work after which a pilot goes back; none: never, and one is always held",
    ),
    integer("min", { min: 1, max: MOST_NODES, default: 1 }, "nodes of a pilot, at least"),
    nodes("max", "nodes of a pilot, at most; none: as `most`"),
    nodes("narrow", "a first kind of pilots, of 1 to that many nodes; none: there is only one kind"),
    number(
      "shortest",
      { min: 1, max: MOST_S, default: 600, unit: "s" },
      "time limit of a pilot, at least; longer than `drain`",
    ),
    number(
      "longest",
      { min: 1, max: MOST_S, default: NONE, unit: "s", noneFrom: 0 },
      "time limit of a pilot, at most; none: as the longest limit of a job needs",
    ),
    nodes("most", "nodes of all pilots together that do not drain; none: those of the site"),
    number(
      "hours",
      { min: 0.001, max: 1e12, default: NONE, unit: "h", noneFrom: 0 },
      "node-hours that pilots may ask for; none: any number",
    ),
  ],
  guarantees: () => ({}),
  settings: (parameters, instance) => ({
    queue: queueOf(parameters),
    asks: asksOf(parameters, instance),
  }),
};

export const fixed: PilotsPolicyDefinition = {
  name: "pilots-fixed",
  title: "One pilot of all nodes",
  summary: "One pilot holds all nodes of the site from the first job until the last one has ended.",
  rules: [
    "one pilot of all nodes runs when the first job comes, has no limit, and goes back when all have ended",
  ],
  source: "what a cluster of your own costs",
  parameters: [QUEUE],
  guarantees: () => ({}),
  settings: (parameters) => ({ queue: queueOf(parameters), asks: undefined }),
};

export const PILOTS_POLICIES: readonly PilotsPolicyDefinition[] = [elastic, fixed];

function queueOf({ queue }: ParameterValues): PolicyChoice<SpacePolicyDefinition> {
  const definition = QUEUES.find(({ name }) => name === queue)!;
  const { parameters, label } = makeChoice(definition);
  return { definition, parameters, label };
}

function asksOf(parameters: ParameterValues, { site, jobs }: PilotsInstance): PilotAsks {
  const maxNodes = setNumber(parameters.most) ?? site.nodes;
  const [max, narrow] = [setNumber(parameters.max) ?? maxNodes, setNumber(parameters.narrow)];
  const min = Number(parameters.min);
  const refuse = (name: string, value: unknown, expected: string): never => {
    throw new ModelError(`Cannot use ${name}=${value}: expected ${expected}`);
  };
  if (maxNodes > site.nodes) refuse("most", maxNodes, `at most ${site.nodes}, the nodes of the site`);
  if (max > maxNodes) refuse("max", max, `at most ${maxNodes}, the nodes of all pilots together`);
  if (min > max) refuse("min", min, `at most ${max}, the largest number of nodes of a pilot`);
  if (narrow !== undefined && narrow > max)
    refuse("narrow", narrow, `at most ${max}, the largest number of nodes of a pilot`);
  const timeS = timesOf(parameters, { site, jobs });
  const cpus = { min: site.cpusPerNode, max: site.cpusPerNode };
  const wide: NodeKind = { name: "wide", nodes: { min, max }, cpus, timeS };
  return {
    kinds:
      narrow === undefined ? [wide] : [{ ...wide, name: "narrow", nodes: { min: 1, max: narrow } }, wide],
    maxNodes,
    maxNodeS: 3600 * (setNumber(parameters.hours) ?? Number.POSITIVE_INFINITY),
    idleS: setNumber(parameters.idle) ?? Number.POSITIVE_INFINITY,
  };
}

function timesOf(parameters: ParameterValues, { site, jobs }: PilotsInstance): NodeKind["timeS"] {
  const min = Number(parameters.shortest);
  if (min <= site.drainS)
    throw new ModelError(
      `Cannot use shortest=${min} with drain=${site.drainS}: nothing could start, expected more than ${site.drainS}`,
    );
  const needed =
    jobs.estimateS.reduce((most, limitS) => Math.max(most, limitS), 0) + site.stopBeforeS + BEGIN_S;
  const max = setNumber(parameters.longest) ?? Math.max(min, needed);
  if (max < min)
    throw new ModelError(`Cannot use longest=${max} with shortest=${min}: expected at least ${min}`);
  return { min, max };
}
