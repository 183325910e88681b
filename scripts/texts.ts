/**
 * `node scripts/texts.ts FOLDER [CHECKOUT]`: writes texts that users see into a folder: the help of all
 * verbs, completions, the OpenAPI document, and the schema of the configuration. `diff -r` compares those of
 * two revisions. The checkout, by default this one, must be built.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [, , folder, checkout = "."] = process.argv;
if (folder === undefined) throw new Error("Expected the folder to write to");
mkdirSync(folder, { recursive: true });

writeHelp([]);
for (const shell of ["bash", "zsh", "fish"])
  write(`completions.${shell}`, tutti("config", "completions", shell));
write("config-schema.json", tutti("config", "schema"));
const file = pathToFileURL(resolve(checkout, "packages/live/api/server/answers/openapi.ts")).href;
const { openApiDocument } = (await import(file)) as { openApiDocument: (version: string) => object };
write("openapi.json", `${JSON.stringify(openApiDocument("0"), undefined, 1)}\n`);

/** Of a command, and of all below it. */
function writeHelp(words: readonly string[]): void {
  const help = tutti(...words, "--help");
  write(`${["help", ...words].join("-")}.txt`, help);
  // Below the program itself, commands have a heading of their own.
  const commands = words.length === 0 ? help : (help.split("\nCommands:\n")[1] ?? "");
  for (const [, verb] of commands.matchAll(/^ {2}([a-z][a-z-]*)(?: |$)/gm))
    if (verb !== "help") writeHelp([...words, verb]);
}

function tutti(...words: readonly string[]): string {
  const program = resolve(checkout, "bin/tutti.js");
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "100" };
  return execFileSync(process.execPath, [program, ...words], { encoding: "utf8", env });
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}
