/** Tests python/tutti.py with the machine's Python and a real scheduler, also while it is restarted. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const isNewEnough = "import sys; sys.exit(sys.version_info < (3, 9))";
const hasPython = spawnSync("python3", ["-c", isNewEnough]).status === 0;

/** A Python that can draw: on some machines, another one than the first on the PATH. */
const drawing = ["python3", "/usr/bin/python3"].find(
  (name) => spawnSync(name, ["-c", "import matplotlib.figure"]).status === 0,
);

describe.skipIf(!hasPython)("python/tutti.py (skipped without python3 of version 3.9 or newer)", () => {
  let scheduler: LiveScheduler;
  let files: string;
  let state: string;

  beforeAll(async () => {
    scheduler = new LiveScheduler();
    await scheduler.start();
  });
  // Of its own for each try.
  beforeEach(() => {
    files = mkdtempSync(join(scheduler.folder, "files-"));
    state = join(files, "state-home");
  });
  afterAll(() => scheduler.clear());

  /** Starts Python so that any warning is an error, and collects its output. */
  const python = (...words: string[]) => start("python3", ...words);
  function start(program: string, ...words: string[]) {
    const child = spawn(program, ["-W", "error", ...words], {
      cwd: files,
      env: {
        ...process.env,
        PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
        PYTHONPATH: join(root, "python"),
        PYTHONPYCACHEPREFIX: join(scheduler.folder, "compiled"),
        TUTTI_SOCKET: scheduler.socket,
        TUTTI_TEST_FOLDER: files,
        XDG_STATE_HOME: state,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (piece) => {
        output += piece;
      });
    }
    return new Promise<{ readonly status: number | null; readonly output: string }>((resolve) => {
      child.on("close", (status) => resolve({ status, output }));
    });
  }

  test("jobs, map, Executor, trust and the laboratory: test/python/tutti_test.py", async () => {
    const { status, output } = await python(join(root, "test/python/tutti_test.py"));
    expect(output).toMatch(/^Ran \d+ tests in .*\n\nOK$/m);
    expect(status).toBe(0);
  });

  test("map continues when the scheduler was killed and is back", async () => {
    const lines = [
      `import os, sys, time; sys.path.insert(0, ${JSON.stringify(join(root, "python"))}); import tutti`,
      "def work(x):",
      "    open(f'begun-{x}', 'w').close()",
      "    while not os.path.exists('go'): time.sleep(0.02)",
      "    return x + 1",
      "if __name__ == '__main__': print(tutti.map(work, range(6)))",
    ];
    writeFileSync(join(files, "restart.py"), lines.join("\n"));
    const result = python(join(files, "restart.py"));
    await until(() => existsSync(join(files, "begun-0")));
    await scheduler.killFrontEnd();
    writeFileSync(join(files, "go"), "");
    await scheduler.start();
    const { status, output } = await result;
    expect(output).toMatch(/\[1, 2, 3, 4, 5, 6\]\n$/);
    expect(status).toBe(0);
    expect(readdirSync(join(state, "tutti-python"))).toEqual([]);
  });

  test("the package contains the file, and the guide's examples are its functions", async () => {
    const { files: packed } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(packed).toContain("python/tutti.py");
    const names = readFileSync(join(root, "docs/python.md"), "utf8").match(/(?<=tutti\.)[a-zA-Z_]+(?=\()/g)!;
    const code = `import sys; sys.path.insert(0, ${JSON.stringify(join(root, "python"))}); import tutti; print([n for n in ${JSON.stringify(names)} if n not in tutti.__all__])`;
    expect(await python("-c", code)).toEqual({ status: 0, output: "[]\n" });
  });

  test.skipIf(drawing === undefined)("a comparison's picture (skipped without matplotlib)", async () => {
    const lines = [
      "import tutti; c = tutti.compare('downey:jobs=20', ['fcfs', 'easy'], replications=2)",
      // Texts are drawn as paths, each after a comment.
      "c.plot('waits.svg'); print(*(f'<!-- {name} -->' in open('waits.svg').read() for name in ('fcfs', 'easy')))",
    ];
    const { status, output } = await start(drawing!, "-W", "default", "-c", lines.join("\n"));
    expect([status, output]).toEqual([0, expect.stringMatching(/^True True$/m)]);
  });

  describe("examples/waits.py", () => {
    const example = join(root, "examples/waits.py");
    /** Runs the example's last part with these mean waits, instead of those of 30 simulations. */
    const drawn = (program: string, before: string) => {
      const lines = [
        "import runpy, sys",
        before,
        "import tutti; tutti.map = lambda *_, **__: [[10, 1], [20, 2], [30, 3], [40, 4], [50, 5]]",
        `runpy.run_path(${JSON.stringify(example)}, run_name='__main__')`,
      ];
      return start(program, "-c", lines.join("\n"));
    };

    test("prints a table, and says so if there is no matplotlib", async () => {
      const { status, output } = await drawn("python3", "sys.modules['matplotlib'] = None");
      expect(output).toMatch(/^load +fcfs +easy\n0\.5 +10\.0 min +1\.0 min\n/);
      expect(output).toMatch(/\nNo chart: matplotlib is not installed .*\n$/);
      expect([status, readdirSync(files)]).toEqual([0, []]);
    });

    test.skipIf(drawing === undefined)(
      "draws a line for each policy (skipped without matplotlib)",
      async () => {
        expect(await drawn(drawing!, "")).toMatchObject({
          status: 0,
          output: expect.stringMatching(/\nThe chart is waits\.png\n$/),
        });
        // The colors of both lines, each on more pixels than its name alone takes.
        const count = [
          "import matplotlib.image as i, numpy as n",
          "p = n.rint(i.imread('waits.png')[:, :, :3] * 255)",
          "print([int((abs(p - c).max(axis=2) < 8).sum()) for c in ([31, 119, 180], [255, 127, 14])])",
        ];
        const { output } = await start(drawing!, "-c", count.join("\n"));
        expect(JSON.parse(output)).toEqual([expect.toSatisfy(isMany), expect.toSatisfy(isMany)]);
      },
    );

    test.skipIf(!SOAK)(
      "with jobs and simulations: EASY lets jobs wait less at each load (soak)",
      async () => {
        const { status, output } = await start(drawing ?? "python3", example);
        const rows = [...output.matchAll(/^0\.\d +([\d.]+) min +([\d.]+) min$/gm)];
        expect([status, rows.length]).toEqual([0, 5]);
        for (const [, fcfs, easy] of rows) expect(Number(easy)).toBeLessThan(Number(fcfs));
        expect(existsSync(join(files, "waits.png"))).toBe(drawing !== undefined);
      },
    );
  });
});

const isMany = (pixels: number) => pixels > 1000;
