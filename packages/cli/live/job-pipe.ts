/** What a job reads, open for writing. */
export interface JobPipe {
  /** Resolves when the job can read the bytes: to false if nobody reads any longer. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Whether a process still reads, or may read: also one that is stopped. Writes nothing. */
  hasReader(): Promise<boolean>;
  /** After the last byte. Without it, a job on another node waits for more. */
  end(): Promise<void>;
  close(): void;
}
