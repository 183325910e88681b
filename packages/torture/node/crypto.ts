/** `node:crypto`: hashes, and chance from the seed of the world. */
import { sha256 } from "@noble/hashes/sha2.js";
import type { Random } from "../world/contract.ts";
import type { Bytes } from "./world.ts";

export function cryptoOf(random: Random, Buffer: Bytes) {
  const randomBytes = (count: number) =>
    Buffer.from(Uint8Array.from({ length: count }, () => random.below(256)));
  return {
    randomBytes,
    randomUUID() {
      const bytes = randomBytes(16);
      // Version 4, and the variant of RFC 9562.
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    },
    createHash: (algorithm: string) => {
      if (algorithm !== "sha256") throw new Error(`Digest method not supported: ${algorithm}`);
      return new Hash(Buffer);
    },
  };
}

class Hash {
  readonly #hash = sha256.create();
  readonly #Buffer: Bytes;

  constructor(Buffer: Bytes) {
    this.#Buffer = Buffer;
  }

  update(data: string | Uint8Array): this {
    this.#hash.update(typeof data === "string" ? this.#Buffer.from(data) : data);
    return this;
  }

  digest(): Uint8Array;
  digest(encoding: "hex" | "base64"): string;
  digest(encoding?: "hex" | "base64"): Uint8Array | string {
    const bytes = this.#Buffer.from(this.#hash.digest());
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}
