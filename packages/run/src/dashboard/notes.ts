import type { LogRow } from '@rlp/core';
import { logRowsFromJsonl } from '@rlp/tracking';
import type { RunNote } from '@rlp/viewer/runs';

/** Kinds of notes that are kept for a run. */
const mostKinds = 500;

type Growing = { -readonly [Key in keyof RunNote]: RunNote[Key] };

/** Notes of a file by their kind, and findings by their rule. Numbers make no other kind. */
export class RunNotes {
  readonly #kinds = new Map<string, Growing>();
  readonly #broken: string[] = [];
  readonly #expected: string;

  /** @param expected - What a line that cannot be read should be. */
  constructor(expected: string) {
    this.#expected = expected;
  }

  get all(): readonly RunNote[] {
    return [...this.#kinds.values()];
  }

  /** Lines that could not be read. */
  get broken(): readonly string[] {
    return this.#broken;
  }

  /** Adds a line of the file. */
  add(text: string, path: string, line: number): void {
    try {
      for (const row of logRowsFromJsonl(text)) this.#add(row);
    } catch {
      this.#broken.push(`${path}, line ${line}: expected ${this.#expected}; the line is left out`);
    }
  }

  clear(): void {
    this.#kinds.clear();
    this.#broken.length = 0;
  }

  #add(row: LogRow): void {
    const { step } = row;
    if ('finding' in row) {
      const { rule, severity, message, component = '' } = row.finding;
      this.#count(`${rule} ${severity} ${component}`, { step, text: message, rule, severity });
    } else if ('note' in row) this.#count(row.note.replaceAll(/\d+/g, '#'), { step, text: row.note });
  }

  #count(
    kind: string,
    { step, ...note }: Pick<RunNote, 'text' | 'rule' | 'severity'> & { readonly step: number },
  ) {
    const known = this.#kinds.get(kind);
    if (known === undefined) {
      if (this.#kinds.size < mostKinds) this.#kinds.set(kind, { ...note, first: step, last: step, count: 1 });
      return;
    }
    known.text = note.text;
    known.last = step;
    known.count += 1;
  }
}

/** Findings of the files, then notes, in the order they first came. */
export function allNotes(...files: readonly RunNotes[]): readonly RunNote[] {
  const isNote = ({ rule }: RunNote) => Number(rule === undefined);
  return files.flatMap(({ all }) => all).sort((a, b) => isNote(a) - isNote(b) || a.first - b.first);
}
