import { execFileSync } from "node:child_process";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  commandLine,
  experimentData,
  FIRST_EXPERIMENT,
  type PageExperiment,
  problemsOf,
  readExperiment,
} from "./experiment.ts";
import { linkText, readLink } from "./link.ts";
import { generateModel, MAX_MODEL_JOBS, parametersInPage } from "./model-limit.ts";

const MODEL: PageExperiment = {
  jobs: { model: "lublin:jobs=500" },
  settings: { seed: "7", bound: "60", processors: "300" },
  policies: ["easy:order=shortest", "wlv"],
  own: "",
};
const OWN: PageExperiment = {
  ...MODEL,
  policies: ["easy", "./my-policy.ts:reserve=8"],
  own: 'export default "<script>";\n',
};
const SHA = "0123456789abcdef".repeat(4);

describe("an experiment in a link", () => {
  test("is the same when it is read again", async () => {
    const file = {
      jobs: { file: { name: "größer.swf", bytes: 12, sha256: SHA } },
      settings: {},
      policies: [],
      own: "",
    };
    for (const experiment of [MODEL, OWN, file, FIRST_EXPERIMENT])
      expect(await readLink(await linkText(experiment))).toEqual(experiment);
  });

  test("any text is read or refused with a message", async () => {
    const isRefused = (error: unknown) => error instanceof InputError;
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.base64String()), async (text) => {
        await readLink(text).catch((error) => expect(error).toSatisfy(isRefused));
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (settings, policies, jobs) => {
        try {
          readExperiment({ tutti: 1, settings, policies, model: jobs } as never);
        } catch (error) {
          expect(error).toSatisfy(isRefused);
        }
      }),
    );
  });

  test.each([
    ["no version", {}, "not of this version"],
    ["a setting that does not exist", { tutti: 1, settings: { colour: "red" } }, 'a setting "colour"'],
    ["a setting that is no text", { tutti: 1, settings: { slot: 5 } }, 'setting "slot" is 5'],
    ["a policy that does not exist", { tutti: 1, policies: ["esay"] }, 'Cannot find policy "esay"'],
    ["too many policies", { tutti: 1, policies: new Array(41).fill("easy") }, "at most 40"],
    ["a model that does not exist", { tutti: 1, model: "x" }, 'its model is "x"'],
    ["a model with a wrong parameter", { tutti: 1, model: "downey:jobs=x" }, 'parameter "jobs"'],
    ["a file without a name", { tutti: 1, file: { bytes: 1 } }, "its file is"],
  ])("with %s is refused", (_title, data, message) => {
    expect(() => readExperiment(data)).toThrow(message);
  });

  test("with a prototype as a setting is refused", () => {
    expect(() => readExperiment(JSON.parse('{"tutti":1,"settings":{"__proto__":"x"}}'))).toThrow("__proto__");
  });
});

describe("an experiment", () => {
  test("says what is wrong with its settings", () => {
    expect(problemsOf(MODEL)).toEqual([]);
    expect(problemsOf({ ...MODEL, settings: { slot: "-1" }, policies: [] })).toEqual([
      'Slot cannot be "-1": expected seconds from 0.000001 to 1000000000, such as 1.5',
      "No policy is chosen: expected at least one",
    ]);
    expect(problemsOf({ ...MODEL, policies: ["easy", "easy:order=arrival"] })).toEqual([
      'Policy "easy" is there twice: expected different policies',
    ]);
    expect(problemsOf({ ...MODEL, settings: { warmup: "0.5", cooldown: "0.5" } })).toHaveLength(1);
  });

  test.each([
    [
      "load",
      "1e99",
      'Offered load cannot be "1e99": expected a number above 0, at most 1000000, such as 0.7',
    ],
    ["load", "1000000.5", 'Offered load cannot be "1000000.5": expected a number above 0, at most 1000000'],
    ["switch", "-5", 'Switch cannot be "-5": expected seconds from 0 to 1000000000'],
    ["bound", "0", 'Bound cannot be "0": expected seconds above 0, at most 1000000000'],
    ["first", "0", 'First jobs cannot be "0": expected a whole number from 1 to 9007199254740991'],
    ["missing-estimate", "0", 'Missing estimate cannot be "0": expected run, or seconds above 0, at most'],
  ])("names the whole range of %s when it refuses %s", (name, value, message) => {
    const [problem] = problemsOf({ ...MODEL, settings: { [name]: value } });
    expect(problem).toContain(message);
  });

  test("a model may have as many jobs in a page as the form says", () => {
    for (const model of MODELS)
      expect(parametersInPage(model)).toContainEqual(
        expect.objectContaining({ name: "jobs", max: MAX_MODEL_JOBS }),
      );
    expect(() => generateModel("downey:jobs=2000001", 1)).toThrow(
      "Cannot generate 2000001 jobs in a page: expected from 1 to 2000000 jobs",
    );
  });

  test("a setting of models does not hold for a trace", () => {
    const file = { file: { name: "a.swf", bytes: 1, sha256: undefined } };
    expect(commandLine({ ...MODEL, jobs: file })).toBe(
      "tutti compare a.swf --policy easy:order=shortest,wlv --processors 300 --bound 60",
    );
    expect(experimentData({ ...MODEL, jobs: file })).toMatchObject({ tutti: 1, ...file });
  });

  test("a shell passes the name of any file on as it is", () => {
    const name = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
    fc.assert(
      fc.property(
        name.filter((text) => !/[\0/]/.test(text)),
        (text) => {
          const command = commandLine({
            ...MODEL,
            jobs: { file: { name: text, bytes: 1, sha256: undefined } },
          });
          const script = `tutti() { printf %s "$2"; }; ${command}`;
          const passed = execFileSync("sh", ["-c", script], { encoding: "utf8" });
          expect([text, `./${text}`]).toContain(passed);
          expect(passed.startsWith("-")).toBe(false);
        },
      ),
      { numRuns: 40 },
    );
  });
});
