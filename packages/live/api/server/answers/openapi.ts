/** Generates the OpenAPI 3.1 document from routes and schemas, so it always matches the server. */
import { z } from "zod";
import { NAMED_SCHEMAS, ROUTES, type Route } from "../../contract/routes.ts";
import { WEB_FILES } from "../web/web-files.ts";

type Json = Record<string, unknown>;

const PATH_SCHEMAS: Readonly<Record<string, Json>> = {
  job: { type: "integer", minimum: 1 },
  stream: { type: "string", enum: ["stdout", "stderr"] },
  file: { type: "string", enum: Object.keys(WEB_FILES) },
  window: { type: "string" },
};

/** @param version of Tutti */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of ROUTES) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tutti",
      version,
      summary: "Schedules parallel jobs as gangs",
      description:
        "The Unix socket and loopback HTTP offer the same routes. Over HTTP, every request needs a token; the owner of a private socket needs no token.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      schemas: componentSchemas(),
      responses: {
        Refused: {
          description: "The request was refused; the message says what, why, and what to do next",
          content: jsonContent(reference("Refusal")),
        },
      },
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
  };
}

/** Keys with the value undefined do not appear in the document. */
function operation(route: Route): Json {
  const { id, summary, description, body, answer, otherAnswers = {}, isPublic = false } = route;
  return {
    operationId: id,
    summary,
    description,
    security: isPublic ? [] : undefined,
    parameters: parameters(route),
    requestBody: body && { required: true, content: jsonContent(schemaOf(body)) },
    responses: {
      [answer.kind === "json" ? answer.status : 200]:
        answer.kind === "json"
          ? { description: summary, content: jsonContent(schemaOf(answer.schema)) }
          : { description: answer.description, content: textContent(id, answer.type) },
      ...Object.fromEntries(
        Object.entries(otherAnswers).map(([status, text]) => [status, { description: text }]),
      ),
      default: { $ref: "#/components/responses/Refused" },
    },
  };
}

function textContent(id: string, type: string): Json {
  const asText = { [type]: { schema: { type: type === "application/json" ? "object" : "string" } } };
  return id === "events" ? { ...asText, ...jsonContent(reference("EventsAnswer")) } : asText;
}

function jsonContent(schema: Json): Json {
  return { "application/json": { schema } };
}

function parameters({ path, query = {} }: Route): Json[] | undefined {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: PATH_SCHEMAS[name],
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => {
    const { description, ...rest } = bare(z.toJSONSchema(schema, { io: "input" }));
    return { name, in: "query", required: false, description, schema: rest };
  });
  return inPath.length + inQuery.length === 0 ? undefined : [...inPath, ...inQuery];
}

function componentSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED_SCHEMAS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
  });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, bare(schema as Json)]));
}

function schemaOf(schema: z.ZodType): Json {
  const name = Object.keys(NAMED_SCHEMAS).find((key) => NAMED_SCHEMAS[key] === schema);
  if (name === undefined) throw new Error("Broken invariant: a route's schema has no name in NAMED_SCHEMAS");
  return reference(name);
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** Removes the keys that make sense only in a standalone schema document. */
function bare(schema: Json): Json {
  const { $schema: _, $id: __, id: ___, ...rest } = schema;
  return rest;
}
