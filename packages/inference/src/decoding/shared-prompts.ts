import { Tensor, type Tensors } from '@rlp/onnx/runtime';
import type { KeyValueCache } from './cache.ts';
import { promptNames } from './shared-attention.ts';

/** Fewest tokens of a prompt for which joining its part of the attention costs less than it saves. */
const LEAST_TOKENS = 96;

/** Fewest rows that begin to share a prompt. */
const LEAST_ROWS = 4;

/** Lengths of prompts in memory are padded to a multiple of this. */
const PADDING = 64;

const BLOCKED = -1e30;

/** A prompt of several rows. */
interface Prompt {
  readonly length: number;
  /** Rows that share it. */
  rows: number;
}

/** What a step reads of shared prompts. */
export interface SharedStep {
  readonly feeds: Tensors;
  /** Positions that each row's cache holds, the stand-in for its prompt included. */
  readonly held: readonly number[];
}

/**
 * Prompts that several rows share, in memory once. Such a row holds a stand-in for its prompt (see `promptAttention`) and what follows the
 * prompt.
 */
export class SharedPrompts {
  readonly #cache: KeyValueCache;
  /** Prompt of each row that shares one. */
  readonly #rows: (Prompt | undefined)[] = [];
  /** Their index is their place in memory. Those without rows leave it before it is read or extended. */
  readonly #prompts: Prompt[] = [];
  #arrays: Float32Array[] = [];
  /** Inputs of the prompts, until one comes or goes. */
  #known: Tensors | undefined;
  /** Prompts that the arrays have room for. */
  #room = 0;
  /** Positions of each prompt in the arrays. */
  #stride = 0;

  constructor(cache: KeyValueCache) {
    this.#cache = cache;
  }

  /**
   * Lets `count` rows from `to` on begin with the first `length` positions of row `from`. A row that runs on comes before them. Any other
   * may be one of them.
   *
   * @returns Whether they do. If not, copies are faster or memory is full.
   */
  share(from: number, to: number, count: number, length: number): boolean {
    if (this.#rows[from] === undefined) {
      const rows = from < to ? count + 1 : count;
      if (length < LEAST_TOKENS || rows < LEAST_ROWS || !this.#fit(length)) return false;
      this.#take(from, length);
    }
    const prompt = this.#rows[from]!;
    if (prompt.length !== length) return false;
    for (let row = to; row < to + count; row++) {
      this.release(row);
      this.#begin(row, prompt);
    }
    return true;
  }

  /** Copies the first `length` positions of a row over another row. */
  copyRow(from: number, to: number, length: number): void {
    if ((this.#rows[from]?.length ?? 0) > length) this.restore(from);
    const prompt = this.#rows[from];
    this.release(to);
    this.#cache.copyRow(from, to, prompt ? this.#held(from, length) : length);
    if (prompt) this.#begin(to, prompt);
  }

  /** Gives a row all of its positions back. */
  restore(row: number): void {
    const prompt = this.#rows[row];
    if (prompt === undefined) return;
    this.#cache.shiftRow(row, 1, prompt.length);
    this.#move('out', row, prompt);
    this.release(row);
  }

  /** Drops what a row shares, because it begins anew. */
  release(row: number): void {
    const prompt = this.#rows[row];
    if (prompt === undefined) return;
    this.#rows[row] = undefined;
    prompt.rows--;
  }

  /** Prompts without rows leave memory, and the last ones take their places. */
  #compact(): void {
    const size = this.#size;
    for (let place = this.#prompts.length - 1; place >= 0; place--) {
      if (this.#prompts[place]!.rows > 0) continue;
      this.#known = undefined;
      const last = this.#prompts.pop()!;
      if (place === this.#prompts.length) continue;
      this.#prompts[place] = last;
      const from = this.#prompts.length * size;
      for (const array of this.#arrays) array.copyWithin(place * size, from, from + size);
    }
  }

  /**
   * Inputs of a step of one token in each of the first rows. Rows behind them have ended.
   *
   * @param lengths - Number of tokens in each row before the step.
   * @returns `undefined` if no row shares a prompt.
   */
  step(lengths: readonly number[]): SharedStep | undefined {
    for (let row = lengths.length; row < this.#rows.length; row++) this.release(row);
    this.#compact();
    if (this.#prompts.length === 0) return undefined;
    const held = lengths.map((length, row) => this.#held(row, length));
    this.#known ??= this.#tensors();
    return { held, feeds: { ...this.#known, ...this.#indices(held) } };
  }

  #held(row: number, length: number): number {
    const prompt = this.#rows[row];
    return prompt === undefined ? length : 1 + length - prompt.length;
  }

  #begin(row: number, prompt: Prompt): void {
    prompt.rows++;
    this.#rows[row] = prompt;
    this.#cache.clearFirst(row);
  }

  /** Makes the beginning of a row a prompt that others can share. */
  #take(row: number, length: number): void {
    const prompt = { length, rows: 0 };
    this.#prompts.push(prompt);
    this.#known = undefined;
    this.#move('in', row, prompt);
    this.#cache.shiftRow(row, length, 1);
    this.#begin(row, prompt);
  }

  /** Makes room for one more prompt. Returns whether there is memory for it. */
  #fit(length: number): boolean {
    this.#compact();
    const longest = this.#prompts.reduce((most, prompt) => Math.max(most, prompt.length), length);
    const needed = PADDING * Math.ceil(longest / PADDING);
    const count = this.#prompts.length + 1;
    if (needed <= this.#stride && needed * 2 > this.#stride && count <= this.#room) return true;
    const room = 2 ** Math.ceil(Math.log2(count));
    const { heads, width, keys, values } = this.#cache;
    let arrays: Float32Array[];
    try {
      arrays = [...keys, ...values].map(() => new Float32Array(room * heads * needed * width));
    } catch {
      return false;
    }
    const kept = Math.min(this.#stride, needed) * width;
    for (const [index, array] of this.#arrays.entries()) {
      for (let head = 0; head < this.#prompts.length * heads; head++) {
        const from = head * this.#stride * width;
        arrays[index]!.set(array.subarray(from, from + kept), head * needed * width);
      }
    }
    this.#arrays = arrays;
    this.#room = room;
    this.#stride = needed;
    return true;
  }

  /** Numbers of one prompt in one array. */
  get #size(): number {
    return this.#cache.heads * this.#stride * this.#cache.width;
  }

  /** Copies a prompt from the beginning of a row, or back. */
  #move(direction: 'in' | 'out', row: number, prompt: Prompt): void {
    const { keys, values, heads, positions, width } = this.#cache;
    const place = this.#prompts.indexOf(prompt);
    const size = prompt.length * width;
    for (const [index, own] of [...keys, ...values].entries()) {
      const shared = this.#arrays[index]!;
      for (let head = 0; head < heads; head++) {
        const at = (place * heads + head) * this.#stride * width;
        const start = (row * heads + head) * positions * width;
        if (direction === 'out') own.set(shared.subarray(at, at + size), start);
        else {
          shared.set(own.subarray(start, start + size), at);
          // What a longer prompt has left behind is hidden, and must be finite.
          shared.fill(0, at + size, at + this.#stride * width);
        }
      }
    }
  }

  #tensors(): Tensors {
    const groups = this.#prompts.length;
    const { heads, width } = this.#cache;
    const shape = [groups, heads, this.#stride, width];
    const layers = this.#cache.keys.length;
    const tensors: Record<string, Tensor> = {};
    for (const [index, array] of this.#arrays.entries()) {
      const name = index < layers ? promptNames.key(index) : promptNames.value(index - layers);
      tensors[name] = new Tensor('float32', array.subarray(0, groups * this.#size), shape);
    }
    const mask = new Float32Array(groups * this.#stride);
    for (const [place, { length }] of this.#prompts.entries()) {
      mask.fill(BLOCKED, place * this.#stride + length, (place + 1) * this.#stride);
    }
    tensors.prompt_mask = new Tensor('float32', mask, [groups, 1, 1, this.#stride]);
    return tensors;
  }

  #indices(held: readonly number[]): Tensors {
    const rows = held.length;
    const groups = this.#prompts.map((): number[] => []);
    const shares = new Uint8Array(rows);
    for (let row = 0; row < rows; row++) {
      const prompt = this.#rows[row];
      if (prompt === undefined) continue;
      shares[row] = 1;
      groups[this.#prompts.indexOf(prompt)]!.push(row);
    }
    const most = groups.reduce((widest, { length }) => Math.max(widest, length), 0);
    const members = new BigInt64Array(groups.length * most);
    const places = new BigInt64Array(rows);
    for (const [place, group] of groups.entries()) {
      for (const [index, row] of group.entries()) {
        members[place * most + index] = BigInt(row);
        places[row] = BigInt(place * most + index);
      }
    }
    const keys = Math.max(...held) + 1;
    return {
      members: new Tensor('int64', members, [groups.length, most]),
      places: new Tensor('int64', places, [rows]),
      shares: new Tensor('bool', shares, [rows, 1, 1, 1]),
      bias_pads: new Tensor('int64', BigInt64Array.of(0n, 0n, 0n, 0n, 0n, 0n, 0n, BigInt(keys - 1)), [8]),
    };
  }
}
