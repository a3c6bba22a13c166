import type { FileHandle } from 'node:fs/promises';

/** How an overview is taken. */
interface OverviewOptions {
  /** Places that are looked at, evenly spaced over the file. Default 300. */
  readonly places?: number;
  /** Bytes that are read at a place until a line is found: first few, then more. Default 4096, 16,384, 65,536. */
  readonly widths?: readonly number[];
}

interface Found<Row> {
  /** Byte at which its line begins. */
  readonly at: number;
  readonly row: Row;
}

/**
 * Rows from evenly spaced places of a file, in its order: at each place the next whole line that `parse` accepts, and the last one of the
 * file. Only a few kilobytes are read per place. A place is skipped if no such line ends within the greatest width.
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
  const next = async (place: number): Promise<Found<Row> | undefined> => {
    const from = Math.floor((place * size) / places);
    for (const width of widths) {
      const block = await blockOf(file, from, Math.min(width, size - from));
      const found = firstOf(linesOf(block, from, from === 0), parse);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const last = async (): Promise<Found<Row> | undefined> => {
    for (const width of widths) {
      const from = Math.max(0, size - width);
      const block = await blockOf(file, from, size - from);
      const found = firstOf([...linesOf(block, from, from === 0)].reverse(), parse);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const found = await Promise.all([...Array.from({ length: places }, (_, place) => next(place)), last()]);
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

/** Lines that begin and end within a block of a file. */
function* linesOf(block: Buffer, from: number, isStart: boolean) {
  let begin = isStart ? 0 : block.indexOf(0x0a) + 1;
  if (begin === 0 && !isStart) return;
  for (let end = block.indexOf(0x0a, begin); end >= 0; end = block.indexOf(0x0a, begin)) {
    yield { at: from + begin, text: block.toString('utf8', begin, end) };
    begin = end + 1;
  }
}

function firstOf<Row>(
  lines: Iterable<{ readonly at: number; readonly text: string }>,
  parse: (text: string) => Row | undefined,
): Found<Row> | undefined {
  for (const { at, text } of lines) {
    const row = parse(text);
    if (row !== undefined) return { at, row };
  }
  return undefined;
}
