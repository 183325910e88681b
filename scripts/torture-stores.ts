/**
 * Stores of earlier versions as SQL, made of what schedulers of that time have left (test/recordings). Lives
 * in a simulated world begin with one of them, so that it is brought up to date there.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { zstdDecompressSync } from "node:zlib";

const RECORDINGS = fileURLToPath(new URL("../test/recordings/", import.meta.url));

/** By version. */
export function recordedStores(): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-stores-"));
  try {
    const stores: Record<string, string> = {};
    for (const name of readdirSync(RECORDINGS)) {
      const version = /^store-v(\d+)\.db\.zst$/.exec(name)?.[1];
      if (version === undefined) continue;
      const file = join(folder, version);
      writeFileSync(file, zstdDecompressSync(readFileSync(join(RECORDINGS, name))));
      stores[version] = sqlOf(file);
    }
    return stores;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sqlOf(file: string): string {
  const database = new DatabaseSync(file);
  try {
    const { auto_vacuum: vacuum } = database.prepare("PRAGMA auto_vacuum").get()!;
    const things = database
      .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
      .all() as { readonly type: string; readonly name: string; readonly sql: string }[];
    const tables = things.filter(({ type }) => type === "table");
    const own = ({ name }: { readonly name: string }) => !name.startsWith("sqlite_");
    const columnsOf = (table: string) =>
      database
        .prepare("SELECT name FROM pragma_table_info(?)")
        .all(table)
        .map(({ name }) => `quote("${name}")`);
    const rows = tables.flatMap(({ name }) =>
      database
        .prepare(`SELECT concat_ws(',', ${columnsOf(name)}) AS list FROM "${name}"`)
        .all()
        .map(({ list }) => `INSERT INTO "${name}" VALUES (${list})`),
    );
    return [
      `PRAGMA auto_vacuum = ${vacuum}`,
      "PRAGMA journal_mode = WAL",
      "BEGIN",
      ...tables.filter(own).map(({ sql }) => sql),
      ...rows,
      ...things.filter((thing) => thing.type !== "table" && own(thing)).map(({ sql }) => sql),
      "COMMIT;",
    ].join(";\n");
  } finally {
    database.close();
  }
}
