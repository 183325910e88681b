import { expect, test } from "vitest";
import { buildReportPage } from "../scripts/build-report-page.ts";
import { scriptSource } from "../src/report/html/escape.ts";

test("buildReportPage() gives one script that may be part of a page, names its licence and stays small", async () => {
  const script = await buildReportPage();
  expect(scriptSource(script)).toBe(script);
  expect(script).toContain("Apache ECharts (Apache-2.0)");
  expect(script.length).toBeLessThan(800_000);
  expect(() => new Function(script)).not.toThrow();
});
