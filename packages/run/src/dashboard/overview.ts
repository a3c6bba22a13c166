import type { FileHandle } from 'node:fs/promises';

/** How an overview is taken. */
interface OverviewOptions {
  /** Places that are looked at, evenly spaced over the file. Default 300. */
  readonly places?: number;
  /** Bytes that are read at a place until a line is found: first few, then more. Default 4096, 16,384, 65,536. */
  readonly widths?: readonly number[];
}

/**
 * Rows from evenly spaced places of a file, in its order: at each place the next whole line that `parse` accepts, and the last one of the
 * file. Only a few kilobytes are read per place. A place is skipped if no valid line ends within the largest width.
 *
 * @param size - Bytes of the file. Lines that end after them are left out.
 * @param parse - Returns `undefined` for a line that is not a row.
 */
export async function overviewRows<Row>(
  file: Pick<FileHandle, 'read'>,
  size: number,
  parse: (text: string) => Row | undefined,
  { places = 300, widths = [4096, 16_384, 65_536] }: OverviewOptions = {},
): Promise<readonly Row[]> {
  const rowIn = async (begin: (width: number) => number, from: 'start' | 'end') => {
    for (const width of widths) {
      const at = begin(width);
      const lines = linesOf(await blockOf(file, at, Math.min(width, size - at)), at);
      for (const { at, text } of from === 'start' ? lines : [...lines].reverse()) {
        const row = parse(text);
        if (row !== undefined) return { at, row };
      }
    }
    return undefined;
  };
  const begins = Array.from({ length: places }, (_, place) => Math.floor((place * size) / places));
  const found = await Promise.all([
    ...begins.map((begin) => rowIn(() => begin, 'start')),
    rowIn((width) => Math.max(0, size - width), 'end'),
  ]);
  const rows: Row[] = [];
  let end = -1;
  for (const each of found) {
    if (each === undefined || each.at <= end) continue;
    rows.push(each.row);
    end = each.at;
  }
  return rows;
}

async function blockOf(file: Pick<FileHandle, 'read'>, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Lines that begin and end within a block of a file, which begins at `from`. */
function* linesOf(block: Buffer, from: number) {
  let begin = from === 0 ? 0 : block.indexOf(0x0a) + 1;
  if (from > 0 && begin === 0) return;
  for (let end = block.indexOf(0x0a, begin); end >= 0; end = block.indexOf(0x0a, begin)) {
    if (end > begin) yield { at: from + begin, text: block.toString('utf8', begin, end) };
    begin = end + 1;
  }
}
