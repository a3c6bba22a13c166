import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const checklist = join(process.env.RLP_SHARED ?? join(root, '..', 'shared'), 'spec', 'checklist.md');

/** Rows of the tables by line, as cells. */
const rows = readFileSync(join(import.meta.dirname, 'acceptance.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| S\d-/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map((cells) => ({ lines: linesOf(cells[1]!), shownBy: cells.at(-2)! }));

/** The lines that a first column names, one by one or as `S0-06…08`. */
function linesOf(cell: string): string[] {
  return cell.split(', ').flatMap((part) => {
    const [, system, from, to = from] = /^(S\d)-(\d+)(?:…(\d+))?$/.exec(part) ?? [];
    if (system === undefined) throw new Error(`expected a line such as S0-06 or S0-06…08, got ${part}`);
    const [first, last] = [Number(from), Number(to)];
    return Array.from({ length: last - first + 1 }, (_, k) => nameOf(system, first + k));
  });
}

function nameOf(system: string, line: number): string {
  return `${system}-${String(line).padStart(2, '0')}`;
}

/** A file of the repository, as the last column names it. */
function exists(path: string): boolean {
  const [first, ...rest] = path.split('/');
  const folders = [join('packages', first!, 'src'), join('packages', first!)];
  return [path, ...folders.map((folder) => join(folder, ...rest))].some((file) =>
    existsSync(join(root, file)),
  );
}

describe('the acceptance table', () => {
  it('shows every line by files that are there', () => {
    const shown = rows.map(({ lines, shownBy }) => ({
      lines,
      files: [...shownBy.matchAll(/`([^`]+)`/g)].map(([, file]) => file!),
    }));
    expect(shown.filter(({ files }) => files.length === 0)).toEqual([]);
    expect(shown.flatMap(({ files }) => files).filter((file) => !exists(file))).toEqual([]);
  });

  const isPresent = existsSync(checklist);
  if (!isPresent) console.warn(`skipping the lines of the checklist: ${checklist} is absent; set RLP_SHARED`);

  it.skipIf(!isPresent)('has every line of the checklist, and no other', () => {
    const asked = new Set(readFileSync(checklist, 'utf8').match(/S\d-\d+/g));
    const named = new Set(rows.flatMap(({ lines }) => lines));
    expect(asked.size).toBeGreaterThan(300);
    expect([...named].sort()).toEqual([...asked].sort());
  });
});
