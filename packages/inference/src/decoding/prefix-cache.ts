import type { TokenId } from '@rlp/core';
import type { CachedDecoder } from './cached-decoder.ts';

/** Number of completions that are remembered, to see whether prompts continue them. */
const MOST_COMPLETED = 4096;

/** FNV-1a with 32 bits. */
const HASH_START = 0x811c9dc5;
const hashWith = (hash: number, token: TokenId): number => Math.imul(hash ^ token, 0x01000193);

/** Limits of a {@link PrefixCache}. */
export interface PrefixCacheOptions {
  /** Maximum bytes of keys and values. */
  readonly bytes: number;
  /** Tokens of a block. Default 16. */
  readonly blockTokens?: number;
}

/** Keys and values of a few tokens after certain others. */
interface Block {
  readonly parent: Block | undefined;
  readonly key: string;
  readonly children: Map<string, Block>;
  readonly data: Float32Array;
}

/**
 * Keys and values of tokens that left their rows. A prompt that begins with the same tokens starts from them, such as the next turn of a
 * conversation, or another conversation with the same system prompt.
 *
 * Completions are kept once a prompt has continued one. Until then they would only take memory.
 *
 * Tokens are kept in blocks that form a tree. Sequences with the same beginning share blocks. If memory runs out, the least recently used
 * block is dropped.
 */
export class PrefixCache {
  readonly #decoder: Pick<CachedDecoder, 'positionBytes' | 'saveRow' | 'loadRow'>;
  readonly #blockTokens: number;
  readonly #capacity: number;
  readonly #roots = new Map<string, Block>();
  /** All blocks. The least recently used comes first, and a block comes before its parent. */
  readonly #blocks = new Set<Block>();
  /** Memory of dropped blocks. */
  readonly #free: Float32Array[] = [];
  /** Hashes of completions with their prompts, as far as whole blocks go. The oldest comes first. */
  readonly #completed = new Set<number>();
  #completions: 'forgotten' | 'kept' = 'forgotten';

  constructor(
    decoder: Pick<CachedDecoder, 'positionBytes' | 'saveRow' | 'loadRow'>,
    { bytes, blockTokens = 16 }: PrefixCacheOptions,
  ) {
    this.#decoder = decoder;
    this.#blockTokens = blockTokens;
    this.#capacity = Math.floor(bytes / (blockTokens * decoder.positionBytes));
  }

  /** Number of leading tokens that are known. At least one token is left to compute, because its distribution is not kept. */
  known(tokens: readonly TokenId[]): number {
    return this.#path(tokens, tokens.length - 1).length * this.#blockTokens;
  }

  /** Writes the known beginning of these tokens into a row and returns its length. */
  restore(row: number, tokens: readonly TokenId[]): number {
    const path = this.#path(tokens, tokens.length - 1);
    for (const [index, { data }] of path.entries()) {
      this.#decoder.loadRow(row, index * this.#blockTokens, data);
    }
    this.#touch(path);
    return path.length * this.#blockTokens;
  }

  /** Checks whether a prompt continues an earlier completion. */
  observe(prompt: readonly TokenId[]): void {
    if (this.#completions === 'kept' || this.#capacity === 0) return;
    let hash = HASH_START;
    for (const [index, token] of prompt.entries()) {
      hash = hashWith(hash, token);
      if ((index + 1) % this.#blockTokens !== 0 || !this.#completed.has(hash)) continue;
      this.#completions = 'kept';
      this.#completed.clear();
      return;
    }
  }

  /** Keeps a row's keys and values of a prompt and its completion, if completions are kept. */
  keepCompletion(row: number, tokens: readonly TokenId[], promptLength: number): void {
    if (this.#capacity === 0) return;
    if (this.#completions === 'kept') {
      this.keep(row, tokens);
      return;
    }
    const length = tokens.length - (tokens.length % this.#blockTokens);
    if (length <= promptLength) return;
    if (this.#completed.size >= MOST_COMPLETED)
      this.#completed.delete(this.#completed.values().next().value!);
    this.#completed.add(tokens.slice(0, length).reduce(hashWith, HASH_START));
  }

  /** Keeps a row's keys and values of these tokens, in whole blocks. */
  keep(row: number, tokens: readonly TokenId[]): void {
    if (this.#capacity === 0) return;
    const path = this.#path(tokens, tokens.length);
    this.#touch(path);
    const most = Math.min(this.#capacity, Math.floor(tokens.length / this.#blockTokens));
    for (let index = path.length; index < most; index++) {
      const parent = path[index - 1];
      const key = this.#keyAt(tokens, index);
      const block = { parent, key, children: new Map<string, Block>(), data: this.#memory() };
      this.#decoder.saveRow(row, index * this.#blockTokens, block.data);
      (parent?.children ?? this.#roots).set(key, block);
      path.push(block);
      this.#touch(path);
    }
  }

  /** Drops everything, because the weights have changed. */
  clear(): void {
    for (const { data } of this.#blocks) this.#free.push(data);
    this.#blocks.clear();
    this.#roots.clear();
  }

  #path(tokens: readonly TokenId[], limit: number): Block[] {
    const path: Block[] = [];
    let children = this.#roots;
    while ((path.length + 1) * this.#blockTokens <= limit) {
      const block = children.get(this.#keyAt(tokens, path.length));
      if (block === undefined) break;
      path.push(block);
      children = block.children;
    }
    return path;
  }

  #keyAt(tokens: readonly TokenId[], index: number): string {
    return tokens.slice(index * this.#blockTokens, (index + 1) * this.#blockTokens).join();
  }

  #touch(path: readonly Block[]): void {
    for (let index = path.length - 1; index >= 0; index--) {
      this.#blocks.delete(path[index]!);
      this.#blocks.add(path[index]!);
    }
  }

  #memory(): Float32Array {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const floats = (this.#blockTokens * this.#decoder.positionBytes) / Float32Array.BYTES_PER_ELEMENT;
    if (this.#blocks.size < this.#capacity) return new Float32Array(floats);
    const [oldest] = this.#blocks as Iterable<Block> as [Block];
    this.#blocks.delete(oldest);
    (oldest.parent?.children ?? this.#roots).delete(oldest.key);
    return oldest.data;
  }
}
