import { EnvironmentError, type OpenWorld, type World } from '@rlp/core';

/** A list of words as a world, with faults on demand. */
export class Words implements OpenWorld {
  words: readonly string[];
  isClosed = false;
  readonly #faults: Faults;

  constructor(words: readonly string[], faults: Faults) {
    this.words = words;
    this.#faults = faults;
  }

  async add(word: string): Promise<number> {
    if (this.isClosed) throw new Error('the world is closed');
    const words = [...this.words, word];
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.words = words;
    if (word === 'hang') await new Promise(() => undefined);
    if (word === 'die') this.isClosed = true;
    if (word === 'fail') throw new Error('no such word');
    return words.length;
  }

  async snapshot(): Promise<string> {
    if (this.isClosed) throw new Error('the world died');
    return JSON.stringify(this.words);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.#faults.closing === 'fails') throw new Error('busy');
    if (this.#faults.closing === 'hangs') await new Promise(() => undefined);
  }
}

/** What goes wrong. */
export interface Faults {
  opening?: 'fails' | 'hangs' | undefined;
  restoring?: 'fails' | undefined;
  closing?: 'fails' | 'hangs' | undefined;
}

/** A kind of world of words. `lives` are all that were made. */
export function wordWorld(faults: Faults = {}): World<Words> & { readonly lives: Words[] } {
  const lives: Words[] = [];
  const made = (words: readonly string[]) => {
    const live = new Words(words, faults);
    lives.push(live);
    return live;
  };
  return {
    lives,
    async open({ id }, seed, signal) {
      signal?.throwIfAborted();
      if (faults.opening === 'fails') throw Object.assign(new Error('no room'), { code: 'ECONNREFUSED' });
      if (faults.opening === 'hangs') await new Promise((resolve) => setTimeout(resolve, 50));
      return made([id, String(seed)]);
    },
    async restore(id) {
      if (faults.restoring === 'fails') throw new Error('lost');
      if (!id.startsWith('[')) throw new EnvironmentError(`unknown snapshot ${id}`);
      return made(JSON.parse(id));
    },
  };
}
