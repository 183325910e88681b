/**
 * `npm run packages`: makes what users install, from the present revision: an npm tarball, one executable for
 * machines without Node, Debian's package, a wheel, the source with recipes for conda and spack, and their
 * checksums. Made again from the same revision with the same tools, they have the same bytes.
 *
 *   npm run packages                 to out/packages
 *   npm run packages -- --out DIR
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeDist } from "../build.ts";
import { makeDeb } from "./deb.ts";
import { makeExecutable } from "./executable.ts";
import { root } from "./program.ts";
import { makeCondaRecipe, makeSource, makeSpackRecipe } from "./source.ts";
import { makeWheel } from "./wheel.ts";

const { values } = parseArgs({ options: { out: { type: "string" } } });
const out = resolve(values.out ?? join(root, "out/packages"));
mkdirSync(out, { recursive: true });
await makeDist(join(root, "dist"));
const sums: string[] = [];
const packages = [makeTarball, makeExecutable, makeDeb, makeWheel, makeSource];
// The recipes come last: they have the hash of the source.
for (const make of [...packages, makeCondaRecipe, makeSpackRecipe]) {
  const file = make(out);
  const sum = createHash("sha256").update(readFileSync(file)).digest("hex");
  sums.push(`${sum}  ${relative(out, file)}\n`);
  console.log(`${file}  ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`);
}
writeFileSync(join(out, "SHA256SUMS"), sums.join(""));

function makeTarball(folder: string): string {
  const parameters = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const told = execFileSync("npm", parameters, { cwd: root, encoding: "utf8" });
  const [{ filename }] = JSON.parse(told);
  return join(folder, filename);
}
