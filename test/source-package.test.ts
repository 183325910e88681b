/**
 * The source tarball of `npm run packages` and the recipes for it. Neither conda's nor spack's tools are
 * here: the lines of conda's recipe run in a shell, and spack's recipe on a stand-in for spack's modules.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root, version } from "../scripts/packages/program.ts";
import { makeCondaRecipe, makeSource, makeSpackRecipe } from "../scripts/packages/source.ts";

/** Of spack, what the recipe calls: makes, says what it would set, and tests an installation. */
const STAND_IN = `
import runpy, subprocess, sys, types
class Prefix(str):
    def __getattr__(self, name): return Prefix(f"{self}/{name}")
def which(program, required):
    run = lambda *words: subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, text=True)
    return lambda *words, **_: run(*words).stdout
def directive(*_, **__): pass
class Package: pass
class EnvironmentModifications:
    def prepend_path(self, name, value): print(f"{name}={value}")
recipe, prefix, release = sys.argv[1:]
spack = types.ModuleType("spack.package")
for name in ["depends_on", "license", "requires", "version"]: setattr(spack, name, directive)
spack.which, spack.EnvironmentModifications = which, EnvironmentModifications
generic = types.ModuleType("generic")
generic.Package = Package
sys.modules.update({name: types.ModuleType(name) for name in ["spack", "spack_repo", "spack_repo.builtin"]})
sys.modules["spack_repo.builtin.build_systems"] = types.ModuleType("build_systems")
sys.modules.update({"spack.package": spack, "spack_repo.builtin.build_systems.generic": generic})
package = runpy.run_path(recipe)["Tutti"]()
package.prefix, package.spec = Prefix(prefix), types.SimpleNamespace(version=release)
package.install(package.spec, package.prefix)
package.test_version()
package.setup_run_environment(EnvironmentModifications())
`;

const hasPython = spawnSync("python3", ["--version"]).status === 0;
let folder: string;
let tarball: string;
const path = (...names: readonly string[]) => join(folder, ...names);
const source = () => path(`tutti-${version}`);

beforeAll(() => {
  // As `npm run packages` does; otherwise dist/ may be of an earlier revision.
  if (SOAK) expect(spawnSync("npm", ["run", "-s", "build"], { cwd: root }).status).toBe(0);
  folder = mkdtempSync(join(tmpdir(), "tutti-source-"));
  tarball = makeSource(folder);
  run("tar", "-xzf", tarball);
  mkdirSync(path("bin"));
  symlinkSync(process.execPath, path("bin/node"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program that must succeed. Other programs find no git and no npm, and only one Node. */
function run(program: string, ...words: readonly string[]): string {
  return runWith({}, program, ...words);
}
function runWith(env: NodeJS.ProcessEnv, program: string, ...words: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, {
    cwd: existsSync(source()) ? source() : folder,
    encoding: "utf8",
    env: { PATH: `${path("bin")}:/usr/bin:/bin`, HOME: folder, PYTHONDONTWRITEBYTECODE: "1", ...env },
  });
  expect(status, `${error ?? ""}${stdout}${stderr}`).toBe(0);
  return stdout;
}

describe("the source tarball", () => {
  test("as it is unpacked, its program runs with nothing but Node in the PATH", () => {
    const only = { PATH: path("bin") };
    const tutti = (...words: readonly string[]) =>
      runWith(only, process.execPath, join(source(), "bin/tutti.js"), ...words);
    expect(tutti("--version")).toMatch(new RegExp(`^tutti ${version}( \\(.+\\))?\n$`));
    expect(tutti("simulate", "downey:jobs=100:load=0.8", "--policy", "easy")).toContain("easy");
  });

  test("it has all tracked files, and nothing of the user who made it", () => {
    const listed = run("tar", "--numeric-owner", "-tvzf", tarball).trimEnd().split("\n");
    expect(listed.filter((line) => !/^-rw(x|-)r-(x|-)r-(x|-) 0\/0 /.test(line))).toEqual([]);
    const times = listed.map((line) => line.trim().split(/ +/).slice(3, 5).join(" "));
    expect(new Set(times).size).toBe(1);
    const names = listed.map((line) => line.split(` tutti-${version}/`)[1]);
    const { stdout } = spawnSync("git", ["ls-files"], { cwd: root, encoding: "utf8" });
    expect(names.filter((name) => !name.startsWith("dist/"))).toEqual(stdout.trimEnd().split("\n"));
  });

  test.skipIf(!SOAK)("dist/ is what its own sources make (soak)", () => {
    cpSync(join(root, "node_modules"), join(source(), "node_modules"), {
      recursive: true,
      verbatimSymlinks: true,
    });
    cpSync(join(source(), "dist"), path("dist"), { recursive: true });
    const told = spawnSync("git", ["rev-parse", "--absolute-git-dir"], { cwd: root, encoding: "utf8" });
    // The revision is in no source file. Git reads only, so that the repository's own index stays.
    const git = { GIT_DIR: told.stdout.trim(), GIT_WORK_TREE: source(), GIT_OPTIONAL_LOCKS: "0" };
    runWith(git, process.execPath, "scripts/build.ts");
    run("diff", "-r", path("dist"), "dist");
    rmSync(join(source(), "node_modules"), { recursive: true });
  });
});

describe.skipIf(!hasPython)("the recipes", () => {
  const hash = () => run("sha256sum", tarball).slice(0, 64);

  test("conda's: what it installs in a prefix passes its own tests", () => {
    const recipe = readFileSync(makeCondaRecipe(folder), "utf8");
    expect(recipe).toContain(`  version: "${version}"\n`);
    expect(recipe).toContain(`  sha256: "${hash()}"\n`);
    const scripts = [...recipe.matchAll(/script:\n((?: +- .*\n)+)/g)];
    const [build, tests] = scripts.map(([, lines]) => lines.replace(/^ +- /gm, ""));
    const prefix = path("conda-prefix");
    const env = { PREFIX: prefix, SP_DIR: join(prefix, "site-packages") };
    runWith(env, "sh", "-ec", build);
    expect(readdirSync(prefix).sort()).toEqual(["bin", "lib", "site-packages"]);
    const active = {
      PATH: `${prefix}/bin:${path("bin")}:/usr/bin:/bin`,
      PYTHONPATH: env.SP_DIR,
    };
    symlinkSync(
      spawnSync("sh", ["-c", "command -v python3"], { encoding: "utf8" }).stdout.trim(),
      path("bin/python"),
    );
    expect(runWith(active, "sh", "-ec", tests)).toContain(`tutti ${version}`);
  });

  test("spack's: it installs, passes its own test, and leads Python to the module", () => {
    const recipe = makeSpackRecipe(folder);
    expect(readFileSync(recipe, "utf8")).toContain(`    version("${version}", sha256="${hash()}")\n`);
    const prefix = path("spack-prefix");
    const variable = run("python3", "-c", STAND_IN, recipe, prefix, version).trim();
    const [name, modules] = variable.split("=");
    expect(name).toBe("PYTHONPATH");
    runWith({ PYTHONPATH: modules }, "python3", "-c", "import tutti");
    expect(existsSync(join(prefix, "bin/tutti"))).toBe(true);
  });
});
