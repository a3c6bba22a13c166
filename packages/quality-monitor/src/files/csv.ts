/** A record of a CSV file by column, and the line that it begins in. */
export interface CsvRecord {
  readonly number: number;
  readonly record: Readonly<Record<string, string>>;
}

/**
 * Reads comma-separated values with a header line. Quoted fields may hold commas, line breaks and doubled quotes.
 *
 * @see RFC 4180
 */
export function csvRecords(text: string): CsvRecord[] {
  const [header, ...rows] = rowsOf(text.replace(/^\ufeff/, ''));
  return rows.map(({ number, fields }) => ({
    number,
    record: Object.fromEntries((header?.fields ?? []).map((name, at) => [name.trim(), fields[at] ?? ''])),
  }));
}

function rowsOf(text: string): { number: number; fields: string[] }[] {
  const rows: { number: number; fields: string[] }[] = [];
  // A quoted or a plain field, and what ends it.
  const field = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|\r|$)/gy;
  let [line, fields]: [number, string[]] = [1, []];
  let first = line;
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (match === null) break;
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    line += match[0].split('\n').length - 1;
    if (match[3] === ',' && field.lastIndex < text.length) continue;
    if (match[3] === ',') fields.push('');
    if (fields.length > 1 || fields[0] !== '') rows.push({ number: first, fields });
    [first, fields] = [line, []];
  }
  return rows;
}
