/** Defines the parts that the schemas of requests and answers share. */
import { z } from "zod";
import { whole } from "./issue-text.ts";
import { FREE_KIND_NAME, isFreeKindName, KIND_NAME, KIND_PATTERN } from "./resources.ts";
import type { Frozen } from "./shape.ts";
import { JOB_STATES } from "./states.ts";

export const count = z.int().min(0);
export const jobNumber = whole(1, Number.MAX_SAFE_INTEGER).describe("Number of a job; never used again");
export const unixMs = z.int().describe("Unix time in ms");
export const durationMs = z.number().min(0).describe("Duration in ms");
export const jobState = z.enum(JOB_STATES);

/** CPUs by node. */
export const nodes = z.array(z.object({ node: z.string(), cpus: z.array(count) }));

export const kindName = z
  .string(KIND_NAME)
  .regex(KIND_PATTERN, KIND_NAME)
  .refine(isFreeKindName, FREE_KIND_NAME);
/** Lists of units are separated by commas. */
export const unitName = z
  .string("names of units without spaces and commas")
  .regex(/^[^\s,\0]{1,64}$/, "names of units without spaces and commas");

/** The first key of every answer gives the name and version of its schema. */
export function answer<Name extends string, Shape extends z.ZodRawShape>(schema: Name, shape: Shape) {
  return z.object({ schema: z.literal(schema), ...shape });
}

/** A key that may be left out, but never has the value undefined. */
export function optional<Schema extends z.ZodType>(schema: Schema, description: string) {
  return schema.exactOptional().describe(description);
}

/** A read-only value of a schema. */
export type Value<Schema extends z.ZodType> = Frozen<z.infer<Schema>>;
