import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';

/**
 * Repairs a last line that a crash left without a line break.
 *
 * If the line starts like a JSON object or array and does not parse, it was cut short and is removed.
 * Trailing NUL bytes, which a file system may leave after a power failure, are removed too. Any other line
 * gets a line break, so files with other content lose nothing.
 */
export function repairLastLine(descriptor: number): void {
  const status = fstatSync(descriptor);
  if (!status.isFile()) return;
  const start = startOfLastLine(descriptor, status.size);
  if (start === status.size) return;
  const line = Buffer.alloc(status.size - start);
  readSync(descriptor, line, 0, line.length, start);
  if (isTorn(line.toString())) ftruncateSync(descriptor, start);
  else writeSync(descriptor, '\n');
}

/** Offset after the last line break. */
function startOfLastLine(descriptor: number, size: number): number {
  const chunk = Buffer.alloc(65_536);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunk.length);
    const read = readSync(descriptor, chunk, 0, end - start, start);
    const lineBreak = chunk.subarray(0, read).lastIndexOf(0x0a);
    if (lineBreak >= 0) return start + lineBreak + 1;
    end = start;
  }
  return 0;
}

function isTorn(line: string): boolean {
  if (/^\0+$/.test(line)) return true;
  // `\s` and `trim` include a byte order mark.
  if (!/^\s*[[{]/.test(line)) return false;
  try {
    JSON.parse(line.trim());
    return false;
  } catch {
    return true;
  }
}
