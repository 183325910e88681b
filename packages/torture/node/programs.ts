/**
 * The programs of the live scheduler as functions. scripts/torture-bundle.ts makes their texts; a built Tutti
 * has them in dist/torture/programs.js.
 */
import { SHARED_PORTS } from "./ports.ts";
import type { Bytes } from "./world.ts";

/** Texts of functions, and stores of earlier versions as SQL. */
export interface ProgramTexts {
  readonly shared: string;
  readonly programs: Readonly<Record<string, string>>;
  readonly stores: Readonly<Record<string, string>>;
}

type Ports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
/** Gives a name that a shared file exports. */
type Shared = (path: string, name: string) => unknown;

/** The functions, as dist/torture/programs.js exports them. */
export interface Programs {
  /** Evaluates the files that all processes share. */
  readonly shared: (given: { readonly Buffer: unknown; readonly ports: Ports }) => Shared;
  /** Each evaluates a program; its promise resolves when the first turn of the program is over. */
  readonly programs: Readonly<Record<string, (env: Env, shared: Shared) => Promise<void>>>;
  /** Stores that schedulers of earlier versions have left, as SQL. */
  readonly stores: Readonly<Record<string, string>>;
}

type Env = Readonly<Record<string, unknown>> & { readonly ports: Ports };

export function programsOf({ shared, programs, stores }: ProgramTexts): Programs {
  const list = Object.entries(programs).map(([name, text]) => `${name}:${text}`);
  // Strict, so that the parentheses are those of the texts.
  return { ...new Function(`"use strict";return {shared:${shared},programs:{${list}}};`)(), stores };
}

/** Name of a program from its file, such as conductor from /tutti/conductor.js. */
export function nameOf(file: string): string {
  return /([^/]*?)(?:\.js)?$/.exec(file)?.[1] ?? file;
}

/** @returns evaluates a program by its name, with what its process has for itself */
export function instantiator(
  { shared, programs }: Programs,
  Buffer: Bytes,
): (name: string, env: Env) => Promise<void> {
  const given = shared({ Buffer, ports: SHARED_PORTS });
  return async (name, env) => {
    const program = programs[name];
    if (program === undefined) throw new Error(`Cannot find module "${name}"`);
    await program(env, given);
  };
}
