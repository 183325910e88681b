/**
 * The one table of a job's fields. From a row follow: the schemas of requests and answers and their types
 * (job-schemas.ts), the options of `submit`, `run` and `update` and those of #TUTTI lines, the keys of
 * workflow files and of `--from-json`, the record and its place in the store, what `update` may change and
 * how events and messages say it, columns of lists, the forms of the page, Python's arguments, and the table
 * of fields in docs/api.md. What a field does is elsewhere; what is written about it is here.
 *
 * How values of a kind are read and written is one entry for each kind: schemas in job-schemas.ts, texts in
 * words/job-fields.ts, options in cli/options/job-values.ts, forms in web/live/jobs/job-request.ts, Python's
 * in python/tutti.py.
 *
 * Pages load this file, so it has no zod. The rows are in the order of help and of answers.
 */
import * as limits from "./limits.ts";

/** What values of a field are. Durations are in ms, times are Unix times in ms. */
export type Kind =
  | ("count" | "bytes" | "duration" | "time" | "flag" | "yes" | "job")
  | ("text" | "path" | "hook" | "url" | "addresses" | "mask" | "word" | "choice")
  | ("ends" | "events" | "use" | "signal" | "command" | "folder" | "environment" | "script")
  | ("indices" | "columns" | "dependencies" | "names")
  /** Only in answers. */
  | ("state" | "values" | "jobs" | "howEnded" | "units" | "cpus" | "nodes" | "usage" | "outcomes" | "code");

/** Headings in the help of `submit`, in their order. */
export const OPTION_GROUPS = ["Resources:", "Name and start:", "News:", "Files and environment:"] as const;
export type OptionGroup = (typeof OPTION_GROUPS)[number];

/** A row: what is written about a field. */
export interface JobField {
  readonly kind: Kind;
  /** Its kind in answers if it is another one there. */
  readonly answerKind?: Kind;
  /** Of numbers, and of the lengths of texts. */
  readonly min?: number;
  readonly max?: number;
  /** What the range means, for people who are outside of it. */
  readonly rangeText?: string;
  readonly choices?: readonly string[];
  /** What it means in a request. Left out: requests do not have it. */
  readonly request?: string;
  /** What it means in an answer; true: the same; empty: its name says it. Left out: in no answer. */
  readonly answer?: string | true;
  /** Every request has it. */
  readonly isRequired?: true;
  /** Every answer has it. */
  readonly isAlways?: true;
  /** It is not in the store's JSON of a job: it has a column, follows from others or is not kept. */
  readonly isApart?: true;
  /** A question about a job that is not submitted may have it. */
  readonly isAsked?: true;
  /** Until when it can change: as long as the job waits, which policies see, or always before its end. */
  readonly changes?: "waiting" | "always";
  /** What people call it if that is not its name. */
  readonly called?: string;
  /** Flags and help of its option, and the heading above it. */
  readonly option?: readonly [group: OptionGroup, flags: string, help: string];
  /** Slurm's option that means exactly the same. */
  readonly sbatch?: string;
  /** Python's argument; left out: as the option. */
  readonly python?: string;
  /** Its name in `tutti show`, if the text of the value is all that is said there. */
  readonly fact?: string;
  /** The heading of its column in lists. */
  readonly column?: string;
  /** What selects jobs by it: on the command line, before the value, and in a query of lists. */
  readonly filter?: readonly [prefix: string, query: string];
  /** Its label in the forms of the page, and an example. */
  readonly form?: readonly [label: string, example?: string];
}

const AS_USER = "a command for /bin/sh that runs as the job's user, at most 30 s";
const [RESOURCES, START, NEWS, FILES] = OPTION_GROUPS;

export const JOB_FIELDS = {
  job: { kind: "job", isApart: true, answer: "", isAlways: true },
  name: {
    kind: "text",
    max: limits.MAX_NAME_LENGTH,
    request: "Name for people; default: the program's name",
    answer: "",
    isAlways: true,
    changes: "always",
    option: [START, "-J, --name <name>", "name of the job (default: the program's name)"],
    sbatch: "job-name",
    form: ["Name"],
    filter: ["name:", "Only jobs with this name, in which * matches anything, such as sim*"],
  },
  user: { kind: "text", answer: "", isAlways: true, filter: ["@", "Only jobs of this user"] },
  state: { kind: "state", isApart: true, answer: "", isAlways: true },
  tasks: {
    kind: "count",
    min: 1,
    max: limits.MAX_TASKS,
    request: "Number of processes; default 1",
    answer: "",
    isAlways: true,
    isAsked: true,
    changes: "waiting",
    option: [RESOURCES, "-n, --tasks <n>", "number of processes, such as MPI ranks (default: 1)"],
    column: "tasks",
    form: ["Tasks, such as MPI ranks"],
  },
  threads: {
    kind: "count",
    min: 1,
    max: limits.MAX_TASKS,
    request:
      "Number of CPUs for the threads of each process; the job gets tasks × threads CPUs. On a cluster, those of one process are on one node. Default 1",
    answer: "CPUs for the threads of each task; default: 1",
    isAsked: true,
    changes: "waiting",
    option: [
      RESOURCES,
      "-c, --threads <n>",
      "CPUs for the threads of each process; the job gets -n times -c CPUs, and OMP_NUM_THREADS is set to -c (default: 1)",
    ],
    form: ["Threads of each task"],
  },
  limitMs: {
    kind: "duration",
    min: 1,
    max: limits.MAX_LIMIT_MS,
    rangeText: "ten years",
    request:
      "Limit on running time in ms, without the time in which the job is stopped; policies use it as the estimate",
    answer: "",
    isAsked: true,
    changes: "waiting",
    called: "limit",
    option: [
      RESOURCES,
      "-t, --time <duration>",
      "limit on running time, such as 90s, 10m, 2h or 1:30:00; policies use it as the estimate",
    ],
    form: ["Limit on running time", "90s, 10m or 2h"],
    fact: "limit",
  },
  memoryBytes: {
    kind: "bytes",
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    request: "Memory of the whole job in bytes",
    answer: "",
    isAsked: true,
    changes: "waiting",
    called: "memory",
    option: [
      RESOURCES,
      "--mem <size>",
      "memory of the whole job, such as 512M or 2G; a job with more is ended",
    ],
    python: "memory",
    fact: "memory",
    column: "memory",
  },
  use: {
    kind: "use",
    request:
      'Units of countable resources for the whole job, by kind, such as {"gpu": 1}; it holds them from its start to its end',
    answer: "Units of countable resources that it asks for, by kind",
    isAsked: true,
    changes: "waiting",
    called: "resources",
    option: [
      RESOURCES,
      "--use <units>",
      "units of countable resources that the job holds, such as gpu or gpu:2,licence:1; tutti status lists the resources",
    ],
    column: "use",
    form: ["Resources", "gpu:1"],
    fact: "uses",
  },
  units: {
    kind: "units",
    isApart: true,
    answer: "The units that it holds, or held last, by kind: names from the configuration",
    column: "units",
  },
  tasksRun: {
    kind: "choice",
    choices: ["once", "each"],
    request:
      "once: the command runs once, on the first CPUs of the job, and starts its other processes itself. each: it runs once per task, on all nodes of the job; only on Slurm or over ssh. Default: once",
    answer: "Whether the command runs once or once per task; default: once",
    option: [
      RESOURCES,
      "--tasks-run <how>",
      "once: the command runs once and starts its other processes itself; each: it runs once per task, on all nodes of the job, only on Slurm or over ssh (default: once)",
    ],
  },
  mpi: {
    kind: "word",
    request:
      "Type of MPI with which the cluster starts the tasks, such as pmix; only with tasksRun each. Default: none",
    answer: "Type of MPI of the tasks",
    option: [
      RESOURCES,
      "--mpi <type>",
      "type of MPI with which the cluster starts the tasks, such as pmix; with --tasks-run each",
    ],
  },
  queue: {
    kind: "text",
    max: limits.MAX_QUEUE_LENGTH,
    request: "Queue class, by its name or an alias; default: the tightest one that admits the job",
    answer: "",
    isAlways: true,
    isAsked: true,
    changes: "waiting",
    option: [RESOURCES, "-q, --queue <name>", "queue (default: chosen by the scheduler)"],
    form: ["Queue"],
    filter: ["queue:", "Only jobs in this queue"],
  },
  after: {
    kind: "dependencies",
    answerKind: "jobs",
    request: "Jobs that must end before this one starts",
    answer: "",
    isAlways: true,
    option: [
      START,
      "--after <jobs>",
      "start after these jobs have succeeded: 12,13, 12-40 or last; any:12 after job 12 has ended, even if it failed; notok:12 only if it failed; each:12 with -a: each job after the one with its index in that array",
    ],
    fact: "after",
    column: "after",
  },
  afterKinds: {
    kind: "howEnded",
    isApart: true,
    answer:
      "How each job of `after` must end for this one to start: ok, notok (failed or cancelled) or any way. Default: any for all",
  },
  singleton: {
    kind: "flag",
    answerKind: "yes",
    request: "true: the job waits until all earlier jobs of its user with its name have ended",
    answer: "It waits until earlier jobs of its user with its name have ended",
    option: [START, "--singleton", "start after your earlier jobs with the same name have ended"],
    fact: "singleton",
  },
  array: {
    kind: "indices",
    answerKind: "job",
    request:
      "Indices of a job array, such as 1-100, 0-20:5 or 1,4,9; %5 runs at most five at once. With values, it may be only %5",
    answer: "First job of the array it belongs to",
    option: [
      START,
      "-a, --array <indices>",
      "one job per index: 1-100, 0-20:5 or 1,4,9; with 1-100%4, at most four run at once",
    ],
    sbatch: "array",
    column: "array",
  },
  arrayIndex: { kind: "count", answer: "", column: "array index" },
  values: {
    kind: "columns",
    answerKind: "values",
    request:
      'Makes an array with values for each job, by variable, such as {"lr": ["0.1", "0.01"], "seed": ["1", "2"]}: as many for each variable as the array has jobs. A job has its values in its environment, and in place of {lr} in its command, stdout and stderr; {} stands for TUTTI_LINE. Without array, the indices begin with 1',
    answer: "Its values, if it is a job of a sweep, by variable; in lists, long ones are cut",
    column: "values",
  },
  beginAtMs: {
    kind: "time",
    request:
      "Unix time in ms before which the job must not start. It joins the queue then, behind the jobs that are in it. Default: at once",
    answer: "Unix time in ms before which the job must not start, as it was requested",
    changes: "waiting",
    called: "begin",
    option: [
      START,
      "--begin <time>",
      "do not start before this time: 23:00, +2h, tomorrow, 2026-12-01 or 2026-12-01T08:00, in your time zone",
    ],
    fact: "begin",
    column: "begin",
    form: ["Begin, not before", "23:00, +2h or 2026-12-01T08:00"],
  },
  notBeforeMs: {
    kind: "time",
    answer: "The job waits until this Unix time in ms: for its begin, or for its next attempt",
  },
  eligibleAtMs: {
    kind: "time",
    answer:
      "When the job joined the queue, if that was later than its submit: at its begin, or for its last retry",
  },
  held: {
    kind: "flag",
    isApart: true,
    request: "true: the job waits until it is released",
    option: [START, "--hold", "hold the job until you run `tutti release`"],
  },
  priority: {
    kind: "count",
    isApart: true,
    min: limits.MIN_PRIORITY,
    max: limits.MAX_PRIORITY,
    request: "Values above 0 are for administrators only",
    answer: "",
    isAlways: true,
    isAsked: true,
    changes: "waiting",
    option: [
      START,
      "--priority <n>",
      `priority from ${limits.MIN_PRIORITY} to ${limits.MAX_PRIORITY}; only administrators may use values above 0`,
    ],
    column: "priority",
  },
  attempt: {
    kind: "count",
    isApart: true,
    answer: "0 before the first start",
    isAlways: true,
    column: "attempt",
  },
  retries: {
    kind: "count",
    min: 0,
    max: limits.MAX_RETRIES,
    request: "Maximum number of restarts; default 0",
    answer: "Maximum number of restarts; default: 0",
    changes: "always",
    option: [
      START,
      "--retries <n>",
      "maximum number of restarts after the job is lost or requeued, or ends as --retry-on names (default: 0)",
    ],
    form: ["Retries if it is lost or requeued"],
  },
  retryOn: {
    kind: "ends",
    max: limits.MAX_RETRY_WORDS,
    request:
      'Ends after which the job is started again, within retries: "fail" for any end that would make it failed, exit codes such as "75", signals such as "SIGBUS". Default: only after it is lost or requeued',
    answer: "Ends after which the job is started again",
    changes: "always",
    called: "retry on",
    option: [
      START,
      "--retry-on <ends>",
      "also restart after these ends, separated by commas: fail (any failure), exit codes such as 75, signals such as SIGBUS; needs --retries",
    ],
    form: ["Retry also after these ends", "fail, 75, SIGBUS"],
  },
  retryDelayMs: {
    kind: "duration",
    min: limits.MIN_RETRY_DELAY_MS,
    max: limits.MAX_RETRY_DELAY_MS,
    rangeText: "one second to one day",
    request:
      "Wait in ms before the first retry because of retryOn; it doubles with every further one, up to 6 minutes. Default: 10,000",
    answer: "Wait before the first retry; default: 10,000",
    changes: "always",
    called: "retry delay",
    option: [
      START,
      "--retry-delay <duration>",
      "wait before the first such restart, 1s to 1d; doubled each time, up to 6 minutes (default: 10s)",
    ],
    form: ["Wait before such a retry", "10s"],
  },
  repeats: { kind: "job", answer: "The job that this one runs again" },
  onStart: {
    kind: "hook",
    request: `When an attempt begins: ${AS_USER}`,
    answer: true,
    option: [
      NEWS,
      "--on-start <command>",
      "run this shell command as you when an attempt begins, at most 30 s; TUTTI_JOB, TUTTI_EVENT and other variables say what happened",
    ],
  },
  onEnd: {
    kind: "hook",
    request: `When the job has ended, also if it failed or was cancelled: ${AS_USER}`,
    answer: true,
    option: [NEWS, "--on-end <command>", "the same when the job has ended, in whatever way"],
  },
  onFail: {
    kind: "hook",
    request: `When the job has failed: ${AS_USER}`,
    answer: true,
    option: [NEWS, "--on-fail <command>", "the same when the job has failed"],
  },
  webhook: {
    kind: "url",
    request:
      "Address that gets a POST with JSON at the events of notify, sent by a process of the job's user",
    answer: true,
    option: [
      NEWS,
      "--webhook <url>",
      "send a POST with JSON to this address, http or https, at the events of --notify",
    ],
  },
  mail: {
    kind: "addresses",
    request:
      "Addresses, separated by commas, that get a mail at the events of notify; sendmail runs as the job's user. An array sends one mail when its first job begins, and one when its last job has ended",
    answer: "Addresses, separated by commas, that get a mail at the events of notify",
    option: [
      NEWS,
      "--mail <addresses>",
      "send a mail to these addresses, separated by commas, at the events of --notify; an array sends one for all its jobs",
    ],
  },
  notify: {
    kind: "events",
    request: "Events that the webhook and the mail report; default: end",
    answer: true,
    option: [
      NEWS,
      "--notify <events>",
      "events for --webhook and --mail, separated by commas: start, end, fail (default: end)",
    ],
  },
  limitSignal: {
    kind: "signal",
    request: "A signal before the time limit, after limitMs - beforeMs of running time",
    answer: true,
    option: [
      NEWS,
      "--signal <signal>",
      "send a signal before the time limit: USR1@30 sends SIGUSR1 30 s before it (default: 60 s), to all processes but the script itself; B:USR1@30 to the script only",
    ],
  },
  news: { kind: "outcomes", isApart: true, answer: "The last outcome of each of its hooks" },
  command: {
    kind: "command",
    request: "Program and its arguments, passed on without a shell",
    answer:
      "In lists of jobs, long commands are cut and end with …; the answer about one job has the whole command",
    isRequired: true,
    isAlways: true,
    column: "command",
  },
  script: { kind: "script", isApart: true, request: "A script, copied at submit; the job runs the copy" },
  input: {
    kind: "choice",
    choices: ["pipe", "terminal"],
    request:
      "What the job reads as standard input. pipe: a named pipe that a client writes to, as tutti run does; without such a client the job fails. terminal: the job has a terminal, to which clients attach. Only on one machine, and not for arrays. Default: nothing (/dev/null)",
    answer: "What it reads as standard input: what a client sends, or a terminal; default: nothing",
  },
  stdout: {
    kind: "path",
    request:
      "File for standard output; %j job, %A array, %a array index, %x name, %u user, %N machine (the first node of the job). Default: a file in the job's own folder",
    answer: "",
    isAlways: true,
    option: [
      FILES,
      "-o, --output <file>",
      "file for standard output, and for standard error unless -e is given; %j stands for the job, %A the array, %a the index, %x the name, %u the user, %N the machine (default: kept for tutti logs)",
    ],
    column: "stdout",
  },
  stderr: {
    kind: "path",
    request: "File for standard error, with the same placeholders as stdout",
    answer: "",
    isAlways: true,
    option: [FILES, "-e, --error <file>", "file for standard error"],
  },
  openMode: {
    kind: "choice",
    choices: ["append", "truncate"],
    request:
      "What each start does with output files that are there: append to them, or truncate them first. Default: append",
    answer: "What each start does with output files that are there; default: append",
    option: [
      FILES,
      "--open-mode <how>",
      "append to output files that are there, or truncate them at each start (default: append, with #SBATCH lines truncate)",
    ],
  },
  cwd: {
    kind: "folder",
    request: "Working directory, absolute",
    answer: "",
    isRequired: true,
    isAlways: true,
    option: [FILES, "-D, --cwd <folder>", "working directory (default: the current one)"],
    sbatch: "chdir",
    column: "folder",
  },
  env: {
    kind: "environment",
    isApart: true,
    request:
      "The job's whole environment, by name; Tutti adds TUTTI_… variables, and OMP_NUM_THREADS if it is not set",
    isRequired: true,
    option: [
      FILES,
      "--env <list>",
      "environment: all, none, NAME, PREFIX* or NAME=value, separated by commas (default: all)",
    ],
  },
  modules: {
    kind: "names",
    max: limits.MAX_MODULES,
    request:
      "Environment modules, loaded in this order where the job starts, before its command. If one cannot be loaded, the job fails and says why",
    answer: "Environment modules that it loads",
    changes: "waiting",
    option: [
      FILES,
      "--module <names>",
      "load environment modules first, such as gcc/12,openmpi; may be repeated",
    ],
    fact: "modules",
    column: "modules",
    form: ["Modules", "gcc/12,openmpi"],
  },
  conda: {
    kind: "path",
    request: "Environment of conda, mamba or micromamba that is activated first: a name or a path",
    answer: "Environment of conda that it activates",
    changes: "waiting",
    option: [FILES, "--conda <environment>", "activate this environment of conda first: a name or a path"],
    fact: "conda",
    column: "conda",
    form: ["Conda environment", "name or path"],
  },
  venv: {
    kind: "path",
    request: "Virtual environment of Python that is activated first: its folder, from cwd if it is relative",
    answer: "Virtual environment of Python that it activates",
    changes: "waiting",
    option: [FILES, "--venv <folder>", "activate this virtual environment of Python first"],
    fact: "venv",
    column: "venv",
    form: ["Python virtual environment", ".venv"],
  },
  image: {
    kind: "path",
    request:
      "Image of a container in which the command runs: a file or address for apptainer, a name for podman, a folder with a root file system for bubblewrap. Not with modules, conda and venv",
    answer: "Image of the container in which it runs",
    changes: "waiting",
    option: [
      FILES,
      "--image <image>",
      "run in a container: a .sif file or docker:// address with apptainer, a name with podman, a folder with bubblewrap",
    ],
    sbatch: "container",
    fact: "image",
    column: "image",
    form: ["Container image", "tools.sif"],
  },
  umask: {
    kind: "mask",
    request:
      "File mode creation mask of the job, as octal digits such as 022 or 027; default 077: only its user can use its files",
  },
  submittedAtMs: { kind: "time", answer: "Unix time in ms", isAlways: true },
  startedAtMs: { kind: "time", isApart: true, answer: "Unix time in ms", column: "started" },
  pausedAtMs: { kind: "time", answer: "Since when it is paused" },
  released: {
    kind: "yes",
    answer: "It was paused with release, and has not got CPUs again: it waits for them after it is resumed",
  },
  endedAtMs: { kind: "time", isApart: true, answer: "Unix time in ms" },
  ranMs: {
    kind: "duration",
    isApart: true,
    answer: "Running time so far in ms, without the time in which the job was stopped",
    isAlways: true,
  },
  usage: {
    kind: "usage",
    isApart: true,
    answer:
      "What the last attempt used until its end, as far as the control groups of its machine count it, and of its GPUs also while it runs",
  },
  code: { kind: "code", isApart: true, answer: "Exit code", column: "exit code" },
  signal: {
    kind: "text",
    isApart: true,
    answer: "Signal that ended the job, such as SIGKILL",
    column: "signal",
  },
  reason: { kind: "text", isApart: true, answer: "Why the job waits, or why it ended this way" },
  cpus: { kind: "cpus", isApart: true, answer: "", isAlways: true },
  nodes: {
    kind: "nodes",
    isApart: true,
    answer: "The nodes of its CPUs; default: all are on the machine that runs the scheduler",
  },
} as const satisfies Readonly<Record<string, JobField>>;

type Rows = typeof JOB_FIELDS;
export type JobFieldName = keyof Rows;
/** Names of the fields whose rows have this. */
export type FieldsWith<Row> = {
  [Name in JobFieldName]: Rows[Name] extends Row ? Name : never;
}[JobFieldName];

/** The rows, in their order. */
export const JOB_FIELD_ROWS = Object.entries(JOB_FIELDS) as readonly (readonly [JobFieldName, JobField])[];

/** Fields that the store keeps in one JSON, because they rarely change after the submit. */
export const STORED_FIELDS = JOB_FIELD_ROWS.filter(([, { isApart }]) => !isApart).map(
  ([name]) => name as Exclude<JobFieldName, FieldsWith<{ readonly isApart: true }>>,
);

/** Names of the fields whose rows have something, in the order of the rows. */
export function fieldsWith<Key extends keyof JobField>(
  key: Key,
): FieldsWith<{ readonly [K in Key]: unknown }>[] {
  return JOB_FIELD_ROWS.filter(([, row]) => row[key] !== undefined).map(
    ([name]) => name as FieldsWith<{ readonly [K in Key]: unknown }>,
  );
}

/** The fields by which jobs are selected. */
export const FILTERS = fieldsWith("filter");
export type Filters = { readonly [Name in (typeof FILTERS)[number]]?: string };

/** What people call a field. */
export function calledOf(name: JobFieldName): string {
  const { called = name }: JobField = JOB_FIELDS[name];
  return called;
}

/** The long flag of a field's option, such as `--retry-on`; empty if it has none. */
export function longFlag({ option }: JobField): string {
  return /--[\w-]+/.exec(option?.[1] ?? "")?.[0] ?? "";
}
