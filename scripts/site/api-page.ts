/** Makes the reference of the API from its OpenAPI document. */
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { openApiDocument } from "@tutti/live/api/server/answers/openapi.ts";
import { linksIn, type SitePage } from "./page.ts";

/** The parts of a JSON schema that the API's schemas have. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | false;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: "path" | "query";
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description?: string; readonly content?: Content; readonly $ref?: string }>
  >;
}

interface Document {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Limits of a number that say no more than that it is one. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** @param version of Tutti */
export function apiPage(version: string): SitePage {
  const path = "reference/api.html";
  const { info, paths, components } = openApiDocument(version) as unknown as Document;
  const html = [
    "<h1>Every route of the API</h1>",
    `<p>${escapeHtml(info.description)} <a href="../docs/api.html">The API</a> says how to connect, with examples.</p>`,
    ...Object.entries(paths).flatMap(([route, operations]) =>
      Object.entries(operations).map(([method, operation]) => routeHtml(method, route, operation)),
    ),
    '<h2 id="schemas">Schemas</h2>',
    ...Object.entries(components.schemas).map(([name, schema]) => schemaHtml(name, schema)),
  ].join("\n");
  return { path, title: "Every route of the API", html, links: linksIn(html, path) };
}

function routeHtml(method: string, route: string, operation: Operation): string {
  const { summary, description = "", security, parameters = [], requestBody, responses } = operation;
  const name = `${method.toUpperCase()} ${route}`;
  const answers = Object.entries(responses).flatMap(([status, { content, description: words = "" }]) => {
    if (status === "default") return [];
    const types = Object.entries(content ?? {}).map(([type, { schema }]) =>
      type === "application/json" ? typeHtml(schema) : `${escapeHtml(words)} (<code>${type}</code>)`,
    );
    return [row(status, types.length === 0 ? escapeHtml(words) : types.join(" or "))];
  });
  return `<h2 id="${anchor(name)}"><code>${escapeHtml(name)}</code></h2>
<p>${escapeHtml(summary)}${security?.length === 0 ? " (no token needed)" : ""}. ${escapeHtml(description)}</p>
<dl class="terms">
${[
  ...parameters.map((own) =>
    row(own.in === "path" ? `{${own.name}}` : `?${own.name}=`, fieldHtml(own.schema, own.description)),
  ),
  ...Object.values(requestBody?.content ?? {}).map(({ schema }) => row("body", typeHtml(schema))),
  ...answers,
].join("\n")}
</dl>`;
}

function schemaHtml(name: string, schema: Schema): string {
  const fields = fieldsOf(schema, "");
  const list = fields.length === 0 ? "" : `\n<dl class="terms">\n${fields.join("\n")}\n</dl>`;
  const own = fields.length === 0 ? `<p>${typeHtml(schema)}</p>` : "";
  const words = schema.description === undefined ? "" : `<p>${escapeHtml(schema.description)}.</p>`;
  return `<h3 id="${name}">${name}</h3>\n${words}${own}${list}`;
}

/** Fields of objects in an object are written as `job.name`, in a list as `jobs[].name`. */
function fieldsOf({ properties = {}, required = [] }: Schema, before: string): string[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    let inner = field;
    let whole = before + name;
    const own = row(whole, fieldHtml(field, field.description, !required.includes(name)));
    for (; inner.items !== undefined; inner = inner.items) whole += "[]";
    return [own, ...fieldsOf(inner, `${whole}.`)];
  });
}

function fieldHtml(schema: Schema, description = "", isOptional = false): string {
  const words = description === "" ? "" : `: ${escapeHtml(description)}`;
  return `<span class="muted">${typeHtml(schema)}${isOptional ? ", optional" : ""}</span>${words}`;
}

function typeHtml(schema: Schema): string {
  const { $ref, type = "any value", items, properties, additionalProperties, minimum, maximum } = schema;
  const choices = schema.anyOf ?? schema.oneOf;
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return `<a href="#${name}">${name}</a>`;
  }
  if (choices !== undefined) return choices.map(typeHtml).join(" or ");
  if (values !== undefined)
    return values.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(", ");
  if (items !== undefined) return `list of ${typeHtml(items)}`;
  if (properties === undefined && additionalProperties) return `object of ${typeHtml(additionalProperties)}`;
  const least = minimum === undefined || minimum <= -NO_LIMIT ? "" : ` from ${minimum}`;
  const most = maximum === undefined || maximum >= NO_LIMIT ? "" : ` to ${maximum}`;
  return `${type}${least}${most}`;
}

function row(term: string, html: string): string {
  return `<dt><code>${escapeHtml(term)}</code></dt><dd>${html}</dd>`;
}

function anchor(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "");
}
