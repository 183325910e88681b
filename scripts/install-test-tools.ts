/**
 * Installs the browser that the tests of the report page need: Debian's chromium, where apt and the rights to use it
 * are there. Without a browser those tests are skipped by name. TUTTI_NO_INSTALL=1 leaves the machine as it is.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

function isInPath(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Does nothing when a browser is there, or when it cannot be installed. */
export function installTestTools(): void {
  if (isInPath("chromium") || process.env.TUTTI_NO_INSTALL === "1") return;
  if (process.getuid?.() !== 0 || !isInPath("apt-get")) {
    console.log("No chromium here, and no rights to install it: browser tests will be skipped");
    return;
  }
  console.log("Installing chromium for the browser tests (TUTTI_NO_INSTALL=1 prevents it)");
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const parameters of [
    ["update", "-qq"],
    ["install", "-y", "-qq", "--no-install-recommends", "chromium"],
  ]) {
    const result = spawnSync("apt-get", parameters, {
      stdio: ["ignore", "ignore", "inherit"],
      env: environment,
      timeout: 300_000,
    });
    if (result.status !== 0) {
      console.log(`apt-get ${parameters[0]} did not work: browser tests will be skipped`);
      return;
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installTestTools();
