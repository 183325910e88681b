/** Recognizes files that people give in place of a trace, so that a message can say what they are. */

/** Beginnings of files, as bytes (one character each); some formats have theirs further on. */
const MAGIC: readonly (readonly [bytes: string, what: string, advice: "unpack" | "table", at?: number])[] = [
  ["PK\x03\x04", "a zip archive", "unpack"],
  ["\xFD7zXZ\x00", "a file compressed with xz", "unpack"],
  ["\x28\xB5\x2F\xFD", "a file compressed with zstd", "unpack"],
  ["BZh", "a file compressed with bzip2", "unpack"],
  ["7z\xBC\xAF\x27\x1C", "a 7-Zip archive", "unpack"],
  ["\x04\x22\x4D\x18", "a file compressed with lz4", "unpack"],
  ["ustar", "a tar archive", "unpack", 257],
  ["PAR1", "a Parquet file", "table"],
  ["ARROW1", "an Arrow file", "table"],
  ["ORC", "an ORC file", "table"],
  ["Obj\x01", "an Avro file", "table"],
  ["\x89HDF", "an HDF5 file", "table"],
  ["SQLite format 3\x00", "a SQLite database", "table"],
];
const SEPARATORS = [",", "\t", "|", ";"];
const FEWEST_COLUMNS = 3;
const COLUMNS_SHOWN = 4;
/** The way in for what has rows. */
const BY_WORKLOAD_FILE =
  'expected a trace; write each row as a line such as {"job":1,"submitS":0,"runS":60,"tasks":4,"user":"anna"} below a first line {"schema":"tutti.workload-file/1"}, see "Workload files" in docs/workloads.md';

/** What the file is and what to do, if its beginning shows that it is not a trace. */
export function otherFile(head: Uint8Array): string | undefined {
  const bytes = String.fromCharCode(...head.subarray(0, 512));
  const known = MAGIC.find(([magic, , , at = 0]) => bytes.startsWith(magic, at));
  if (known !== undefined) {
    const [, what, advice] = known;
    return `this is ${what}, ${advice === "unpack" ? "expected a trace, plain or compressed with gzip; unpack it first" : BY_WORKLOAD_FILE}`;
  }
  const text = new TextDecoder().decode(head).replace(/^\uFEFF/, "");
  if (/^\s*\[\s*[[{"\d]/.test(text)) return `this looks like a JSON array, ${BY_WORKLOAD_FILE}`;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.length === 0 || lines[0].startsWith(";") || lines.some(isJobLine)) return undefined;
  const columns = SEPARATORS.map((separator) => lines[0].split(separator)).reduce((most, cells) =>
    cells.length > most.length ? cells : most,
  );
  const names = columns.map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  if (names.length < FEWEST_COLUMNS || !names.every((name) => /^[\p{L}_][^\p{Cc}]{0,39}$/u.test(name)))
    return undefined;
  const shown = names.slice(0, COLUMNS_SHOWN).join(", ");
  const more = names.length > COLUMNS_SHOWN ? " …" : "";
  return `this looks like a table (${names.length} columns: ${shown}${more}), ${BY_WORKLOAD_FILE}`;
}

/** Whether a line could be a job in Standard Workload Format, below a line that is not. */
function isJobLine(line: string): boolean {
  const fields = line.trim().split(/\s+/);
  return fields.length >= 18 && fields.every((field) => /^[-+.\d]/.test(field));
}
