import type { Measurements } from './measure.ts';

const untouched = '… an untouched half, ';
const two = (value: number) => (Number.isNaN(value) ? '–' : value.toFixed(2));
const percent = (value: number) => `${(100 * value).toFixed(1)} %`;

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, 3, ...rows.map((row) => row[column]!.length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = widths.map((width) => '-'.repeat(width));
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}

/** The tables of docs/verification.md, by the heading they stand under. */
export function tables(found: Measurements): Readonly<Record<string, string>> {
  const names = Object.keys(found.falseAlarms[0]!.shares);
  const disguised = found.rows.filter(({ set, by }) => set.startsWith(untouched) && by.startsWith('ours'));
  return {
    Detection: table(
      ['texts', 'by', 'n', 'bad', 'precision', 'recall', 'F1', 'false alarms', 'AUC', 'ECE'],
      found.rows
        .filter(({ set }) => !set.startsWith(untouched))
        .map((row) => [
          ...[row.set, row.by, String(row.texts), String(row.bad), two(row.precision), two(row.recall)],
          ...[two(row.f1), percent(row.falseAlarms), two(row.auc), two(row.calibrationError)],
        ]),
    ),
    Disguises: table(
      ['texts', 'n', 'bad', 'precision', 'recall', 'false alarms', 'AUC'],
      disguised.map((row) => [
        ...[row.set.slice(untouched.length), String(row.texts), String(row.bad), two(row.precision)],
        ...[two(row.recall), percent(row.falseAlarms), two(row.auc)],
      ]),
    ),
    'False alarms': table(
      ['verifier', ...found.falseAlarms.map(({ set, texts }) => `${set} (${texts})`)],
      names.map((name) => [name, ...found.falseAlarms.map(({ shares }) => percent(shares[name]!))]),
    ),
    Pairs: table(
      ['pairs', 'by', 'n', 'better one scores higher'],
      found.pairs.map(({ set, by, pairs, accuracy }) => [set, by, String(pairs), percent(accuracy)]),
    ),
    Agreement: table(
      ['verifier', 'responses', 'same verdict'],
      found.agreement.map(({ set, texts, agree }) => [set, String(texts), percent(agree)]),
    ),
    Reliability: table(
      ['verifier', 'score from', 'texts', 'mean score', 'share good'],
      Object.entries(found.reliability).flatMap(([name, bins]) =>
        bins.map((bin) => [name, two(bin.from), String(bin.texts), two(bin.meanScore), two(bin.shareGood)]),
      ),
    ),
  };
}
