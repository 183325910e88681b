/**
 * An answer whose text is complete, with all its headers. On a connection, it is written at once. As a
 * `Response`, which is made for streams, it would cost as much time as checking a submit.
 */
export class WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;

  constructor(status: number, headers: Readonly<Record<string, string>>, text: string) {
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  /** The same for those who read it as a stream. */
  toResponse(): Response {
    return new Response(this.text, { status: this.status, headers: this.headers });
  }
}
