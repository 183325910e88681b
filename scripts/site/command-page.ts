/** Makes the reference of the command line: the help of every command, from the commands themselves. */
import { makeProgram } from "@tutti/cli/program.ts";
import { VERBS } from "@tutti/cli/registry.ts";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import type { Command } from "commander";
import { linksIn, type SitePage } from "./page.ts";

/** Columns of the text that some commands have after their options. */
const COLUMNS = 80;

export async function commandPage(): Promise<SitePage> {
  const path = "reference/commands.html";
  const program = await makeProgram("all");
  const commands = new Map(program.commands.map((command) => [command.name(), command]));
  const groups = Object.entries(Object.groupBy(VERBS, ({ group }) => group));
  const html = [
    "<h1>Every command with its options</h1>",
    '<p>This is what <code>tutti COMMAND --help</code> prints. <a href="../docs/cli.html">The command line</a> says what the commands have in common, with examples.</p>',
    ...groups.map(
      ([group, verbs = []]) =>
        `<p>${escapeHtml(group)}: ${verbs.map(({ name }) => `<a href="#${name}"><code>${name}</code></a>`).join(", ")}</p>`,
    ),
    ...VERBS.flatMap(({ name }) => commandHtml(commands.get(name)!, `tutti ${name}`)),
  ].join("\n");
  return { path, title: "Every command with its options", html, links: linksIn(html, path) };
}

function commandHtml(command: Command, name: string): string[] {
  const help = command.createHelp();
  const groups = Object.entries(
    Object.groupBy(help.visibleOptions(command), ({ helpGroupHeading = "Options:" }) => helpGroupHeading),
  );
  return [
    `<h2 id="${name.replace("tutti ", "").replaceAll(" ", "-")}">${name}</h2>`,
    `<p>${code(help.commandDescription(command))}</p>`,
    `<pre>${escapeHtml(help.commandUsage(command))}</pre>`,
    ...listHtml(
      "Arguments:",
      help
        .visibleArguments(command)
        .map((own) => [help.argumentTerm(own), help.argumentDescription(own)] as const),
    ),
    ...groups.flatMap(([group, options = []]) =>
      listHtml(
        group,
        options.map((own) => [help.optionTerm(own), help.optionDescription(own)] as const),
      ),
    ),
    ...textAfter(command),
    ...command.commands.flatMap((own) => commandHtml(own, `${name} ${own.name()}`)),
  ];
}

function listHtml(title: string, entries: readonly (readonly [term: string, text: string])[]): string[] {
  if (entries.length === 0) return [];
  const list = entries.map(
    ([term, text]) => `<dt><code>${escapeHtml(term)}</code></dt><dd>${code(text)}</dd>`,
  );
  return [`<p class="muted">${escapeHtml(title)}</p>`, `<dl class="terms">`, ...list, "</dl>"];
}

/** What the help has after its options, such as examples. */
function textAfter(command: Command): string[] {
  const written: string[] = [];
  command.configureOutput({
    writeOut: (text) => written.push(text),
    getOutHelpWidth: () => COLUMNS,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const text = written.slice(1).join("").trim();
  return text === "" ? [] : [`<pre>${text.split("\n").map(escapeHtml).join("\n")}</pre>`];
}

/** Text in which backquotes mark code. */
function code(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}
