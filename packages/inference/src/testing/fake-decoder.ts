import { RandomStream } from '@rlp/core';
import { expect } from 'vitest';
import type {
  CachedDecoder,
  DrawnTokens,
  NextTokenDistributions,
  NextTokens,
  RowExtension,
  RowFork,
} from '../decoding/cached-decoder.ts';
import { drawToken } from '../sampling/draw.ts';

export const vocabularySize = 11;

const drawn = new Map<string, readonly number[]>();

/** A distribution that depends on every token of the context and on nothing else. */
export function distribution(context: readonly number[], temperature: number) {
  const key = context.join();
  let normals = drawn.get(key);
  if (normals === undefined) {
    const random = RandomStream.named('fake model', ...context);
    normals = Array.from({ length: vocabularySize }, () => 2 * random.normal());
    drawn.set(key, normals);
  }
  const logits = Float32Array.from(normals, (normal) => normal / temperature);
  const weights = logits.map((logit) => Math.exp(logit));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return { logits, probabilities: weights.map((weight) => weight / total) };
}

function joined(each: readonly ReturnType<typeof distribution>[]): NextTokenDistributions {
  const join = (arrays: Float32Array[]) => Float32Array.from(arrays.flatMap((array) => [...array]));
  return {
    probabilities: join(each.map(({ probabilities }) => probabilities)),
    logits: join(each.map(({ logits }) => logits)),
  };
}

/** A cache of token lists instead of keys and values: a row that is copied wrongly changes what is generated. */
export class FakeDecoder implements CachedDecoder {
  readonly vocabularySize = vocabularySize;
  readonly contextLength: number;
  readonly rows: number[][];
  readonly maxSequences: number;
  prefilled = 0;
  /** Prompts of each prefill. */
  readonly prefills: number[] = [];
  /** Lengths of what was appended to rows alone. */
  readonly extended: number[] = [];
  steps = 0;
  widest = 0;
  failAt = Number.POSITIVE_INFINITY;

  constructor(maxSequences: number, contextLength = 24) {
    this.maxSequences = maxSequences;
    this.contextLength = contextLength;
    this.rows = Array.from({ length: maxSequences }, () => []);
  }

  async prefill(firstRow: number, prompts: readonly (readonly number[])[], temperatures: readonly number[]) {
    if (firstRow + prompts.length > this.maxSequences) throw new RangeError('rows exhausted');
    this.prefilled += prompts.length;
    this.prefills.push(prompts.length);
    prompts.forEach((prompt, index) => {
      this.rows[firstRow + index] = [...prompt];
    });
    return this.#distributions(firstRow, prompts.length, temperatures);
  }

  async decode({ tokens, positions, temperatures }: NextTokens) {
    if (++this.steps >= this.failAt) throw new Error('the device is gone');
    this.widest = Math.max(this.widest, tokens.length);
    tokens.forEach((token, row) => {
      this.rows[row] = [...this.rows[row]!.slice(0, positions[row]), token];
      expect(this.rows[row]).toHaveLength(positions[row]! + 1);
    });
    return this.#distributions(0, tokens.length, temperatures);
  }

  async extend({ row, length, tokens, temperature, last }: RowExtension): Promise<NextTokenDistributions> {
    if (row >= this.maxSequences) throw new RangeError('rows exhausted');
    const whole = [...this.rows[row]!.slice(0, length), ...tokens];
    expect(whole).toHaveLength(length + tokens.length);
    this.rows[row] = whole;
    this.extended.push(tokens.length);
    const ends = Array.from({ length: last }, (_, index) => whole.length - last + 1 + index);
    return joined(ends.map((end) => this.distribution(whole.slice(0, end), temperature)));
  }

  fork({ from, to, count, length }: RowFork) {
    for (let row = to; row < to + count; row++) this.copyRow(from, row, length);
  }

  copyRow(from: number, to: number, length: number) {
    this.rows[to] = this.rows[from]!.slice(0, length);
  }

  readonly positionBytes = Float32Array.BYTES_PER_ELEMENT;

  saveRow(row: number, position: number, into: Float32Array) {
    into.set(this.rows[row]!.slice(position, position + into.length));
  }

  loadRow(row: number, position: number, from: Float32Array) {
    this.rows[row] = [...this.rows[row]!.slice(0, position), ...from];
    expect(this.rows[row]).toHaveLength(position + from.length);
  }

  protected distribution(context: readonly number[], temperature: number) {
    return distribution(context, temperature);
  }

  #distributions(firstRow: number, count: number, temperatures: readonly number[]): NextTokenDistributions {
    const each = temperatures.map((temperature, index) =>
      this.distribution(this.rows[firstRow + index]!, temperature),
    );
    expect(each).toHaveLength(count);
    return joined(each);
  }
}

/** Goes on counting 1, 2, 3, 4, 1, … */
export class ParrotDecoder extends FakeDecoder {
  protected override distribution(context: readonly number[]) {
    const next = (context.at(-1)! % 4) + 1;
    const probabilities = new Float32Array(vocabularySize);
    probabilities[next] = 1;
    return { probabilities, logits: probabilities };
  }
}

/** Draws plain tokens itself, as a device does. */
export class DrawingDecoder extends FakeDecoder {
  /** Rows of each step that it drew. */
  readonly drawn: number[] = [];

  async decodeDrawn(next: NextTokens, uniforms: readonly number[]): Promise<DrawnTokens> {
    this.drawn.push(next.tokens.length);
    const { probabilities } = await this.decode(next);
    const off = { topK: 0, topP: 1, minP: 0 };
    const drawn = uniforms.map((uniform, row) => {
      const own = probabilities.subarray(row * vocabularySize, (row + 1) * vocabularySize);
      const token = drawToken(own, off, uniform);
      return { token, probability: own[token]! };
    });
    return {
      tokens: drawn.map(({ token }) => token),
      probabilities: Float32Array.from(drawn, ({ probability }) => probability),
    };
  }
}
