/**
 * `npm run papers:chromium [KEY …]`: computes the pages on papers in Chromium and compares them, byte by
 * byte, with those in docs/papers, which Node has written. Without keys, all papers and their index. Pages in
 * HTML are not compared: docs/papers has none.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ownVersion } from "@tutti/host/version.ts";
import { PAPERS } from "@tutti/papers/registry.ts";
import { openPapersPage } from "./chromium.ts";

const folder = fileURLToPath(new URL("../docs/papers/", import.meta.url));

const asked = process.argv.slice(2);
const keys = asked.length > 0 ? asked : PAPERS.map(({ key }) => key);
const begin = performance.now();
const page = await openPapersPage();
const files = await page.files(keys, ownVersion()).finally(page.close);
// An index of some papers is not the index in docs/papers; neither are the tables of some.
const compared = files.filter(
  ([name]) => !name.endsWith(".html") && (asked.length === 0 || !["index.md", "values.json"].includes(name)),
);
const different = compared.filter(
  ([name, content]) => !existsSync(folder + name) || readFileSync(folder + name, "utf8") !== content,
);
for (const [name] of different) console.log(`docs/papers/${name} differs`);
const seconds = ((performance.now() - begin) / 1000).toFixed(0);
console.log(
  `${compared.length - different.length} of ${compared.length} files are the same in Chromium (${seconds} s)`,
);
process.exitCode = different.length === 0 ? 0 : 1;
