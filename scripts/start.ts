/** `npm start`: compares policies on a generated workload, and says what to type for a trace of one's own. */
import "../src/lab/engine.ts";
import { mkdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { makeProgram } from "../src/cli/program.ts";

const folder = fileURLToPath(new URL("../out", import.meta.url));
const report = join(folder, "report.html");
mkdirSync(folder, { recursive: true });

const words = [
  "downey:jobs=5000:processors=128:load=0.7",
  "--policy",
  "fcfs,first-fit,easy,conservative,brmms",
  "--slot",
  "5",
];
console.log(`$ tutti compare ${words.join(" ")} --html ${relative(process.cwd(), report)}\n`);
const program = await makeProgram("compare");
await program.parseAsync(["compare", ...words, "--html", report], { from: "user" });

console.log(`
Open the report in a browser:   file://${resolve(report)}
Compare on a trace of your own: npx tutti compare your-trace.swf.gz --policy fcfs,easy --html report.html
What else there is:             npx tutti --help
`);
