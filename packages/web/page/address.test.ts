import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressText, parseAddress } from "./address.ts";

describe("addresses", () => {
  test("a view with its rest and parameters", () => {
    expect(parseAddress("#/jobs/12?state=queued,running&sort=-wait")).toEqual({
      view: "jobs",
      rest: ["12"],
      query: { state: "queued,running", sort: "-wait" },
    });
    expect(
      addressText({ view: "jobs", rest: ["12"], query: { state: "queued,running", sort: "-wait" } }),
    ).toBe("#/jobs/12?sort=-wait&state=queued,running");
  });

  test("an empty fragment is the first view", () => {
    expect(parseAddress("")).toEqual({ view: "", rest: [], query: {} });
    expect(addressText({ view: "", rest: [], query: {} })).toBe("#/");
  });

  test("what is written is read again", () => {
    const text = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
    const part = text.filter((value) => value !== "." && value !== "..");
    fc.assert(
      fc.property(part, fc.array(part, { maxLength: 3 }), fc.dictionary(text, text), (view, rest, query) => {
        const read = parseAddress(addressText({ view, rest, query }));
        expect({ ...read, query: { ...read.query } }).toEqual({ view, rest, query: { ...query } });
      }),
    );
  });

  test("any text is read, however it is damaged", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const { rest, query } = parseAddress(text);
        expect(rest.every((part) => part !== "")).toBe(true);
        expect(Object.values(query).every((value) => value !== "")).toBe(true);
      }),
    );
    expect(parseAddress("#/%E0%A4%A/x").view).toBe("%E0%A4%A");
    expect(parseAddress(`#/jobs?a=${"x".repeat(100_000)}`).query.a.length).toBeLessThan(40_000);
  });
});
