/**
 * Reads the OpenAPI document of the scheduler under attack: lists its operations, makes samples of its
 * schemas, and checks answers against it.
 */

import type { Random } from "@tutti/kernel/core/random.ts";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

export type Schema = { readonly [key: string]: unknown };

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Path with placeholders such as `{job}`. */
  readonly path: string;
  readonly isPublic: boolean;
  readonly query: readonly { readonly name: string; readonly schema: Schema }[];
  readonly body: Schema | undefined;
  /** Schemas of JSON answers by status; undefined for an answer that is not JSON. */
  readonly answers: ReadonlyMap<number, ValidateFunction | undefined>;
}

export class ApiDocument {
  readonly operations: readonly Operation[];
  readonly refusal: ValidateFunction;
  readonly #document: Schema;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });

  constructor(document: unknown) {
    this.#document = document as Schema;
    this.#ajv.addSchema(this.#document, "api");
    this.refusal = this.#validator({ $ref: "#/components/schemas/Refusal" });
    const paths = this.#document.paths as Record<string, Record<string, Schema>>;
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => this.#operation(path, method, operation)),
    );
  }

  /** The operation for a method and a path. */
  find(method: string, path: string): Operation | undefined {
    return this.operations.find(
      (one) =>
        (one.method === method || (method === "HEAD" && one.method === "GET")) &&
        new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}$`).test(path),
    );
  }

  /** A value that in most cases the schema allows. */
  sample(schema: Schema, random: Random, depth = 0): unknown {
    const { $ref, anyOf, oneOf, type, properties, required, items } = schema;
    const choices = (anyOf ?? oneOf ?? schema.enum) as unknown[] | undefined;
    if (typeof $ref === "string") return this.sample(this.#resolve($ref), random, depth);
    if (schema.const !== undefined) return schema.const;
    if (choices !== undefined) {
      const chosen = choices[random.below(choices.length)];
      return schema.enum === undefined ? this.sample(chosen as Schema, random, depth) : chosen;
    }
    if (type === "object") {
      const made: Record<string, unknown> = {};
      for (const [name, inner] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
        const isNeeded = (required as string[] | undefined)?.includes(name) ?? false;
        if (isNeeded || random.below(4) === 0)
          made[name] = named(name, random) ?? this.sample(inner, random, depth + 1);
      }
      return made;
    }
    if (type === "array") {
      const length = Math.max(Number(schema.minItems ?? 0), random.below(depth > 2 ? 2 : 4));
      return Array.from({ length }, () => this.sample((items ?? {}) as Schema, random, depth + 1));
    }
    if (type === "boolean") return random.below(2) === 0;
    if (type === "integer" || type === "number") {
      const least = Math.max(Number(schema.minimum ?? -10), -1000);
      return least + random.below(Math.min(Number(schema.maximum ?? 1000), 1000) - least + 1);
    }
    return ["x", "a b", "short", "1-3", "é\u{1f600}"][random.below(5)];
  }

  #operation(path: string, method: string, operation: Schema): Operation {
    const parameters = (operation.parameters ?? []) as { name: string; in: string; schema: Schema }[];
    const body = (operation.requestBody as Schema | undefined)?.content as Record<string, Schema> | undefined;
    const answers = new Map<number, ValidateFunction | undefined>();
    for (const [status, answer] of Object.entries(operation.responses as Record<string, Schema>)) {
      const content = (answer.content ?? {}) as Record<string, { schema?: Schema }>;
      const json = content["application/json"]?.schema;
      if (status !== "default")
        answers.set(Number(status), json === undefined ? undefined : this.#validator(json));
    }
    return {
      id: String(operation.operationId),
      method: method.toUpperCase(),
      path,
      isPublic: Array.isArray(operation.security) && operation.security.length === 0,
      query: parameters.filter((one) => one.in === "query"),
      body: body?.["application/json"]?.schema as Schema | undefined,
      answers,
    };
  }

  #validator(schema: Schema): ValidateFunction {
    const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
    return this.#ajv.compile(inDocument);
  }

  #resolve(reference: string): Schema {
    return reference
      .slice(2)
      .split("/")
      .reduce((inner: Schema, key) => inner[key] as Schema, this.#document);
  }
}

/** Fixed values for what jobs execute, because they really run. */
function named(name: string, random: Random): unknown {
  const one = <Value>(...values: Value[]): Value => values[random.below(values.length)];
  switch (name) {
    case "command":
      return one(["true"], ["false"], ["sleep", "0.01"], ["tutti-no-such-program"], ["echo", "é\u001b[2J"]);
    case "cwd":
      return one("/tmp", "/", "/tutti/no/such/folder");
    case "stdout":
    case "stderr":
      return one("/dev/null", "/tutti/no/such/folder/%j");
    case "env":
      return one({}, { PATH: "/usr/bin:/bin" }, { A: "é", B: "" });
    case "array":
      return one("1-3", "1,4", "0-4:2%1", "5-1", "x");
    case "held":
      return random.below(4) !== 0;
    case "tasks":
      return one(1, 1, 2, 3, 65_536);
    case "script":
      return { base64: one("IyEvYmluL3NoCg==", "", "!!"), word: one(0, 1, 9) };
    case "queue":
      return one("main", "main", "no-such");
    case "priority":
      return one(0, -5, -100, 1);
    case "policy":
      return one("easy", "gang", "fcfs", "no-such", "easy:order=shortest", "__proto__");
    case "policies":
      return one(["easy"], ["easy", "fcfs"], ["no-such"], []);
    default:
      return undefined;
  }
}
