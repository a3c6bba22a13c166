import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';

/**
 * Ends the last line of a file that a crash left without a line break.
 *
 * A line that starts like a JSON object or array and does not parse was cut short: it is removed. So are NUL bytes that a file system
 * may leave after a power failure. Every other line gets a line break, so a file of something else loses nothing.
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

/** Offset of what follows the last line break. */
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
  if (!/^\uFEFF?\s*[[{]/.test(line)) return false;
  try {
    JSON.parse(line.trim());
    return false;
  } catch {
    return true;
  }
}
