import { expect, test } from "vitest";
import { deedsText, readDeeds, saidText } from "./break-deeds.ts";

test("deeds are read from the address as they are written there", () => {
  const deeds = [
    { atUs: 12_500_000, name: "conductor" },
    { atUs: 20_000_001, name: "disk" },
    { atUs: 20_000_001, name: "end" },
  ] as const;
  expect(deedsText(deeds)).toBe("12.5:conductor,20.000001:disk,20.000001:end");
  expect(readDeeds(deedsText(deeds))).toEqual(deeds);
});

test.each([
  ["", 0],
  ["x", 0],
  ["1:constructor", 0],
  ["1:disk,2:no-such-deed,3:disk", 1],
  ["5:disk,4:disk", 1],
  ["1:disk,-1:disk", 1],
  ["1.1234567:disk", 0],
])("of %j, what comes before the first part that cannot be read counts", (text, count) => {
  expect(readDeeds(text)).toHaveLength(count);
});

test("a deed and its end are said in different words", () => {
  const said = (isTakenBack: boolean) =>
    saidText({ atMs: 0, what: { kind: "deed", name: "power", isTakenBack } });
  expect([said(false), said(true)]).toEqual([
    "You cut the power of the node.",
    "You turned the power on again.",
  ]);
  expect(saidText({ atMs: 0, what: { kind: "conductor", isThere: true } })).toBeUndefined();
});
