/**
 * Installs what tests need besides the npm packages: Debian's Chromium for the web pages, Open MPI for the
 * tests of MPI gangs, Slurm, and what makes and checks the wheel; for long runs the workflow tools, and what
 * makes new roots. It needs apt and the rights to use it.
 * Tests whose programs are missing are skipped and listed by name. With TUTTI_NO_INSTALL=1, nothing is
 * installed.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export function isInPath(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A program that tests need, and the package that contains it. */
interface TestTool {
  readonly program: string;
  readonly package: string;
  readonly tests: string;
  /** A program with which the tests run, too, but more slowly. */
  readonly orElse?: string;
}

const TOOLS: readonly TestTool[] = [
  {
    program: "chromium-headless-shell",
    package: "chromium-headless-shell",
    tests: "browser tests",
    orElse: "chromium",
  },
  { program: "mpirun", package: "openmpi-bin", tests: "tests with Open MPI" },
  { program: "mpicc", package: "libopenmpi-dev", tests: "tests with MPI and OpenMP" },
  { program: "gcc", package: "gcc", tests: "tests with compiled programs" },
  { program: "make", package: "make", tests: "tests with make" },
  { program: "systemd-analyze", package: "systemd", tests: "tests of the systemd units" },
  { program: "python3", package: "python3-venv", tests: "tests of virtual environments" },
  { program: "modulecmd", package: "environment-modules", tests: "tests of modules" },
  { program: "bwrap", package: "bubblewrap", tests: "tests of containers" },
  { program: "pip3", package: "python3-pip", tests: "tests of the wheel" },
  { program: "readelf", package: "binutils", tests: "tests of the wheel" },
  { program: "patchelf", package: "patchelf", tests: "tests of the wheel" },
];

/** Only `npm run soak` installs these. Workflow tools take about 90 s for both. */
export const SOAK_TOOLS: readonly TestTool[] = [
  { program: "mmdebstrap", package: "mmdebstrap", tests: "packages in new roots" },
  { program: "snakemake", package: "snakemake", tests: "workflows of Snakemake" },
  { program: "toil-cwl-runner", package: "toil", tests: "workflows of Toil" },
];

/** Installs the tools that are missing, if possible. */
export function installTestTools(tools: readonly TestTool[] = TOOLS): void {
  const missing = tools.filter(({ program }) => !isInPath(program));
  if (missing.length === 0 || process.env.TUTTI_NO_INSTALL === "1") return;
  const names = missing.map((tool) => tool.package).join(" and ");
  if (process.getuid?.() !== 0 || !isInPath("apt-get")) {
    console.log(`${names} not found, and no rights to install${missing.map(consequence).join("")}`);
    return;
  }
  console.log(`Installing ${names} for tests (TUTTI_NO_INSTALL=1 prevents it)`);
  const canUpdate = apt("update", "-qq");
  for (const tool of missing) {
    const isInstalled = canUpdate && apt("install", "-y", "-qq", "--no-install-recommends", tool.package);
    if (!isInstalled) console.log(`apt-get could not install ${tool.package}${consequence(tool)}`);
  }
}

/** The script that makes hosts with an sshd each for tests. */
const SSH_TEST_HOSTS = fileURLToPath(new URL("../test/ssh/ssh-test-hosts", import.meta.url));

/** Installs an sshd that is not started, if possible: tests with hosts start their own, in namespaces. */
export function installSshd(): void {
  const isAllowed = process.env.TUTTI_NO_INSTALL !== "1" && process.getuid?.() === 0 && isInPath("apt-get");
  if (isAllowed) spawnSync(SSH_TEST_HOSTS, ["install"], { stdio: "inherit" });
}

function consequence({ tests, orElse }: TestTool): string {
  const isReplaced = orElse !== undefined && isInPath(orElse);
  return isReplaced ? `; ${tests} use ${orElse}` : `; ${tests} will be skipped`;
}

/** The script that boots a Slurm for tests. */
export const SLURM_TEST_CLUSTER = fileURLToPath(new URL("../test/slurm/slurm-test-cluster", import.meta.url));
/** Installing waits for other package managers, three times at most. */
const SLURM_MS = 1_200_000;

/**
 * Installs Slurm, if possible.
 * @returns why it cannot be started here; undefined: it can
 */
export function installSlurm(): string | undefined {
  const canStart = () => spawnSync(SLURM_TEST_CLUSTER, ["check"], { encoding: "utf8" });
  const isAllowed = process.env.TUTTI_NO_INSTALL !== "1" && process.getuid?.() === 0 && isInPath("apt-get");
  if (isAllowed && canStart().status !== 0) {
    console.log("Installing Slurm for tests (TUTTI_NO_INSTALL=1 prevents it)");
    spawnSync(SLURM_TEST_CLUSTER, ["install", "--mpi", "--accounting"], {
      stdio: "inherit",
      timeout: SLURM_MS,
    });
  }
  const { status, stdout } = canStart();
  return status === 0 ? undefined : stdout.trim();
}

function apt(...parameters: string[]): boolean {
  const { status } = spawnSync("apt-get", parameters, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    timeout: 300_000,
  });
  return status === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installTestTools();
  installSshd();
  installSlurm();
}
