/** A temporary file without a name, which SQLite makes for statements that change much. */
import type { FileData } from "../../world/contract.ts";

export class MemoryFile implements FileData {
  size = 0;
  #bytes = new Uint8Array(4096);

  readAt(into: Uint8Array, position: number): number {
    const count = Math.max(0, Math.min(into.length, this.size - position));
    into.set(this.#bytes.subarray(position, position + count));
    return count;
  }

  writeAt(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.size));
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, position);
    this.size = Math.max(this.size, end);
  }

  truncate(size: number): void {
    if (size < this.size) this.#bytes.fill(0, size, this.size);
    this.size = size;
  }

  sync(): void {}
}
