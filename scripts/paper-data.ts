/**
 * The form of the papers' data files, docs/papers/*.{cells,claims,numbers,texts}.json. `npm run build`
 * and `npm run papers` refuse a file that breaks it, and name file, line and value.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { RULES } from "@tutti/papers/dimitriadou2009/claims.ts";
import { MEASURES as DIMITRIADOU2009_MEASURES } from "@tutti/papers/dimitriadou2009/measures.ts";
import { SCHEDULER_KEYS } from "@tutti/papers/kawanami2008/cells.ts";
import { QUEUE_NAMES } from "@tutti/papers/kawanami2008/run.ts";
import { SCHEDULERS, WORKLOADS } from "@tutti/papers/silva1999/published.ts";
import { SCHEME_NAMES, SIZES, SLOTS, MEASURES as ZHOU1999_MEASURES } from "@tutti/papers/zhou1999/cells.ts";
import {
  EXPERIMENTS,
  ZHOU2000_LOADS,
  ZHOU2000_MEASURES,
  ZHOU2000_SCHEMES,
} from "@tutti/papers/zhou2000/cells.ts";
import { z } from "zod";

const FOLDER = fileURLToPath(new URL("../docs/papers/", import.meta.url));

const text = z.string().min(1);
const share = z.number().min(0).max(1);
const rowOf = (count: number, value: z.ZodNumber = z.number().nonnegative()) => z.array(value).length(count);
const exactly = <T extends string | number>(values: readonly T[]) =>
  z.array(z.union(values.map((value) => z.literal(value)))).length(values.length);

const ENTRY = z
  .strictObject({
    at: text,
    says: text,
    shown: z.array(text).min(1).optional(),
    statements: z.array(text).min(1).optional(),
    notClaimed: text.optional(),
  })
  .refine(
    ({ shown, statements, notClaimed }) =>
      (notClaimed === undefined) === ((shown ?? statements) !== undefined),
    "expected either what shows it (shown, statements), or why nothing does (notClaimed)",
  );
const TEXTS = z.strictObject({
  title: text,
  authors: text,
  published: text,
  notes: z.array(text),
  reasons: z.record(z.string(), text),
  index: z.array(ENTRY),
  added: z.strictObject({ shown: z.array(text), statements: z.array(text) }),
});

const variant = z.enum(
  [EXPERIMENTS[1], EXPERIMENTS[2]].flatMap(({ schemes, others }) => [...schemes, ...others]),
);
const scheme1999 = z.strictObject({ scheme: z.enum(SCHEME_NAMES), slots: z.enum(SLOTS) });
/** What the statements of a paper's text say, for papers that have them as data. */
const CLAIMS: Readonly<Record<string, z.ZodType>> = {
  zhou2000: z.strictObject({
    statement: text,
    table: z.union([z.literal(1), z.literal(2)]),
    measure: z.enum(ZHOU2000_MEASURES).optional(),
    loads: z
      .array(z.union(ZHOU2000_LOADS.map((load) => z.literal(load))))
      .min(1)
      .optional(),
    falls: z.array(variant).min(2).optional(),
    best: variant.optional(),
    of: z.array(variant).min(1).optional(),
    farMore: z.array(variant).length(2).optional(),
  }),
  zhou1999: z.strictObject({
    statement: text,
    measure: z.enum(Object.keys(ZHOU1999_MEASURES)),
    smaller: scheme1999,
    than: z.array(scheme1999).min(1),
    sizes: z.enum(SIZES).optional(),
  }),
  kawanami2008: z.strictObject({
    where: text,
    measure: z.enum(["medianWaitS", "maxWaitS"]),
    scheduler: z.enum(SCHEDULER_KEYS),
    is: text,
    queues: z.array(z.enum(QUEUE_NAMES)).min(1),
    why: text.optional(),
  }),
  dimitriadou2009: z.strictObject({
    statement: text,
    rule: z.enum(Object.keys(RULES)),
    study: z.enum(["uniform", "powers", "rules"]).optional(),
    measure: z.enum(Object.keys(DIMITRIADOU2009_MEASURES)).optional(),
    loads: z
      .array(z.enum(["12.5", "10", "8.3"]))
      .min(1)
      .optional(),
  }),
};

const zhou2000Table = z.strictObject({
  sets: z.int().positive(),
  rows: z.strictObject(
    Object.fromEntries(
      ZHOU2000_SCHEMES.map((scheme) => [
        scheme,
        z.array(rowOf(ZHOU2000_MEASURES.length)).length(ZHOU2000_LOADS.length),
      ]),
    ),
  ),
});
const times = z.strictObject({ meanMs: z.number().positive(), spread: share });
const taskTimes = z.strictObject({ compute: times, io: times, latency: times });
const sitesStudy = z.strictObject({
  sites: z.array(z.strictObject({ processors: z.int().positive(), speed: z.number().positive() })),
  localShares: z.array(share),
  gangSizes: z.array(z.int().positive()),
  criticalShare: share,
  replications: z.int().positive(),
  jobs: z.int().positive(),
});
/** What is simulated, for papers that have it as data. */
const CELLS: Readonly<Record<string, z.ZodType>> = {
  kawanami2008: z.strictObject({
    schedulers: z.record(text, z.strictObject({ title: text, meaning: text, settings: z.array(text) })),
  }),
  silva1999: z.strictObject({
    open: z.strictObject({
      slotMs: z.int().positive(),
      interarrivalFactor: z.number().positive(),
      serviceFactor: z.number().positive(),
      times: z.strictObject({
        "I/O": taskTimes,
        communication: taskTimes,
        synchronisation: taskTimes,
        mixed: taskTimes,
      }),
    }),
    studies: z.record(
      text,
      z.strictObject({
        workload: z.enum(WORKLOADS),
        title: text,
        unit: z.string(),
        values: z.array(z.number().nonnegative()),
      }),
    ),
  }),
  dimitriadou2009: z.strictObject({
    paper: sitesStudy,
    studies: z.record(
      text,
      sitesStudy.partial().extend({
        title: text,
        variants: z.record(
          text,
          z.strictObject({
            policy: text,
            error: z.int().positive().optional(),
            remaining: z.literal("predicted").optional(),
          }),
        ),
      }),
    ),
  }),
};

const operations = z
  .string()
  .regex(
    /^(?:(?:^|, )(?:end \w+|move \w \d+|place \w \d+ \d+|unite \w+ \d+|exchange \d+ \d+ \d+ \d+|deleteRow \d+))*$/,
    "expected operations of a drawing",
  );
const DRAWN = z.array(
  z.strictObject({
    id: text,
    title: text,
    rows: z.array(text).min(1),
    arrivals: z.record(text, z.int().positive()).optional(),
    matrices: z.record(text, operations),
    lowestLevel: z.int().positive().optional(),
    steps: z.array(z.tuple([text, text])).min(1),
    statements: z.array(
      z.strictObject({
        statement: text,
        is: z.record(text, text),
        lacks: z.tuple([text, text]).optional(),
        evidence: text,
      }),
    ),
  }),
);
const measure2009 = z.enum(Object.keys(DIMITRIADOU2009_MEASURES));
/** What some papers have besides the texts of all. */
const MORE_TEXTS: Readonly<Record<string, z.ZodRawShape>> = {
  zhou2000: { drawn: DRAWN },
  zhou1999: { drawn: DRAWN },
  dimitriadou2009: {
    figures: z.array(
      z.strictObject({
        id: text,
        title: text,
        yAxis: text,
        study: text,
        measure: measure2009,
        series: z.array(z.tuple([text, text]).or(z.tuple([text, text, measure2009]))).min(1),
      }),
    ),
  },
};

const NUMBERS: Readonly<Record<string, z.ZodType>> = {
  zhou2000: z.strictObject({
    loads: exactly(ZHOU2000_LOADS),
    columns: exactly(ZHOU2000_MEASURES),
    tables: z.strictObject({ 1: zhou2000Table, 2: zhou2000Table }),
    deviations: z.record(z.string(), text),
  }),
  kawanami2008: z.strictObject({
    classes: z.array(
      z.strictObject({
        queue: z.enum(QUEUE_NAMES),
        processors: z.int().positive(),
        processes: z.int().positive(),
        threads: z.int().positive(),
        threshold: z.int().positive().optional(),
        limit: z.int().positive().optional(),
      }),
    ),
  }),
  silva1999: z.strictObject({
    tables: z.array(
      z.strictObject({
        id: z.string().regex(/^Table \d+$/),
        workload: z.enum(WORKLOADS),
        scheduler: z.enum(SCHEDULERS),
        timesS: rowOf(5),
        jobs: rowOf(5),
        idlePercent: rowOf(5, z.number().min(0).max(100)),
      }),
    ),
  }),
  dimitriadou2009: z.strictObject({
    tableII: z.strictObject({
      lambdas: z.array(text).length(3),
      replications: z.int().positive(),
      approach1: z.array(share).length(3),
      approach2: z.array(share).length(3),
    }),
  }),
};

/** What is wrong with a data file, one sentence for each fault; empty if nothing is. */
export function faultsOf(name: string, content: string): string[] {
  const [key, part] = name.split(".");
  const texts = TEXTS.extend(MORE_TEXTS[key] ?? {});
  const claims = CLAIMS[key]?.array();
  const schemas: Readonly<Record<string, z.ZodType | undefined>> = {
    numbers: NUMBERS[key],
    cells: CELLS[key],
    claims,
    texts,
  };
  const schema = schemas[part];
  if (schema === undefined) return [`docs/papers/${name}: no paper has such a file`];
  let data: unknown;
  try {
    data = JSON.parse(content);
  } catch (error) {
    return [`docs/papers/${name}: ${(error as Error).message}`];
  }
  const lines = linesOf(content);
  return (schema.safeParse(data, { reportInput: true }).error?.issues ?? []).map(
    ({ path, message, input }) => {
      const found = typeof input === "object" ? "" : `, found ${JSON.stringify(input) ?? "nothing"}`;
      return `docs/papers/${name}:${lineOf(path, lines)}: ${path.join(".")}: ${message}${found}`;
    },
  );
}

/** The line of every value of a JSON text, by the path to the value. */
function linesOf(json: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const open: { key: string | number; isList: boolean }[] = [];
  let line = 1;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|\n|[{}[\],]|[^\s{}[\],:"]+/g)) {
    const last = open.at(-1);
    if (token === "\n") line++;
    else if (token === "," && last?.isList) last.key = Number(last.key) + 1;
    else if (token === "}" || token === "]") open.pop();
    else if (token !== ",") {
      // In an object, the text before a value is its key; the value follows and has the same line.
      if (last !== undefined && !last.isList && token.startsWith('"')) last.key = JSON.parse(token);
      const path = open.map(({ key }) => key).join(".");
      if (!lines.has(path)) lines.set(path, line);
      if (token === "{" || token === "[") open.push({ key: token === "{" ? "" : 0, isList: token === "[" });
    }
  }
  return lines;
}

/** Of the value, or of what should contain it. */
function lineOf(path: readonly PropertyKey[], lines: ReadonlyMap<string, number>): number {
  return lines.get(path.join(".")) ?? lineOf(path.slice(0, -1), lines);
}

/** @throws Error with all faults of all data files */
export function checkPaperData(): void {
  const names = readdirSync(FOLDER).filter((name) => /\.(?:cells|claims|numbers|texts)\.json$/.test(name));
  const faults = names.flatMap((name) => faultsOf(name, readFileSync(FOLDER + name, "utf8")));
  if (faults.length > 0) throw new Error(`The papers' data cannot be used:\n${faults.join("\n")}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) checkPaperData();
