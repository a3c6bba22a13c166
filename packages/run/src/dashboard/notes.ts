import type { LogRow } from '@rlp/core';
import { logRowsFromJsonl } from '@rlp/tracking';
import type { RunNote } from '@rlp/viewer/runs';

/** Kinds of notes that are kept for a run. */
const mostKinds = 500;

type Growing = { -readonly [Key in keyof RunNote]: RunNote[Key] };

/** Notes of a run by their kind, and findings by their rule. Numbers make no other kind. */
export class RunNotes {
  readonly #kinds = new Map<string, Growing>();

  /** Findings, then notes, in the order they first came. */
  get all(): readonly RunNote[] {
    const isNote = ({ rule }: RunNote) => Number(rule === undefined);
    return [...this.#kinds.values()].sort((a, b) => isNote(a) - isNote(b) || a.first - b.first);
  }

  /** Adds a line of the file of notes. @throws `FormatError` if it is none. */
  add(text: string): void {
    for (const row of logRowsFromJsonl(text)) this.#add(row);
  }

  clear(): void {
    this.#kinds.clear();
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
