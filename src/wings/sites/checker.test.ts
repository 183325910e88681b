import { describe, expect, test } from "vitest";
import type { RuleViolation } from "../../core/errors.ts";
import { NO_JOB, type ReadonlyColumn } from "../../core/jobs.ts";
import { parseParameters } from "../../core/parameters.ts";
import type { Policy } from "../../core/policy.ts";
import { SitesChecker } from "./checker.ts";
import type { SitesInstance, SitesMachine, SitesPolicyDefinition } from "./contract.ts";
import { GRID } from "./contract.ts";
import { oneSite } from "./policies.ts";
import { simulateSites } from "./simulate.ts";
import { sitesOf, smallInstance } from "./sites-for-tests.ts";
import { generateSites, POWER_OF_TWO_GANGS } from "./workload.ts";

/** Busy enough that every rule matters; some of the gangs are critical. */
const { instance: busy } = generateSites({
  sites: sitesOf(8, 4),
  localEveryS: [0.2, 0.4],
  gangEveryS: 1.5,
  gangSizes: POWER_OF_TWO_GANGS.slice(0, 3),
  serviceS: 1,
  splitOverhead: 0.1,
  criticalShare: 0.3,
  count: 2000,
  seed: 8,
  replication: 0,
});

/**
 * Runs a definition under the checker, which holds it to the guarantees of approach 1; returns the broken
 * rule.
 */
function brokenRule(definition: SitesPolicyDefinition, settings: string[] = [], instance = busy): string {
  const honest = parseParameters("", oneSite.parameters, []);
  const checker = new SitesChecker(instance, oneSite.guarantees(honest));
  try {
    const parameters = parseParameters("", definition.parameters, settings);
    checker.finished(simulateSites(instance, definition, parameters, { observer: checker }));
  } catch (error) {
    return (error as RuleViolation).rule ?? String(error);
  }
  return "none";
}

/** Approach 1 on a machine with some changed answers or actions. */
function onChangedMachine(change: (machine: SitesMachine) => Partial<SitesMachine>): SitesPolicyDefinition {
  return {
    ...oneSite,
    make: (machine, jobs, parameters) => {
      const changed = change(machine);
      const proxy = new Proxy(machine, {
        get: (target, key) => {
          const value = Reflect.get(key in changed ? changed : target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
      return oneSite.make(proxy, jobs, parameters);
    },
  };
}

/** The column with other values. */
function changedColumn(
  column: ReadonlyColumn,
  change: (value: number, row: number) => number,
): ReadonlyColumn {
  return new Proxy(column, { get: (target, row) => change(Reflect.get(target, row), Number(row)) });
}

/** Approach 1 with some of its hooks replaced. */
function withHooks(
  change: (policy: Policy, machine: SitesMachine) => Partial<Policy>,
): SitesPolicyDefinition {
  return {
    ...oneSite,
    make: (machine, jobs, parameters) => {
      const policy = oneSite.make(machine, jobs, parameters);
      const changed = change(policy, machine);
      return {
        depart: changed.depart ?? ((job) => policy.depart(job)),
        decide: changed.decide ?? ((arrived) => policy.decide(arrived)),
      };
    },
  };
}

describe("SitesChecker on schedulers that break a rule", () => {
  test("the honest scheduler passes, changed in nothing but its wrapping", () => {
    expect(brokenRule(oneSite)).toBe("none");
    expect(brokenRule(onChangedMachine(() => ({})))).toBe("none");
    expect(brokenRule(withHooks(() => ({})))).toBe("none");
  });

  test("a local job that passes for longer than the threshold", () => {
    expect(brokenRule(oneSite, ["threshold=0.5"])).toBe("backfill-too-long");
  });

  test("queues served from their tail", () => {
    const fromTail = onChangedMachine((machine) => ({
      firstLocal: changedColumn(machine.firstLocal, (first) => {
        let local = first;
        while (local !== NO_JOB && machine.nextLocal[local] !== NO_JOB) local = machine.nextLocal[local];
        return local;
      }),
    }));
    expect(brokenRule(fromTail)).toBe("out-of-turn");
  });

  test("a processor that is left idle", () => {
    let departures = 0;
    const forgetful = withHooks((policy, machine) => ({
      depart: (job) => {
        const isHeld = machine.waitingGang[machine.firstProcessor[job]] !== NO_JOB;
        if (isHeld || busy.size[job] > 1 || ++departures % 20 > 0) policy.depart(job);
      },
    }));
    expect(brokenRule(forgetful)).toBe("idle-with-work");
  });

  test("a gang put ahead of local jobs", () => {
    expect(brokenRule(oneSite, ["critical=ahead"])).toBe("gang-not-at-head");
  });

  test("a gang that passes another gang although that is not allowed", () => {
    expect(brokenRule(oneSite, ["idle=held"])).toBe("out-of-turn");
  });

  test("a gang that queues after another gang", () => {
    const blind = onChangedMachine((machine) => ({
      waitingGang: changedColumn(machine.waitingGang, () => NO_JOB),
      emptyQueues: changedColumn(
        machine.emptyQueues,
        (_, site) => machine.firstOfSite[site + 1] - machine.firstOfSite[site],
      ),
    }));
    expect(brokenRule(blind)).toMatch(/gang-behind-gang|gang-not-at-head/);
  });

  test("a gang left at the grid scheduler", () => {
    expect(brokenRule(oneSite, ["order=oldest"])).toBe("gang-left");
  });

  test("a gang that waits for fewer processors than it has tasks", () => {
    let claims = 0;
    const torn = onChangedMachine((machine) => ({
      claim: (gang, processor) => {
        if (++claims % 50 > 0) machine.claim(gang, processor);
      },
    }));
    expect(brokenRule(torn)).toBe("gang-torn");
  });

  test("a gang that does not start though its processors are idle", () => {
    const lazy = onChangedMachine((machine) => ({
      busyClaims: changedColumn(machine.busyClaims, (claims) => Math.max(1, claims)),
      startLocal: (local, processor, rule) => {
        if (machine.waitingGang[processor] === NO_JOB) machine.startLocal(local, processor, rule);
        else if (machine.firstLocal[processor] === NO_JOB) machine.enqueue(local, processor);
      },
    }));
    expect(brokenRule(lazy)).toBe("gang-held-up");
  });
});

describe("SitesChecker on events that cannot be", () => {
  const instance = smallInstance(sitesOf(2), [
    { submitS: 0, serviceS: 2 },
    { submitS: 0, serviceS: 1 },
    { submitS: 0, serviceS: 1, size: 2, home: GRID },
  ]);
  const ruleOf = (tell: (checker: SitesChecker) => void): string => {
    const checker = new SitesChecker(
      instance,
      oneSite.guarantees(parseParameters("", oneSite.parameters, [])),
    );
    for (const job of [0, 1, 2]) checker.arrived(0, job);
    try {
      tell(checker);
    } catch (error) {
      return (error as RuleViolation).rule ?? String(error);
    }
    return "none";
  };

  test.each<[string, (checker: SitesChecker) => void]>([
    ["none", (c) => [c.started(0, 0, 0, 0), c.started(0, 1, 1, 0), c.departed(1, 1), c.departed(2, 0)]],
    ["processor-twice", (c) => [c.started(0, 0, 0, 0), c.started(0, 1, 0, 0)]],
    ["started-twice", (c) => [c.started(0, 0, 0, 0), c.started(0, 0, 1, 0)]],
    ["unknown-processor", (c) => c.started(0, 0, 2, 0)],
    ["departure", (c) => [c.started(0, 0, 0, 0), c.departed(1, 0)]],
    ["departure", (c) => c.departed(0, 0)],
    ["arrival", (c) => c.arrived(0, 0)],
    ["time", (c) => [c.started(1, 0, 0, 0), c.started(0, 1, 1, 0)]],
    ["queued-twice", (c) => [c.enqueued(0, 0, 0), c.enqueued(0, 0, 1)]],
    ["other-queue", (c) => [c.enqueued(0, 0, 0), c.started(0, 0, 1, 1)]],
    ["out-of-turn", (c) => [c.enqueued(0, 0, 0), c.started(0, 1, 0, 0)]],
    ["gang-torn", (c) => [c.claimed(0, 2, 0), c.claimed(0, 2, 1), c.started(0, 2, 0, 4), c.decided(0)]],
    ["gang-torn", (c) => [c.started(0, 2, 0, 3), c.decided(0)]],
    ["gang-torn", (c) => [c.claimed(0, 2, 0), c.decided(0)]],
    ["gang-held-up", (c) => [c.claimed(0, 2, 0), c.claimed(0, 2, 1), c.decided(0)]],
    ["gang-behind-gang", (c) => [c.claimed(0, 2, 0), c.claimed(0, 2, 0)]],
  ])("%s", (rule, act) => {
    expect(ruleOf(act)).toBe(rule);
  });

  test("a schedule whose sums differ from the events", () => {
    const parameters = parseParameters("", oneSite.parameters, []);
    const brokenRule = (instance: SitesInstance, change: object): string => {
      const checker = new SitesChecker(instance, oneSite.guarantees(parameters));
      const schedule = simulateSites(instance, oneSite, parameters, { observer: checker });
      try {
        checker.finished({ ...schedule, ...change });
      } catch (error) {
        return (error as RuleViolation).rule;
      }
      return "none";
    };
    expect(brokenRule(instance, {})).toBe("none");
    expect(brokenRule(instance, { busyS: [4.5] })).toBe("accounting");
    expect(brokenRule(instance, { completed: 2 })).toBe("accounting");
  });
});

describe("SimulatedSites refuses what the machine does not allow", () => {
  const instance = smallInstance(sitesOf(2, 1), [
    { submitS: 0, serviceS: 5 },
    { submitS: 0, serviceS: 5, size: 2, home: GRID },
    { submitS: 0, serviceS: 5, home: 1 },
    { submitS: 9, serviceS: 5 },
  ]);
  /** The rule that an action in the first decision breaks. */
  const refused = (act: (machine: SitesMachine) => void): string => {
    const definition: SitesPolicyDefinition = {
      ...oneSite,
      make: (machine) => ({ depart: () => {}, decide: () => act(machine) }),
    };
    try {
      simulateSites(instance, definition, {});
    } catch (error) {
      return (error as RuleViolation).rule;
    }
    return "none";
  };

  test.each<[string, (machine: SitesMachine) => void]>([
    ["none", () => {}],
    ["started-twice", (m) => [m.startLocal(0, 0, 0), m.startLocal(0, 1, 0)]],
    ["processor-twice", (m) => [m.claim(1, 0), m.claim(1, 1), m.startGang(1, 3), m.startLocal(0, 0, 0)]],
    ["processor-twice", (m) => [m.startLocal(0, 0, 0), m.claim(1, 0), m.claim(1, 1), m.startGang(1, 3)]],
    ["gang-torn", (m) => [m.claim(1, 0), m.startGang(1, 3)]],
    ["gang-torn", (m) => [m.take(1, 0), m.startGang(1, 3)]],
    ["gang-torn", (m) => [m.take(1, 0), m.claim(1, 1), m.startGang(1, 3)]],
    ["gang-torn", (m) => m.take(1, 0)],
    ["processor-twice", (m) => [m.take(1, 0), m.take(1, 0)]],
    ["processor-twice", (m) => [m.take(1, 0), m.startLocal(0, 0, 0)]],
    ["not-a-gang", (m) => m.take(0, 0)],
    ["unknown-processor", (m) => m.take(1, 3)],
    ["claims-too-many", (m) => [m.claim(1, 0), m.claim(1, 1), m.claim(1, 2)]],
    ["gang-behind-gang", (m) => [m.claim(1, 0), m.claim(1, 0)]],
    ["foreign-site", (m) => m.startLocal(0, 2, 0)],
    ["foreign-site", (m) => m.enqueue(1, 0)],
    ["not-a-gang", (m) => m.claim(0, 0)],
    ["queued-twice", (m) => [m.enqueue(0, 0), m.enqueue(0, 0)]],
    ["other-queue", (m) => [m.enqueue(0, 0), m.startLocal(0, 1, 0)]],
    ["start-before-arrival", (m) => m.startLocal(3, 0, 0)],
    ["start-before-arrival", (m) => m.claim(7, 0)],
    ["unknown-processor", (m) => m.claim(1, 3)],
    ["unknown-processor", (m) => m.enqueue(0, -1)],
  ])("%s", (rule, act) => {
    expect(refused(act)).toBe(rule);
  });
});
