/** `node:zlib`: checksums. */

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
const encoder = new TextEncoder();

/** CRC-32 of bytes, or of a text in UTF-8. */
export function crc32(data: string | Uint8Array): number {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  let value = -1;
  for (let i = 0; i < bytes.length; i++) value = (value >>> 8) ^ TABLE[(value ^ bytes[i]) & 0xff];
  return ~value >>> 0;
}
