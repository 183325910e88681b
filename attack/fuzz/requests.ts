/**
 * Makes requests from a seed: each is valid according to the document at first, then its body, headers and
 * bytes are changed. The same seed and number give the same bytes.
 */
import { Random } from "@tutti/kernel/core/random.ts";
import type { ApiDocument, Operation } from "./document.ts";

export interface FuzzRequest {
  readonly number: number;
  readonly bytes: Buffer;
  readonly method: string;
  /** The intended path, without the query. */
  readonly path: string;
  /** Whether it has a token that must be accepted. */
  readonly isAuthorised: boolean;
  /** False if the request is broken HTTP, so that any answer is right, even a closed connection. */
  readonly isHttp: boolean;
}

export interface Senders {
  /** Valid tokens. */
  readonly tokens: readonly string[];
  readonly host: string;
}

const NASTY = [
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00",
  "%zz",
  "%2e%2e%2f",
  "\u001b[2J",
  "\u202e",
  "<script>",
  "-1",
  "0",
  "1e999",
  "9".repeat(400),
  "\u0000",
  "'\"`$(id)",
  "é".repeat(300),
];
const BROKEN_JSON = [
  "",
  "{",
  "[",
  '{"jobs":',
  "nul",
  '{"a":1}}',
  "\ufeff{}",
  "{'a':1}",
  '{"jobs":[1e999]}',
  "[".repeat(100_000),
  `${'{"a":'.repeat(20_000)}1`,
];
const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  "",
  [],
  {},
  [[[[]]]],
  { __proto__: null, toString: 1 },
  "\ud800",
  NASTY[8],
];
/** Operations that are never sent with root's token: they would end the scheduler, or run jobs as root. */
const NOT_FOR_ROOT = ["shutdown", "submit"];

export function makeRequest(
  document: ApiDocument,
  senders: Senders,
  seed: number,
  number: number,
): FuzzRequest {
  return new Maker(document, senders, new Random(seed, `request ${number}`)).make(number);
}

class Maker {
  readonly #document: ApiDocument;
  readonly #senders: Senders;
  readonly #random: Random;
  #isAuthorised = true;
  #isHttp = true;

  constructor(document: ApiDocument, senders: Senders, random: Random) {
    this.#document = document;
    this.#senders = senders;
    this.#random = random;
  }

  make(number: number): FuzzRequest {
    const { operations } = this.#document;
    // Prefer submits: they give later requests the most to work on.
    const submit = operations.find(({ id }) => id === "submit");
    const operation = submit !== undefined && this.#chance(6) ? submit : this.#one(operations);
    let method = operation.method;
    if (this.#chance(30))
      method = this.#one(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"]);
    const path = this.#path(operation);
    const query = this.#query(operation);
    const headers = this.#headers(operation);
    const body = method === "GET" || method === "HEAD" ? undefined : this.#body(operation);
    const target = query === "" ? path : `${path}?${query}`;
    const head = `${method} ${target} HTTP/1.1\r\n${headers.map((line) => `${line}\r\n`).join("")}`;
    const bytes = this.#chance(25) ? this.#broken(head, body) : whole(head, body);
    const { pathname } = new URL(path, "http://localhost");
    return { number, bytes, method, path: pathname, isAuthorised: this.#isAuthorised, isHttp: this.#isHttp };
  }

  #path({ path }: Operation): string {
    if (this.#chance(40)) return `/${this.#nastyWord()}/${this.#nastyWord()}`;
    const job = this.#chance(12) ? this.#nastyWord() : String(1 + this.#random.below(60));
    const stream = this.#chance(12) ? this.#nastyWord() : this.#one(["stdout", "stderr"]);
    return path
      .replace("{job}", job)
      .replace("{stream}", stream)
      .replaceAll(/\{\w+\}/g, this.#nastyWord());
  }

  #query({ query }: Operation): string {
    const words = query
      .filter(() => this.#chance(2))
      .map(({ name, schema }) => {
        if (this.#chance(5)) return `${name}=${this.#nastyWord()}`;
        // A long wait would only slow down the fuzzer.
        if (name === "wait") return "wait=0";
        const sample = this.#document.sample(schema, this.#random);
        const value =
          "pattern" in schema
            ? this.#one(["0", "1", "5", "100", "true", "queued", "done,failed"])
            : String(sample);
        return `${name}=${encodeURIComponent(value.toWellFormed())}`;
      });
    if (this.#chance(20)) words.push(`${this.#nastyWord()}=${this.#nastyWord()}`);
    if (this.#chance(40) && words[0] !== undefined) words.push(words[0]);
    return words.join("&");
  }

  #headers(operation: Operation): string[] {
    const { tokens, host } = this.#senders;
    const headers = [`host: ${host}`, "connection: close"];
    const isForRoot = !NOT_FOR_ROOT.includes(operation.id);
    const token = this.#one(tokens.filter((one) => isForRoot || !one.startsWith("0.")));
    if (this.#chance(8)) {
      this.#isAuthorised = false;
      const forged = this.#forgedToken(token);
      if (forged !== undefined) headers.push(`authorization: ${forged}`);
    } else headers.push(`authorization: Bearer ${token}`);
    if (operation.body !== undefined && !this.#chance(30)) headers.push("content-type: application/json");
    if (this.#chance(10))
      headers.push(`accept: ${this.#one(["application/json", "text/event-stream", "*/*", "x", ""])}`);
    if (this.#chance(15))
      headers.push(
        `range: ${this.#one(["bytes=0-", "bytes=-5", "bytes=5-1", "bytes=0-0,2-3", "x=1", `bytes=${"9".repeat(30)}-`])}`,
      );
    if (this.#chance(15)) headers.push(`last-event-id: ${this.#one(["0", "-1", "x", "9".repeat(30)])}`);
    if (this.#chance(25)) {
      const line = this.#one([
        "host: evil.example",
        "origin: http://evil.example",
        "origin: null",
        "sec-fetch-site: cross-site",
        `host: ${host}`,
        "x-http-method-override: DELETE",
        "expect: 100-continue",
        "expect: much",
        "content-encoding: gzip",
        "transfer-encoding: gzip",
        "upgrade: websocket",
        `cookie: ${"c".repeat(8000)}`,
        `x: ${"y".repeat(20_000)}`,
      ]);
      this.#isAuthorised = false;
      this.#isHttp = false;
      headers.push(line);
      if (line.startsWith("host: evil")) headers.shift();
    }
    return headers;
  }

  /**
   * No token, another user's number with this signature, one character added, removed or changed, another
   * scheme.
   */
  #forgedToken(token: string): string | undefined {
    const [uid = "", signature = ""] = token.split(".");
    const at = this.#random.below(token.length);
    return this.#one([
      undefined,
      `Bearer ${Number(uid) + 1}.${signature}`,
      `Bearer 0${token}`,
      `Bearer ${token}A`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`,
      `Basic ${token}`,
      `Bearer ${token} ${token}`,
      "Bearer",
      `Bearer 0.${"A".repeat(43)}`,
      `Bearer ${uid}.`,
    ]);
  }

  #body({ body }: Operation): Buffer | undefined {
    if (body === undefined) return this.#chance(5) ? Buffer.from("{}") : undefined;
    if (this.#chance(12)) return Buffer.from(this.#one(BROKEN_JSON));
    if (this.#chance(30))
      return Buffer.from(Array.from({ length: this.#random.below(200) }, () => this.#random.below(256)));
    const sample = this.#document.sample(body, this.#random);
    if (this.#chance(2)) this.#mutate(sample);
    const text = JSON.stringify(sample);
    if (this.#chance(40)) return Buffer.from(text.slice(0, this.#random.below(text.length)));
    if (this.#chance(40)) return Buffer.from(text.replace("{", '{"__proto__":{"isAdministrator":true},'));
    if (this.#chance(60)) return Buffer.from(text.replace(/"x"/, '"\\ud800"'));
    return Buffer.from(text);
  }

  /** Changes a value, adds a key or removes a key, somewhere in the body. */
  #mutate(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const target = value as Record<string, unknown>;
    const keys = Object.keys(target);
    const key = keys.length === 0 ? undefined : this.#one(keys);
    if (key !== undefined && this.#chance(2)) {
      this.#mutate(target[key]);
      return;
    }
    // What jobs execute must not be random.
    if (key === "command" || key === "cwd" || key === "stdout" || key === "stderr" || key === "script")
      return;
    const how = key === undefined ? "add" : this.#one(["add", "remove", "replace", "replace"]);
    const other = this.#chance(2) ? this.#one(VALUES) : this.#one(NASTY);
    if (how === "add" && !Array.isArray(target))
      target[this.#one(["more", "constructor", "toString"])] = other;
    if (how === "remove" && key !== undefined) delete target[key];
    if (how === "replace" && key !== undefined) target[key] = other;
  }

  /** Broken HTTP, or more than one request at once. */
  #broken(head: string, body: Buffer = Buffer.alloc(0)): Buffer {
    this.#isHttp = false;
    this.#isAuthorised = false;
    const text = (more: string) => Buffer.concat([Buffer.from(`${head}${more}\r\n`), body]);
    const chunk = `${body.length.toString(16)}\r\n`;
    switch (this.#random.below(14)) {
      case 0:
        return text("content-length: -1\r\n");
      case 1:
        return text(`content-length: ${body.length}\r\ncontent-length: ${body.length + 1}\r\n`);
      case 2:
        return text(`content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n`);
      case 3:
        return text(`content-length: ${"9".repeat(25)}\r\n`);
      case 4:
        return text("content-length: 1000000\r\n");
      case 5:
        return Buffer.concat([
          text("transfer-encoding: chunked\r\n").subarray(0, -body.length || undefined),
          Buffer.from(chunk),
          body,
          Buffer.from("\r\n0\r\n\r\n"),
        ]);
      case 6:
        return text("transfer-encoding: chunked\r\n");
      case 7:
        return Buffer.from(head.replaceAll("\r\n", "\n"));
      case 8:
        return text(" folded: line\r\n");
      case 9:
        return text("bad header\u0000: x\r\n");
      case 10:
        return Buffer.concat(
          Array.from({ length: 20 }, () => whole(head.replace("connection: close\r\n", ""), body)),
        );
      case 11:
        return Buffer.from(Array.from({ length: 300 }, () => this.#random.below(256)));
      case 12:
        return Buffer.from(
          `${head.replace("HTTP/1.1", this.#one(["HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "http/1.1", ""]))}\r\n`,
        );
      default:
        return whole(head, body).subarray(0, this.#random.below(head.length));
    }
  }

  #nastyWord(): string {
    const word = this.#one(NASTY);
    return this.#chance(3)
      ? encodeURIComponent(word.toWellFormed())
      : encodeURI(word.toWellFormed()).replaceAll(/[?#]/g, "x");
  }

  #one<Value>(values: readonly Value[]): Value {
    return values[this.#random.below(values.length)];
  }

  /** True in one of `of` calls, on average. */
  #chance(of: number): boolean {
    return this.#random.below(of) === 0;
  }
}

function whole(head: string, body: Buffer | undefined): Buffer {
  if (body === undefined) return Buffer.from(`${head}\r\n`);
  return Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body]);
}
