import { describe, expect, test } from "vitest";
import {
  computeShares,
  EQUAL_SHARES,
  FairShare,
  shareFactor,
  shareLevel,
  shareNode,
  timeToUsage,
} from "./fair-share.ts";

const HALF_LIFE_S = 1000;

/** Level of each user at an instant. */
function levels(shares: FairShare, nowS: number, users: readonly string[]): number[] {
  const indices = users.map((user) => shares.userOf(user));
  shares.compute(nowS, []);
  return indices.map((user) => shares.levelOf(user));
}

test("the example of https://slurm.schedmd.com/classic_fair_share.html", () => {
  // Accounts A (40 shares) and D (60); below A: B (30) and C (10); below D: E (25) and F (35).
  // User 1 in B, users 2 and 3 in C, user 4 in E, user 5 in F.
  const nodes = [
    shareNode(0, 1),
    shareNode(0, 40),
    shareNode(0, 60),
    shareNode(1, 30),
    shareNode(1, 10),
    shareNode(2, 25),
    shareNode(2, 35),
    shareNode(3, 1),
    shareNode(4, 1),
    shareNode(4, 1),
    shareNode(5, 1),
    shareNode(6, 1),
  ];
  const users = nodes.slice(7);
  // Of the machine, the users used 0.2, 0.25, 0, 0.25 and 0. The rest was not used by anybody in the tree.
  [200, 250, 0, 250, 0].forEach((cpuS, i) => {
    users[i].usageCpuS = cpuS;
  });
  nodes[0].usageCpuS = 300;
  computeShares(nodes);
  const [, a, d, b, c, e, f] = nodes;
  const rounded = (value: number) => Math.round(value * 1e4) / 1e4;
  expect([a, d, b, c, e, f].map((node) => rounded(node.effectiveUsage))).toEqual([
    0.45, 0.25, 0.3875, 0.3, 0.25, 0.1458,
  ]);
  expect(users.map(({ share }) => rounded(share))).toEqual([0.3, 0.05, 0.05, 0.25, 0.35]);
  expect(users.map(({ effectiveUsage }) => rounded(effectiveUsage))).toEqual([
    0.3875, 0.275, 0.15, 0.25, 0.1458,
  ]);
  const factors = users.map((node) => shareFactor(shareLevel(node)));
  // The page computes the last factor from the rounded 0.1458.
  [0.408479, 0.022097, 0.125, 0.5, 0.749154].forEach((factor, i) => {
    expect(Math.abs(factors[i] - factor)).toBeLessThan(i === 4 ? 1e-4 : 1e-6);
  });
});

describe("usage", () => {
  test("counts half after a half-life, whenever it is looked at", () => {
    const shares = new FairShare({ ...EQUAL_SHARES, halfLifeS: HALF_LIFE_S });
    shares.add(shares.userOf("anna"), 800, 0);
    shares.add(shares.userOf("ben"), 300, HALF_LIFE_S);
    // After one half-life 400 and 300, of 700 in all; each has half the machine.
    const [anna, ben] = levels(shares, HALF_LIFE_S, ["anna", "ben"]);
    expect(anna).toBeCloseTo((400 / 700) * 2, 8);
    expect(ben).toBeCloseTo((300 / 700) * 2, 8);
    // All decay alike, so the order and the factors stay.
    levels(shares, 1.5 * HALF_LIFE_S, []);
    expect(levels(shares, 3 * HALF_LIFE_S, ["anna", "ben"])).toEqual([anna, ben]);
    expect(shares.nodes[shares.userOf("anna")].usageCpuS).toBeCloseTo(100, 9);
  });

  test("of a long job decays while it is used, as in periods of Slurm that become ever shorter", () => {
    // 4 CPUs for 2500 s, and then nothing for 700 s: the sum over short periods, each charged at its end.
    let naiveCpuS = 0;
    const periodS = 0.01;
    for (let i = 0; i < 2500 / periodS; i++) {
      const ageS = 700 + 2500 - (i + 0.5) * periodS;
      naiveCpuS += 4 * periodS * 0.5 ** (ageS / HALF_LIFE_S);
    }
    const shares = new FairShare({ ...EQUAL_SHARES, halfLifeS: HALF_LIFE_S });
    const anna = shares.userOf("anna");
    shares.charge(anna, 4 * 2500, 2500, 2500);
    shares.compute(3200, []);
    expect(shares.nodes[anna].usageCpuS / naiveCpuS).toBeCloseTo(1, 7);
  });

  test("of a running job is that of a job that ends now, however it is cut into pieces", () => {
    const whole = new FairShare({ ...EQUAL_SHARES, halfLifeS: HALF_LIFE_S });
    whole.compute(900, [{ user: whole.userOf("anna"), cpuS: 1800, ageS: 900 }]);
    const cut = new FairShare({ ...EQUAL_SHARES, halfLifeS: HALF_LIFE_S });
    const anna = cut.userOf("anna");
    cut.charge(anna, 600, 300, 300);
    cut.charge(anna, 800, 400, 700);
    cut.compute(900, [{ user: anna, cpuS: 400, ageS: 200 }]);
    expect(cut.nodes[anna].usageCpuS).toBeCloseTo(whole.nodes[anna].usageCpuS, 8);
  });

  test("that was reported late decays from its end", () => {
    const shares = new FairShare({ ...EQUAL_SHARES, halfLifeS: HALF_LIFE_S });
    const anna = shares.userOf("anna");
    shares.add(anna, 100, 2 * HALF_LIFE_S);
    shares.add(anna, 100, HALF_LIFE_S);
    shares.compute(2 * HALF_LIFE_S, []);
    expect(shares.nodes[anna].usageCpuS).toBeCloseTo(150, 9);
  });
});

describe("shares", () => {
  test("without usage, nobody goes before anybody", () => {
    const shares = new FairShare({ ...EQUAL_SHARES, users: { anna: 3 } });
    expect(levels(shares, 0, ["anna", "ben"])).toEqual([0, 0]);
    expect(shareFactor(0)).toBe(1);
  });

  test("who used exactly the share has the factor one half, whatever the shares are", () => {
    const shares = new FairShare({ ...EQUAL_SHARES, users: { anna: 3, ben: 1 } });
    shares.add(shares.userOf("anna"), 300, 0);
    shares.add(shares.userOf("ben"), 100, 0);
    expect(levels(shares, 0, ["anna", "ben"])).toEqual([1, 1]);
    expect(shareFactor(1)).toBeCloseTo(0.5, 15);
  });

  test("a user bears what others of the group used", () => {
    const groups = {
      physics: { shares: 1, users: { anna: 1, ben: 1 } },
      maths: { shares: 1, users: { carl: 1 } },
    };
    const shares = new FairShare({ ...EQUAL_SHARES, groups });
    shares.add(shares.userOf("anna"), 60, 0);
    shares.add(shares.userOf("carl"), 40, 0);
    // By hand: anna 0.6 + (0.6 − 0.6)·½ = 0.6 of ¼; ben 0 + (0.6 − 0)·½ = 0.3 of ¼; carl 0.4 of ½.
    expect(levels(shares, 0, ["anna", "ben", "carl"])).toEqual([2.4, 1.2, 0.8]);
  });
});

describe("the time until usage counts an amount", () => {
  const timeTo = (cpuS: number, amountCpuS: number, cpus = 0) =>
    timeToUsage(cpuS, amountCpuS, cpus, HALF_LIFE_S);

  test("is a half-life for each halving, if nothing is used", () => {
    expect(timeTo(800, 200)).toBeCloseTo(2 * HALF_LIFE_S, 6);
    expect(timeTo(300, 200)).toBeCloseTo(Math.log2(1.5) * HALF_LIFE_S, 6);
    expect(timeTo(200, 200)).toBe(0);
    expect([timeTo(100, 200), timeTo(0, 200), timeTo(0, 0)]).toEqual([Infinity, Infinity, Infinity]);
  });

  test("agrees with what is counted meanwhile", () => {
    // Two CPUs keep 2·1000 ÷ ln 2 = 2885 CPU seconds for ever: below that, usage rises, above it falls.
    for (const [fromCpuS, toCpuS] of [
      [500, 2800],
      [4000, 3000],
    ]) {
      const afterS = timeTo(fromCpuS, toCpuS, 2);
      const shares = new FairShare({ ...EQUAL_SHARES, halfLifeS: HALF_LIFE_S });
      const user = shares.userOf("anna");
      shares.add(user, fromCpuS, 0);
      shares.compute(afterS, [{ user, cpuS: 2 * afterS, ageS: afterS }]);
      expect(shares.nodes[user].usageCpuS).toBeCloseTo(toCpuS, 6);
    }
    expect([timeTo(500, 2900, 2), timeTo(4000, 2800, 2), timeTo(4000, 5000, 2)]).toEqual([
      Infinity,
      Infinity,
      Infinity,
    ]);
  });
});
