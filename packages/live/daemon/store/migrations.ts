/**
 * Brings a database of an older version up to date, step by step, oldest first. A released migration is never
 * changed, so state files of every version from `FIRST_VERSION` on can be opened. Each migration runs in its
 * own transaction, together with its row in `migrations`.
 */
import type { DatabaseSync } from "@tutti/host/ports/sqlite.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { eventAsJson } from "./old-events.ts";

/** The oldest version that is opened. */
export const FIRST_VERSION = 5;
/** With this revision, the last one that did it, stores of earlier versions are brought to version 9. */
const BEFORE = "e32fa342";

/** What brings a store to each version, from `FIRST_VERSION` on. The first makes that version's tables. */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- Environments are shared: the jobs of an array, and most jobs of a shell, have the same one.
  CREATE TABLE environments (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, json TEXT NOT NULL);
  INSERT INTO environments (hash, json)
    VALUES (x'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', '{}');
  -- Job scripts as they were when submitted; shared like environments.
  CREATE TABLE scripts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, content BLOB NOT NULL);

  CREATE TABLE jobs (
    job INTEGER PRIMARY KEY,
    uid INTEGER NOT NULL,
    state TEXT NOT NULL,
    priority INTEGER NOT NULL,
    place INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    -- CPUs by node, as JSON: [{"node":"localhost","cpus":[0,1]}].
    nodes TEXT NOT NULL,
    started_ms REAL,
    ended_ms REAL,
    ran_ms REAL NOT NULL,
    code INTEGER,
    signal TEXT,
    reason TEXT,
    ending TEXT,
    key TEXT,
    -- A job that has ended needs neither environment nor script: it has the empty one.
    environment INTEGER NOT NULL REFERENCES environments (id),
    -- What rarely changes after the submit, as JSON.
    spec TEXT NOT NULL,
    script INTEGER REFERENCES scripts (id),
    -- What an ended job still takes, roughly.
    kept_bytes INTEGER,
    -- Attempts that Tutti ended because their CPUs were taken away. They do not count against the retries.
    uncharged INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX jobs_by_key ON jobs (uid, key) WHERE key IS NOT NULL;
  CREATE INDEX jobs_live ON jobs (job) WHERE ended_ms IS NULL;
  -- What is needed to forget ended jobs, the oldest end first, and what jobs no longer use.
  CREATE INDEX jobs_ended ON jobs (ended_ms, job) WHERE ended_ms IS NOT NULL;
  CREATE INDEX jobs_by_environment ON jobs (environment);
  CREATE INDEX jobs_by_script ON jobs (script) WHERE script IS NOT NULL;
  -- What ended jobs and events take is shared fairly between users: the oldest of each is found without a look at those of others.
  CREATE INDEX jobs_kept ON jobs (uid, attempt > 0, ended_ms, job) WHERE ended_ms IS NOT NULL;
  -- Ended jobs by number, all and those of a user, with all that a list asks before it reads a job.
  CREATE INDEX jobs_ended_by_number ON jobs (job, uid, state) WHERE ended_ms IS NOT NULL;
  CREATE INDEX jobs_ended_by_user ON jobs (uid, job, state) WHERE ended_ms IS NOT NULL;

  CREATE TABLE attempts (
    job INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    nodes TEXT NOT NULL,
    decided_ms REAL NOT NULL,
    started_ms REAL,
    ended_ms REAL,
    ran_ms REAL,
    code INTEGER,
    signal TEXT,
    reason TEXT,
    lost TEXT,
    cpu_ms REAL,
    -- 32 random hexadecimal digits, without which nothing that is reported of an attempt is believed. NULL: the attempt is of the first
    -- release, and only such an attempt is believed without.
    identity TEXT,
    PRIMARY KEY (job, attempt)
  ) WITHOUT ROWID;

  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    at_ms REAL NOT NULL,
    kind TEXT NOT NULL,
    job INTEGER,
    uid INTEGER,
    user TEXT,
    data TEXT,
    -- Data that only administrators and one user receive (only administrators: NULL), as JSON.
    secret TEXT,
    secret_of INTEGER
  );
  CREATE INDEX events_by_user ON events (uid);

  CREATE TABLE forecasts (
    job INTEGER PRIMARY KEY,
    made_ms REAL NOT NULL,
    p10_ms REAL NOT NULL,
    p50_ms REAL NOT NULL,
    p90_ms REAL NOT NULL,
    started_ms REAL
  );
  CREATE INDEX forecasts_judged ON forecasts (started_ms) WHERE started_ms IS NOT NULL;

  -- Jobs that are forgotten, whose folders are still to be removed.
  CREATE TABLE leftovers (job INTEGER PRIMARY KEY);
  -- Every job of the user that ended later is kept; -1: of any user.
  CREATE TABLE forgotten (uid INTEGER PRIMARY KEY, until_ms REAL NOT NULL);
  `,
  `
  -- The units of countable resources that the job, or the attempt, holds or held last, as JSON: {"gpu":["0"]}. NULL: none.
  ALTER TABLE jobs ADD COLUMN units TEXT;
  ALTER TABLE attempts ADD COLUMN units TEXT;
  `,
  `
  -- What the last attempt used, as far as control groups count it, as JSON: {"cpuMs":1200,"peakMemoryBytes":4096}. NULL: unknown.
  ALTER TABLE jobs ADD COLUMN usage TEXT;
  `,
  `
  -- CPU time of each user's ended attempts, as it counts for fair share at a Unix time: it decays, and outlives the jobs.
  CREATE TABLE share_usage (uid INTEGER PRIMARY KEY, user TEXT NOT NULL, cpu_ms REAL NOT NULL, at_ms REAL NOT NULL);
  `,
  `
  -- News that hooks have not received yet. What a hook is and learns is in the job, and goes with it. uid is the owner of the job, who
  -- pays for the row, also if the hook is the machine's. Of news about an array, array is its first job, and job the one that ended last.
  CREATE TABLE news (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    uid INTEGER NOT NULL,
    is_machines INTEGER NOT NULL,
    job INTEGER NOT NULL,
    array INTEGER,
    hook TEXT NOT NULL,
    event TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    due_ms REAL NOT NULL,
    -- How the jobs of the array stand, as JSON.
    states TEXT
  );
  -- The last outcome of each hook, as JSON; sequence is that of its news.
  CREATE TABLE outcomes (
    job INTEGER NOT NULL,
    hook TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (job, hook)
  ) WITHOUT ROWID;
  INSERT INTO news (id, uid, is_machines, job, array, hook, event, attempt, at_ms, tries, due_ms, states)
    SELECT old.value ->> 'id', jobs.uid, old.value ->> 'uid' = 'machine', jobs.job,
      iif(old.value -> 'array' IS NULL, NULL, old.value ->> 'job'), old.value ->> 'hook', old.value ->> 'event',
      CAST(ifnull(old.value ->> '$.data.TUTTI_ATTEMPT', 0) AS INTEGER), CAST(substr(old.value ->> 'id', 1, 14) AS INTEGER),
      old.value ->> 'tries', max(old.value ->> 'notBeforeMs', CAST(substr(old.value ->> 'id', 1, 14) AS INTEGER)), old.value -> 'array'
    FROM meta AS old JOIN jobs ON jobs.job = iif(old.value -> 'array' IS NULL, old.value ->> 'job', old.value ->> '$.array.last')
    WHERE old.name > 'news ' AND old.name < 'news!' ORDER BY old.name;
  INSERT INTO outcomes
    SELECT jobs.job, old.value ->> 'hook', 0, old.value FROM meta AS old
      JOIN jobs ON jobs.job = CAST(substr(old.name, 9) AS INTEGER)
    WHERE old.name > 'outcome ' AND old.name < 'outcome!' ON CONFLICT DO NOTHING;
  DELETE FROM meta WHERE (name > 'news ' AND name < 'news!') OR (name > 'outcome ' AND name < 'outcome!');
  CREATE INDEX news_by_turn ON news (is_machines, uid, due_ms, sequence);
  CREATE INDEX news_by_job ON news (job);
  CREATE INDEX news_by_array ON news (array) WHERE array IS NOT NULL;

  -- Whose folder it was.
  ALTER TABLE leftovers ADD COLUMN uid INTEGER NOT NULL DEFAULT -1;

  -- What a start asks of ended jobs, without reading their long rows.
  DROP INDEX jobs_ended;
  CREATE INDEX jobs_ended ON jobs (ended_ms, job, uid, state, attempt, environment, script, kept_bytes) WHERE ended_ms IS NOT NULL;

  -- What each user has in the store, by kind of row; -1: what is everybody's.
  CREATE TABLE ledger (
    uid INTEGER NOT NULL,
    kind TEXT NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (uid, kind)
  ) WITHOUT ROWID;
  INSERT INTO ledger
    SELECT uid, 'jobs', count(*), sum(600 + octet_length(spec)) FROM jobs GROUP BY uid
    UNION ALL SELECT ifnull(uid, -1), 'attempts', count(*), sum(200 + 2 * octet_length(attempts.nodes)) FROM attempts
      LEFT JOIN jobs USING (job) GROUP BY ifnull(uid, -1)
    UNION ALL SELECT ifnull(uid, -1), 'events', count(*),
      sum(200 + ifnull(octet_length(data), 0) + ifnull(octet_length(secret), 0)) FROM events GROUP BY ifnull(uid, -1)
    UNION ALL SELECT ifnull(uid, -1), 'forecasts', count(*), sum(60) FROM forecasts LEFT JOIN jobs USING (job) GROUP BY ifnull(uid, -1)
    UNION ALL SELECT uid, 'news', count(*), sum(300 + ifnull(octet_length(states), 0)) FROM news GROUP BY uid
    UNION ALL SELECT ifnull(uid, -1), 'outcomes', count(*), sum(60 + octet_length(value)) FROM outcomes
      LEFT JOIN jobs USING (job) GROUP BY ifnull(uid, -1)
    UNION ALL SELECT uid, 'leftovers', count(*), sum(30) FROM leftovers GROUP BY uid;
  `,
  `
  -- Data of events were flat; now their lists and maps are JSON (old-events.ts).
  UPDATE events SET data = event_as_json(kind, data) WHERE data IS NOT NULL
    AND kind IN ('updated', 'placed', 'starting', 'reserved', 'window-began', 'matrix');
  UPDATE ledger SET bytes = (
    SELECT sum(200 + ifnull(octet_length(data), 0) + ifnull(octet_length(secret), 0)) FROM events
      WHERE ifnull(events.uid, -1) = ledger.uid
  ) WHERE kind = 'events';
  `,
];

export const LATEST_VERSION = FIRST_VERSION + MIGRATIONS.length - 1;

/** Brings a database to the current version. @throws InputError for a version that cannot be opened */
export function migrate(database: DatabaseSync, path: string, nowMs: number): void {
  database.exec(
    "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, applied_ms REAL NOT NULL)",
  );
  const row = database.prepare("SELECT max(number) AS latest FROM migrations").get();
  const latest = Number(row?.latest ?? 0);
  refuseVersion("open", path, latest);
  const note = database.prepare("INSERT INTO migrations (number, applied_ms) VALUES (?, ?)");
  database.function("event_as_json", { deterministic: true }, eventAsJson);
  for (let number = Math.max(FIRST_VERSION, latest + 1); number <= LATEST_VERSION; number++) {
    database.exec("BEGIN IMMEDIATE");
    note.run(number, nowMs);
    database.exec(MIGRATIONS[number - FIRST_VERSION]);
    database.exec("COMMIT");
  }
}

/** @throws InputError for a version that this revision cannot use; 0 is a new store */
export function refuseVersion(verb: string, path: string, version: number): void {
  const expected = `expected ${FIRST_VERSION} to ${LATEST_VERSION}`;
  if (version > LATEST_VERSION) {
    throw new InputError(
      `Cannot ${verb} "${path}": it has version ${version}, ${expected}; a later version of Tutti wrote it`,
    );
  }
  if (version > 0 && version < FIRST_VERSION) {
    throw new InputError(
      `Cannot ${verb} "${path}": it has version ${version}, ${expected}; start Tutti of revision ${BEFORE} with it once, which makes it version 9`,
    );
  }
}
