/**
 * What Tutti shows to the programs of others, as lines that can be compared: routes and fields of the API,
 * settings, commands and options, exit codes, names of the library and of the Python module, and fields of
 * results.
 *
 *   node test/recordings/surface.ts > test/recordings/surface-0.2.txt    when 0.2 gets its tag
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ExitCode } from "@tutti/cli/errors.ts";
import { makeProgram } from "@tutti/cli/program.ts";
import { OLDER_NAMES } from "@tutti/cli/registry.ts";
import { openApiDocument } from "@tutti/live/api/server/answers/openapi.ts";
import { configSchema } from "@tutti/protocol/config.ts";
import type { Command } from "commander";

type Json = { readonly [key: string]: unknown };

/** Lines `field: type`, `field = value` and `field required` of a JSON schema. */
function schemaLines(path: string, schema: Json): string[] {
  const own: string[] = [];
  if (typeof schema.$ref === "string") own.push(`${path}: ${schema.$ref.split("/").at(-1)}`);
  for (const type of [schema.type ?? []].flat()) own.push(`${path}: ${type}`);
  const values = "const" in schema ? [schema.const] : ((schema.enum ?? []) as unknown[]);
  for (const value of values) own.push(`${path} = ${JSON.stringify(value)}`);
  for (const name of (schema.required ?? []) as string[]) own.push(`${path}.${name} required`);
  const parts: [string, unknown][] = Object.entries((schema.properties ?? {}) as Json).map(([name, part]) => [
    `${path}.${name}`,
    part,
  ]);
  if (typeof schema.items === "object") parts.push([`${path}[]`, schema.items]);
  if (typeof schema.additionalProperties === "object") parts.push([`${path}.*`, schema.additionalProperties]);
  for (const choice of [schema.anyOf, schema.oneOf, schema.allOf, schema.prefixItems].flat())
    if (choice !== undefined) parts.push([nameOf(path, choice as Json), choice]);
  return [...own, ...parts.flatMap(([name, part]) => schemaLines(name, part as Json))];
}

/** A variant has the name of its constant, such as `JobEvent(ended)`. */
function nameOf(path: string, variant: Json): string {
  const constants = Object.values((variant.properties ?? {}) as Json).flatMap(
    (part) => (part as Json).const ?? [],
  );
  return constants.length === 0 ? path : `${path}(${constants[0]})`;
}

function apiLines(): string[] {
  const document = openApiDocument("") as { paths: Json; components: { schemas: Json } };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Json).flatMap(([method, given]) => {
      const { parameters = [], requestBody, responses } = given as Readonly<Record<string, Json>>;
      const route = `api ${method.toUpperCase()} ${path}`;
      const query = (parameters as unknown as Json[]).flatMap(({ name, schema }) =>
        schemaLines(`${route} ?${name}`, schema as Json),
      );
      const body = requestBody === undefined ? [] : [`${route} takes ${contentOf(requestBody)}`];
      const answers = Object.entries(responses).map(
        ([status, answer]) => `${route} ${status} ${contentOf(answer as Json)}`,
      );
      return [...query, ...body, ...answers];
    }),
  );
  const schemas = Object.entries(document.components.schemas);
  return [...routes, ...schemas.flatMap(([name, schema]) => schemaLines(`api ${name}`, schema as Json))];
}

function contentOf({ content = {} }: Json): string {
  const kinds = Object.entries(content as Json).map(([type, given]) => {
    const { $ref = type } = (given as { schema: { $ref?: string } }).schema;
    return $ref.split("/").at(-1);
  });
  return kinds.join(" or ");
}

function commandLines(command: Command, path: string): string[] {
  const options = command.options.map(({ flags }) => `${path} ${flags}`);
  return [
    path,
    ...options,
    ...command.commands.flatMap((part) => commandLines(part, `${path} ${part.name()}`)),
  ];
}

/** Older names have all options of the commands that took them over. */
function olderLines(program: Command): string[] {
  return Object.entries(OLDER_NAMES).flatMap(([older, words]) => {
    const path = words.split(" ").filter((word) => !word.startsWith("-"));
    const command = path.reduce((at, word) => at.commands.find((own) => own.name() === word)!, program);
    return commandLines(command, `tutti ${older}`);
  });
}

/** Names that a file exports, also those of types. */
function exportsOf(file: string): string[] {
  const text = readFileSync(new URL(`../../packages/${file}`, import.meta.url), "utf8");
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list.split(","));
  const own = [...text.matchAll(/^export (?:async function|function|interface|type|const) (\w+)/gm)];
  const names = [...lists.map((name) => name.trim().replace("type ", "")), ...own.map(([, name]) => name)];
  return names.filter((name) => name !== "").map((name) => `library ${name}`);
}

/** Functions, classes and methods that Python's programs call, and the options of a job. */
function pythonLines(): string[] {
  const text = readFileSync(new URL("../../python/tutti.py", import.meta.url), "utf8");
  let inside = "";
  return text.split("\n").flatMap((line) => {
    const [, indent, name] = /^( {4})?(?:def|class) ([A-Za-z]\w*)/.exec(line) ?? [];
    const [, option] = /^ {4}([a-z]\w*): /.exec(line) ?? [];
    if (/^(?:class|def) /.test(line)) inside = /^class ([A-Za-z]\w*)/.exec(line)?.[1] ?? "";
    if (name !== undefined)
      return indent === undefined ? [`python ${name}`] : inside ? [`python ${inside}.${name}`] : [];
    return option !== undefined && inside !== "" ? [`python ${inside}.${option}`] : [];
  });
}

/** The fields of a result in JSON. */
function valueLines(path: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valueLines(`${path}[]`, item));
  if (value === null) return [`${path}: null`];
  if (typeof value !== "object") return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, part]) => valueLines(`${path}.${name}`, part));
}

function resultLines(): string[] {
  const file = fileURLToPath(new URL("jobs.swf.txt", import.meta.url));
  const program = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
  const words = ["compare", file, "--procs", "16", "--policy", "easy,brmms", "--slot", "10", "--json"];
  return valueLines(
    "result",
    JSON.parse(execFileSync(process.execPath, [program, ...words], { encoding: "utf8" })),
  );
}

export async function surface(): Promise<string[]> {
  const program = await makeProgram("all");
  const lines = [
    ...apiLines(),
    ...schemaLines("config", configSchema() as Json),
    ...commandLines(program, "tutti"),
    ...olderLines(program),
    ...Object.entries(ExitCode).map(([name, code]) => `exit code ${code} ${name}`),
    ...exportsOf("lab/library.ts"),
    ...exportsOf("kernel/kit.ts"),
    ...pythonLines(),
    ...resultLines(),
  ];
  return [...new Set(lines)].sort();
}

if (import.meta.main) console.log((await surface()).join("\n"));
