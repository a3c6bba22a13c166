import type { BranchedTree } from './branches.ts';
import { type Rectangle, sizeOf } from './rectangles.ts';
import type { Path, Tree } from './shared-prefixes.ts';

/** Arrays that a loss reads, `[rows, length]`. A row is a sequence, a column one of its trained tokens. */
export interface LossGrid {
  readonly rows: number;
  readonly length: number;
  /** Score of each cell. Empty cells name any score. */
  readonly cells: Int32Array;
  /** Cell of each score. */
  readonly places: Int32Array;
  readonly mask: Float32Array;
  readonly weights: Float32Array;
  readonly columns: Readonly<Record<string, Float32Array>>;
}

/**
 * Tokens that are computed together, without padding.
 *
 * `slots`, `ends`, `places` and `positions` are those of `TokenLayout` of `@rlp/onnx`.
 */
export interface MicroBatch {
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  /** Index of the sequence that each token is of. A shared token is of the first that has it. */
  readonly members: Int32Array;
  readonly places: Int32Array;
  /** Rectangle of attention. */
  readonly rows: number;
  readonly length: number;
  readonly slots: Int32Array;
  readonly ends: Int32Array;
  /** Blocks that attention computes each row in. */
  readonly blocks: number;
  /** Tokens of the stem whose branches are the rows. Default: rows are whole trees. */
  readonly stem?: number;
  /** Tokens after which a score is computed, and the token that is scored. */
  readonly scored: Int32Array;
  readonly targets: Int32Array;
  /** Place of each token in `scored`, or the number of scores. */
  readonly scorePlaces: Int32Array;
  /** Absent for scoring. */
  readonly loss?: LossGrid | undefined;
}

/** Scores of one sequence. */
export interface Scored {
  /** Index of the sequence. */
  readonly member: number;
  /** Positions in the sequence of the scored tokens. */
  readonly tokens: readonly number[];
  /** Their scores in the micro-batch. */
  readonly indices: readonly number[];
}

/** Arrays of a micro-batch, and where its scores belong. */
export interface Fill {
  readonly arrays: Omit<MicroBatch, 'loss'>;
  readonly scored: readonly Scored[];
}

/** Fills the arrays of a micro-batch, row by row and tree by tree, each in depth-first order. */
export function fillRectangle({ rows, length, blocks }: Rectangle, paths: readonly Path[]): Fill {
  const filler = new Filler(paths, sizeOf(rows), rows.length * length);
  for (const [row, trees] of rows.entries()) {
    filler.startRow(row * length);
    for (const tree of trees) filler.addTree(tree);
    filler.endRow((row + 1) * length);
  }
  return { arrays: { rows: rows.length, length, blocks, ...filler.arrays() }, scored: filler.found };
}

/** Fills the arrays of a micro-batch of one tree: its stem, then a row for each branch. */
export function fillBranches({ branches, size, stem, length }: BranchedTree, paths: readonly Path[]): Fill {
  const rows = branches.length;
  const filler = new Filler(paths, size, stem + rows * length);
  filler.addBranches(branches, stem, length);
  const { slots, ends, places, ...rest } = filler.arrays();
  const behind = (numbers: Int32Array) => numbers.subarray(stem).map((number) => Math.max(0, number - stem));
  const own = { slots: behind(slots), ends: ends.subarray(stem), places: behind(places) };
  return { arrays: { rows, length, blocks: 1, stem, ...rest, ...own }, scored: filler.found };
}

class Filler {
  readonly found: Scored[] = [];
  readonly #paths: readonly Path[];
  readonly #tokens: Int32Array;
  readonly #positions: Int32Array;
  readonly #members: Int32Array;
  readonly #places: Int32Array;
  readonly #slots: Int32Array;
  readonly #ends: Int32Array;
  readonly #scored: number[] = [];
  readonly #targets: number[] = [];
  readonly #scorePlaces: Int32Array;
  #rowStart = 0;
  /** Next token, and its slot. */
  #next = 0;
  #slot = 0;

  constructor(paths: readonly Path[], tokens: number, slots: number) {
    this.#paths = paths;
    this.#tokens = new Int32Array(tokens);
    this.#positions = new Int32Array(tokens);
    this.#members = new Int32Array(tokens);
    this.#places = new Int32Array(tokens);
    this.#scorePlaces = new Int32Array(tokens).fill(-1);
    this.#slots = new Int32Array(slots);
    this.#ends = new Int32Array(slots);
  }

  startRow(slot: number): void {
    this.#rowStart = slot;
    this.#slot = slot;
  }

  /** Empty slots name the first token and see themselves only. */
  endRow(end: number): void {
    for (let slot = this.#slot; slot < end; slot++) this.#ends[slot] = slot + 1 - this.#rowStart;
  }

  addTree({ branches }: Tree): void {
    /** Tokens from the root to the end of the sequence before. */
    const path: number[] = [];
    for (const { member, shared } of branches) {
      this.#close(path, shared);
      const { tokens, claims } = this.#paths[member]!;
      for (let t = shared; t < claims.length; t++) path.push(this.#add(tokens[t]!, t, member));
      this.#score(member, claims, path);
    }
    this.#close(path, 0);
  }

  addBranches(branches: Tree['branches'], stem: number, length: number): void {
    const path: number[] = [];
    for (const [row, { member }] of branches.entries()) {
      const { tokens, claims } = this.#paths[member]!;
      for (let t = path.length; t < stem; t++) path.push(this.#add(tokens[t]!, t, member));
      this.startRow(stem + row * length);
      for (let t = stem; t < claims.length; t++) path.push(this.#add(tokens[t]!, t, member));
      this.#score(member, claims, path);
      this.#close(path, stem);
      this.endRow(stem + (row + 1) * length);
    }
  }

  arrays() {
    const count = this.#scored.length;
    return {
      tokens: this.#tokens,
      positions: this.#positions,
      members: this.#members,
      places: this.#places,
      slots: this.#slots,
      ends: this.#ends,
      scored: Int32Array.from(this.#scored),
      targets: Int32Array.from(this.#targets),
      scorePlaces: this.#scorePlaces.map((place) => (place < 0 ? count : place)),
    };
  }

  #add(token: number, position: number, member: number): number {
    const index = this.#next++;
    this.#tokens[index] = token;
    this.#positions[index] = position;
    this.#members[index] = member;
    this.#places[index] = this.#slot;
    this.#slots[this.#slot++] = index;
    return index;
  }

  /** Cuts the path to `length` tokens. No later token comes after those that are cut off. */
  #close(path: number[], length: number): void {
    for (let t = length; t < path.length; t++) {
      this.#ends[this.#places[path[t]!]!] = this.#slot - this.#rowStart;
    }
    path.length = length;
  }

  #score(member: number, claims: Int32Array, path: readonly number[]): void {
    const tokens: number[] = [];
    const indices: number[] = [];
    for (let t = 0; t < claims.length; t++) {
      if (claims[t] === 0) continue;
      const index = path[t]!;
      if (this.#scorePlaces[index]! < 0) {
        this.#scorePlaces[index] = this.#scored.push(index) - 1;
        this.#targets.push(claims[t]! - 1);
      }
      tokens.push(t + 1);
      indices.push(this.#scorePlaces[index]!);
    }
    this.found.push({ member, tokens, indices });
  }
}

/** Slots of a rectangle in the order of its blocks of columns, `[blocks, rows, columns]`. */
export function blockSlots({ rows, length, blocks, slots, places }: MicroBatch) {
  const columns = length / blocks;
  const moved = (slot: number) => {
    const [row, column] = [Math.floor(slot / length), slot % length];
    return (Math.floor(column / columns) * rows + row) * columns + (column % columns);
  };
  const ordered = new Int32Array(slots.length);
  for (let slot = 0; slot < slots.length; slot++) ordered[moved(slot)] = slots[slot]!;
  return { shape: [blocks, rows, columns], slots: ordered, places: places.map(moved) };
}
