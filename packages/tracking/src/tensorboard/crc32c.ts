/** Castagnoli's polynomial, reversed. */
const polynomial = 0x82f63b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let checksum = byte;
  for (let bit = 0; bit < 8; bit++) checksum = checksum & 1 ? (checksum >>> 1) ^ polynomial : checksum >>> 1;
  return checksum >>> 0;
});

/** CRC-32C of some bytes (RFC 3720, B.4); Node's own `crc32` is of another polynomial. */
export function crc32c(bytes: Uint8Array): number {
  let checksum = 0xffffffff;
  for (const byte of bytes) checksum = table[(checksum ^ byte) & 255]! ^ (checksum >>> 8);
  return (checksum ^ 0xffffffff) >>> 0;
}
