/** Defines the parts that the schemas of requests and answers share. */
import { z } from "zod";
import { JOB_STATES } from "./states.ts";

export const count = z.int().min(0);
export const jobNumber = z.int().min(1).describe("Number of a job; never used again");
export const unixMs = z.int().describe("Unix time in ms");
export const durationMs = z.number().min(0).describe("Duration in ms");
export const jobState = z.enum(JOB_STATES);

/** CPUs by node. */
export const nodes = z.array(z.object({ node: z.string(), cpus: z.array(count) }));

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
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;
