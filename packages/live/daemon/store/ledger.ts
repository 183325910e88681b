/**
 * Counts what each user has in the store, by kind of row. A row is inserted only with a `Charge`, which only
 * the ledger makes, and a charge has an owner and a price. So a table that a user can fill without being
 * charged cannot be written. Sums are kept on disk, in the transaction of the rows.
 *
 * Environments and scripts are shared between users: each is charged to all who have it (book/holdings.ts,
 * book/kept-contents.ts).
 */
import { Charge, type Statements } from "./statements.ts";

/** Owner of what is everybody's, such as the event of another policy. */
export const EVERYBODY = -1;

/**
 * Bytes that a row takes with its entries in indexes, besides its texts. Never below what SQLite uses.
 * Migration 9 has the same numbers: others need a migration that counts all rows again.
 */
const ROW_BYTES = {
  jobs: 600,
  attempts: 200,
  events: 200,
  forecasts: 60,
  news: 300,
  outcomes: 60,
  leftovers: 30,
} as const;
type Kind = keyof typeof ROW_BYTES;

/** SQL for the bytes of a row. */
const PRICE: Readonly<Record<Kind, string>> = {
  jobs: `${ROW_BYTES.jobs} + octet_length(spec)`,
  // The job's own row has the CPUs of the last attempt, too.
  attempts: `${ROW_BYTES.attempts} + 2 * octet_length(nodes)`,
  events: `${ROW_BYTES.events} + ifnull(octet_length(data), 0) + ifnull(octet_length(secret), 0)`,
  forecasts: `${ROW_BYTES.forecasts}`,
  news: `${ROW_BYTES.news} + ifnull(octet_length(states), 0)`,
  outcomes: `${ROW_BYTES.outcomes} + octet_length(value)`,
  leftovers: `${ROW_BYTES.leftovers}`,
};

/** SQL for the user who pays for a row. */
const PAYER: Readonly<Record<Kind, string>> = {
  jobs: "uid",
  attempts: payerOfJob("attempts"),
  events: "uid",
  forecasts: payerOfJob("forecasts"),
  news: "uid",
  outcomes: payerOfJob("outcomes"),
  leftovers: "uid",
};

function payerOfJob(table: Kind): string {
  return `(SELECT uid FROM jobs WHERE jobs.job = ${table}.job)`;
}

/** What a user has of a kind. */
interface Amount {
  readonly uid: number;
  readonly kind: Kind;
  rows: number;
  bytes: number;
}

/** Not exported: nobody else makes charges. */
class RowCharge extends Charge {
  readonly #enter: () => void;

  constructor(enter: () => void) {
    super();
    this.#enter = enter;
  }

  override enter(): void {
    this.#enter();
  }
}

const NOTHING = { rows: 0, bytes: 0 };

export class Ledger {
  readonly #sql: Statements;
  readonly #users = new Map<number, Map<Kind, Amount>>();
  /** Amounts that differ from those on disk. */
  readonly #changed = new Set<Amount>();

  constructor(sql: Statements) {
    this.#sql = sql;
    this.#load();
  }

  /** @param texts those that count besides the row, in the order of PRICE */
  charge(uid: number, kind: Kind, ...texts: readonly (string | null)[]): Charge {
    return new RowCharge(() => this.#add(uid, kind, 1, priceOf(kind, texts)));
  }

  /**
   * Removes rows, for which their users then no longer pay.
   * @param owner the user who pays; "uid": the row says who
   * @returns how many there were
   */
  forget(kind: Kind, owner: number | "uid", which: string, ...values: (number | string | null)[]): number {
    const sql = `DELETE FROM ${kind} WHERE ${which} RETURNING ${PRICE[kind]} AS bytes${owner === "uid" ? ", uid" : ""}`;
    const rows = this.#sql.all(sql, ...values);
    for (const { uid, bytes } of rows) {
      this.#add(owner === "uid" ? Number(uid ?? EVERYBODY) : owner, kind, -1, -Number(bytes));
    }
    return rows.length;
  }

  /** A row of a user has become longer or shorter. */
  adjust(uid: number, kind: Kind, bytes: number): void {
    if (bytes !== 0) this.#add(uid, kind, 0, bytes);
  }

  of(uid: number, kind: Kind): Readonly<Pick<Amount, "rows" | "bytes">> {
    const { rows, bytes } = this.#users.get(uid)?.get(kind) ?? NOTHING;
    // A copy, because amounts change in place.
    return { rows, bytes };
  }

  bytesOf(uid: number): number {
    let sum = 0;
    for (const { bytes } of this.#users.get(uid)?.values() ?? []) sum += bytes;
    return sum;
  }

  users(): IterableIterator<number> {
    return this.#users.keys();
  }

  /** Called inside the transaction, before it is committed. */
  write(): void {
    for (const { uid, kind, rows, bytes } of this.#changed) {
      if (rows <= 0) this.#sql.run("DELETE FROM ledger WHERE uid = ? AND kind = ?", uid, kind);
      else {
        this.#sql.set(
          `INSERT INTO ledger (uid, kind, rows, bytes) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET (rows, bytes) = (excluded.rows, excluded.bytes)`,
          ...[uid, kind, rows, bytes],
        );
      }
    }
  }

  commit(): void {
    this.#changed.clear();
  }

  rollback(): void {
    if (this.#changed.size > 0) this.#load();
  }

  #load(): void {
    this.#changed.clear();
    this.#users.clear();
    for (const { uid, kind, rows, bytes } of this.#sql.all("SELECT uid, kind, rows, bytes FROM ledger")) {
      const amount = this.#amount(Number(uid), kind as Kind);
      amount.rows = Number(rows);
      amount.bytes = Number(bytes);
    }
  }

  #add(uid: number, kind: Kind, rows: number, bytes: number): void {
    const amount = this.#amount(uid, kind);
    amount.rows += rows;
    amount.bytes += bytes;
    this.#changed.add(amount);
    if (amount.rows > 0) return;
    const user = this.#users.get(uid);
    user?.delete(kind);
    if (user?.size === 0) this.#users.delete(uid);
  }

  #amount(uid: number, kind: Kind): Amount {
    let user = this.#users.get(uid);
    if (user === undefined) {
      user = new Map();
      this.#users.set(uid, user);
    }
    let amount = user.get(kind);
    if (amount === undefined) {
      amount = { uid, kind, rows: 0, bytes: 0 };
      user.set(kind, amount);
    }
    return amount;
  }
}

/** A database, as far as it is read here. */
interface Readable {
  prepare(sql: string): { all(): Readonly<Record<string, unknown>>[] };
}

/**
 * Counts all rows again, in a store of the latest version, in one statement: a front end may be using it.
 * @returns where the ledger says something else, as text for people
 */
export function miscounts(database: Readable): string[] {
  const counted = (Object.keys(ROW_BYTES) as Kind[]).map(
    (kind) => `SELECT 'rows', ifnull(${PAYER[kind]}, ${EVERYBODY}) AS payer, '${kind}', count(*),
      sum(${PRICE[kind]}) FROM ${kind} GROUP BY payer`,
  );
  const noted = "SELECT 'ledger' AS source, uid, kind, rows, bytes FROM ledger";
  const amounts = { ledger: new Map<string, string>(), rows: new Map<string, string>() };
  for (const { source, uid, kind, rows, bytes } of database
    .prepare([noted, ...counted].join(" UNION ALL "))
    .all())
    amounts[source as keyof typeof amounts].set(`user ${uid} has ${kind}`, `${rows} of ${bytes} bytes`);
  return [...new Set([...amounts.ledger.keys(), ...amounts.rows.keys()])].flatMap((what) => {
    const [note, count] = [amounts.ledger.get(what) ?? "none", amounts.rows.get(what) ?? "none"];
    return note === count ? [] : [`${what}: ${count}, and the ledger says ${note}`];
  });
}

function priceOf(kind: Kind, texts: readonly (string | null)[]): number {
  const factor = kind === "attempts" ? 2 : 1;
  let bytes: number = ROW_BYTES[kind];
  for (const text of texts) bytes += text === null ? 0 : factor * Buffer.byteLength(text);
  return bytes;
}

/** What a new job is charged besides its texts, with the event of its submit. */
export const NEW_JOB_BYTES = ROW_BYTES.jobs + 400 + ROW_BYTES.events;
/** What a job that has not ended will be charged for its end. */
export const END_BYTES = ROW_BYTES.events + ROW_BYTES.leftovers;
/** The same for each of its hooks: news, and how it ended. */
export const HOOK_BYTES = ROW_BYTES.news + ROW_BYTES.outcomes + 400;
