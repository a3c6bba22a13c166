import type { MetricsLogger } from '@rlp/core';

/** Kinds of notes that are remembered. */
const mostKinds = 100;

/** Notes that differ in numbers only are of one kind. */
function kindOf(note: string): string {
  return note.replace(/\d+(\.\d+)?(e[+-]?\d+)?/g, '#');
}

/** Counts the notes of a run by kind, within bounds. */
export class NoteTally {
  readonly #kinds = new Map<string, { readonly first: string; count: number }>();
  #others = 0;

  /** Counts a note. Returns how many of its kind there were. */
  add(note: string): number {
    const kind = kindOf(note);
    const known = this.#kinds.get(kind);
    if (known !== undefined) {
      known.count += 1;
      return known.count;
    }
    if (this.#kinds.size < mostKinds) this.#kinds.set(kind, { first: note, count: 1 });
    else this.#others += 1;
    return 1;
  }

  /** The first note of each kind, with its count if there were several. */
  list(): string[] {
    const notes = [...this.#kinds.values()].map(({ first, count }) =>
      count === 1 ? first : `${first} (${count} times)`,
    );
    return this.#others === 0 ? notes : [...notes, `${this.#others} further notes`];
  }
}

/** Says what people should know of a run, through its logger. */
export class RunNotes {
  readonly #logger: MetricsLogger | undefined;
  readonly #tally = new NoteTally();
  #said: string[] = [];

  constructor(logger: MetricsLogger | undefined) {
    this.#logger = logger;
  }

  /** Says a note at once, in the middle of an iteration. The report of the iteration has it too. */
  readonly say = (step: number, note: string): void => {
    this.#said.push(note);
    this.#logger?.note?.(step, note);
  };

  /** Says a note that iterations repeat: once, and with its count at 10, 100 and so on. */
  repeat(step: number, note: string): void {
    const count = this.#tally.add(note);
    if (!/^10*$/.test(String(count))) return;
    this.#logger?.note?.(step, count === 1 ? note : `${note} (${count} times so far)`);
  }

  /** What was said since the last call. */
  take(): readonly string[] {
    const said = this.#said;
    this.#said = [];
    return said;
  }
}
