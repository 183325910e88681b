/** Gives gangs slots and lets them use CPU time by what a made-up control group says; shares by hand. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GangGroups } from "@tutti/host/cgroups.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Freezer } from "./freezers/freezer.ts";
import { GangShares } from "./shares.ts";

const GANG = "7.1";
let folder: string;
let shares: GangShares;
let groups: GangGroups;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-shares-"));
  mkdirSync(join(folder, GANG));
  writeFileSync(join(folder, GANG, "cpu.weight"), "");
  used(0);
  groups = new GangGroups([{ version: 2, folder, controls: new Set(["cpuacct", "cpu"]) }]);
  shares = new GangShares(groups, {} as Freezer);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The gang has used so much CPU time since it began. */
function used(ms: number): void {
  writeFileSync(join(folder, GANG, "cpu.stat"), `usage_usec ${ms * 1000}\n`);
}

test("the share of a slot is what the gang used since its last slot, as long as it stands in between", () => {
  shares.weigh(GANG, false);
  shares.slotBegins(GANG);
  used(50);
  shares.slotEnds(GANG, 100, 1);
  expect(shares.usage(GANG).share).toBe(0.5);
  const read = vi.spyOn(groups, "read");
  shares.slotBegins(GANG);
  used(125);
  shares.slotEnds(GANG, 100, 1);
  expect(shares.usage(GANG).share).toBe(0.75);
  expect(read).toHaveBeenCalledTimes(1);
});

test("what a gang uses in slots of others, or while nobody stops it, is not in its share", () => {
  shares.weigh(GANG, false);
  shares.slotBegins(GANG);
  shares.slotEnds(GANG, 100, 1);
  shares.weigh(GANG, true);
  used(90);
  shares.weigh(GANG, false);
  shares.slotBegins(GANG);
  used(100);
  shares.slotEnds(GANG, 100, 1);
  expect(shares.usage(GANG).share).toBe(0.1);
  shares.forgetWeights();
  used(190);
  shares.slotBegins(GANG);
  used(210);
  shares.slotEnds(GANG, 100, 1);
  expect(shares.usage(GANG).share).toBe(0.2);
});
