/**
 * `npm run fields`: writes what follows from the table of a job's fields (packages/protocol/job-fields.ts)
 * into files that are no TypeScript: Python's arguments and the table in docs/api.md. A test compares them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { JOB_FIELD_ROWS, type JobFieldName, type Kind, longFlag } from "@tutti/protocol/job-fields.ts";

/** Python's types by kind. Fields of other kinds have no argument, or one that submit() names itself. */
const PYTHON: Readonly<Partial<Record<Kind, string>>> = {
  count: "int",
  bytes: "Union[int, str]",
  duration: "Duration",
  time: "Union[int, float, datetime.datetime]",
  flag: "bool",
  text: "str",
  hook: "str",
  url: "str",
  addresses: "str",
  word: "str",
  path: "Path",
  folder: "Path",
  ends: "Union[str, Iterable[str]]",
  names: "Union[str, Iterable[str]]",
  events: "Union[str, Iterable[str]]",
  use: "Use",
  environment: "Mapping[str, str]",
  dependencies: "Union[Job, int, str, Iterable[Union[Job, int, str]]]",
};

interface Argument {
  readonly field: JobFieldName;
  readonly kind: Kind;
  readonly name: string;
  readonly type: string;
}

/** The rows that are arguments of Python's submit(). */
function pythonArguments(): Argument[] {
  return JOB_FIELD_ROWS.flatMap(([field, row]) => {
    const { kind, choices, python } = row;
    const type =
      choices === undefined ? PYTHON[kind] : `Literal[${choices.map((one) => `"${one}"`).join(", ")}]`;
    const flag = longFlag(row);
    if (type === undefined || flag === "") return [];
    return [{ field, kind, type, name: python ?? flag.slice(2).replaceAll("-", "_") }];
  });
}

function pythonText(): string {
  const all = pythonArguments();
  return [
    "class JobOptions(TypedDict, total=False):",
    '    """What a job may ask for, as `submit` says."""',
    "",
    ...all.map(({ name, type }) => `    ${name}: ${type}`),
    "",
    "",
    "# Fields of the API and their kinds, by argument.",
    "_JOB_FIELDS: Dict[str, Tuple[str, str]] = {",
    ...all.map(({ name, field, kind }) => `    "${name}": ("${field}", "${kind}"),`),
    "}",
  ].join("\n");
}

function documentText(): string {
  const code = (text = "") => (text === "" ? "" : `\`${text}\``);
  const python = new Map(pythonArguments().map(({ field, name }) => [field, name]));
  const when = { waiting: "while it waits", always: "before its end" };
  const lines = JOB_FIELD_ROWS.map(([field, row]) => {
    const { request, answer, changes, sbatch } = row;
    const where = [request === undefined ? [] : "request", answer === undefined ? [] : "answer"]
      .flat()
      .join(", ");
    const cells = [code(field), where, code(longFlag(row)), code(python.get(field))];
    return `| ${[...cells, code(sbatch && `--${sbatch}`), changes === undefined ? "" : when[changes]].join(" | ")} |`;
  });
  return [
    "| field | in | option | Python | `#SBATCH` | can change |",
    "| --- | --- | --- | --- | --- | --- |",
    ...lines,
  ].join("\n");
}

/** Files with the marks between which the text follows from the table. */
export const MADE_FILES = [
  {
    file: "python/tutti.py",
    begin: "# From packages/protocol/job-fields.ts: `npm run fields` writes these lines.",
    end: "# End of these lines.",
    text: pythonText,
  },
  {
    file: "docs/api.md",
    begin: "<!-- From packages/protocol/job-fields.ts: `npm run fields` writes these lines. -->",
    end: "<!-- End of these lines. -->",
    text: documentText,
  },
];

const root = new URL("../", import.meta.url);

/** The file as it is, and as it should be. */
export function madeFile({ file, begin, end, text }: (typeof MADE_FILES)[number]) {
  const path = fileURLToPath(new URL(file, root));
  const now = readFileSync(path, "utf8");
  const [before, rest = ""] = now.split(`${begin}\n`);
  return { path, now, made: `${before}${begin}\n\n${text()}\n\n${rest.slice(rest.indexOf(end))}` };
}

if (import.meta.main) for (const { path, made } of MADE_FILES.map(madeFile)) writeFileSync(path, made);
