/** Tests that limits are looked up once for each user, not for each of the user's jobs. */
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { exportedLimits } from "./exported-limits.ts";
import { JobLimits } from "./job-limits.ts";

test("exportedLimits() asks for the groups of a user once for each queue", () => {
  const { config } = readConfig("[limits.groups]\nlab = { runningCpus = 8 }\n", "test.toml");
  const asked: string[] = [];
  const limits = new JobLimits(config, ({ user }) => {
    asked.push(user);
    return ["lab"];
  });
  const jobs = ["anna", "ben", "anna", "anna", "ben"].map((user, i) => ({ uid: user.length, user, job: i }));
  expect(exportedLimits(limits, jobs, ["short", "long"])).toEqual({
    groups: { lab: { runningCpus: 8, users: ["anna", "ben"] } },
  });
  expect(asked).toEqual(["anna", "anna", "ben", "ben"]);
});
