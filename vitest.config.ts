import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // As bin/tutti.js does; see docs/decisions.md, Numbers.
    execArgv: ["--no-maglev"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
