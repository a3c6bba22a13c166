import { matrixFromRows, Tape } from '@rlp/tensor';
import { describe, expect, it } from 'vitest';
import { differentiatePairs, type PairColumns } from './differentiate.ts';
import {
  type PairTerm,
  type PreferenceTerm,
  preferenceTermSchema,
  type ResolvedTerm,
  type SingleTerm,
} from './loss-options.ts';
import { pairLoss, singleLoss } from './preference-losses.ts';

/** Log-ratios 0.5 and −0.25, means per token −0.5 and −1.5. */
const pair = {
  chosen: -2,
  rejected: -3,
  referenceChosen: -2.5,
  referenceRejected: -2.75,
  chosenTokens: 4,
  rejectedTokens: 2,
  completion: -2,
  meanCompletionTokens: 8,
  sequence: -6,
  meanSequenceTokens: 8,
};

const resolved = (term: PreferenceTerm): ResolvedTerm => preferenceTermSchema.parse(term);

/** Loss of the pair, with some numbers replaced. */
function lossOf(term: PreferenceTerm, other: Partial<typeof pair> = {}): number {
  const tape = new Tape();
  const entries = Object.entries({ ...pair, ...other });
  const inputs = Object.fromEntries(entries.map(([name, x]) => [name, tape.data(matrixFromRows([[x]]))]));
  return pairLoss(tape, inputs as never, term as PairTerm).data[0]!;
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const up = (x: number) => -Math.log(sigmoid(x));
const odds = (mean: number) => Math.log(Math.exp(mean) / (1 - Math.exp(mean)));

describe('pairLoss', () => {
  // The formula of each paper, at log-ratios 0.5 and −0.25.
  it.each<[PreferenceTerm, number]>([
    [{ kind: 'sigmoid', beta: 2 }, up(1.5)],
    [{ kind: 'sigmoid', beta: 2, labelSmoothing: 0.1 }, 0.9 * up(1.5) + 0.1 * up(-1.5)],
    [{ kind: 'sigmoid-norm', beta: 2 }, up(2 * (0.5 / 4 + 0.25 / 2))],
    [{ kind: 'sigmoid', beta: 1, divergence: 'forward-kl' }, up(1 - Math.exp(-0.5) - (1 - Math.exp(0.25)))],
    [
      { kind: 'sigmoid', beta: 1, divergence: 'jensen-shannon' },
      up(Math.log(2 * sigmoid(0.5)) - Math.log(2 * sigmoid(-0.25))),
    ],
    [
      { kind: 'sigmoid', beta: 1, divergence: { alpha: 0.5 } },
      up((Math.exp(-0.25) - 1) / -0.5 - (Math.exp(0.125) - 1) / -0.5),
    ],
    [{ kind: 'sigmoid', beta: 2, divergence: { alpha: 1 } }, up(1.5)],
    [{ kind: 'hinge', beta: 1 }, 0.25],
    [{ kind: 'hinge', beta: 2 }, 0],
    [{ kind: 'ipo', beta: 0.5 }, (0.5 / 4 + 0.25 / 2 - 1) ** 2],
    [{ kind: 'robust', beta: 2, labelSmoothing: 0.1 }, (0.9 * up(1.5) - 0.1 * up(-1.5)) / 0.8],
    [
      { kind: 'exo-pair', beta: 2, labelSmoothing: 0.1 },
      sigmoid(1.5) * Math.log(sigmoid(1.5) / 0.9) + sigmoid(-1.5) * Math.log(sigmoid(-1.5) / 0.1),
    ],
    [
      { kind: 'discopop', beta: 2, temperature: 0.5 },
      up(1.5) * (1 - sigmoid(3)) + Math.exp(-1.5) * sigmoid(3),
    ],
    [{ kind: 'nca-pair', beta: 2 }, up(1) + (up(-1) + up(0.5)) / 2],
    [{ kind: 'bco-pair', beta: 2 }, up(1) + up(0.5)],
    [{ kind: 'sppo-hard', beta: 0.25 }, (0.5 - 2) ** 2 + (-0.25 + 2) ** 2],
    [{ kind: 'apo-zero', beta: 2 }, 1 - sigmoid(1) + sigmoid(-0.5)],
    [{ kind: 'apo-down', beta: 2 }, sigmoid(1) + 1 - sigmoid(1.5)],
    [{ kind: 'aot', beta: 2, labelSmoothing: 0.1 }, 0.9 * up(1.5) + 0.1 * up(-1.5)],
    [{ kind: 'sft' }, 2 / 8],
    [{ kind: 'cpo', beta: 2, imitation: 0.5 }, up(2) + 0.5 * (2 / 8)],
    [{ kind: 'cpo', beta: 2, imitation: 0, labelSmoothing: 0.1 }, 0.9 * up(2) + 0.1 * up(-2)],
    [{ kind: 'cpo', beta: 0.5, form: 'hinge', imitation: 0 }, 0.5],
    [{ kind: 'cpo', beta: 2, form: 'ipo', imitation: 0 }, (-0.5 + 1.5 - 0.25) ** 2],
    [{ kind: 'simpo', beta: 2, margin: 0.5 }, up(2 - 0.5)],
    [{ kind: 'simpo', beta: 2, margin: 0, imitation: 1 }, up(2) + 2 / 8],
    [
      { kind: 'simpo', beta: 2, margin: 0, alpha: 0.5 },
      up(2 * ((1 - Math.exp(0.25)) / 0.5 - (1 - Math.exp(0.75)) / 0.5)),
    ],
    [{ kind: 'orpo', beta: 0.5 }, 0.5 * up(odds(-0.5) - odds(-1.5)) + 6 / 8],
    [{ kind: 'orpo', beta: 0.5, imitated: 'completion' }, 0.5 * up(odds(-0.5) - odds(-1.5)) + 2 / 8],
  ])('%j is what its paper says', (term, expected) => {
    expect(lossOf(term)).toBeCloseTo(expected, 12);
  });

  it('is linear where a completion is nearly impossible, and does not overflow', () => {
    expect(lossOf({ kind: 'sigmoid', beta: 1 }, { chosen: -1002.5 })).toBe(999.75);
    expect(lossOf({ kind: 'sigmoid', beta: 1 }, { rejected: -1002.75 })).toBe(0);
    // The exponent of an alpha divergence is at most 80.
    const far = lossOf({ kind: 'sigmoid', beta: 1, divergence: { alpha: 3 } }, { rejected: 1000 });
    expect(far / (Math.exp(80) / 2)).toBeCloseTo(1, 9);
  });

  it('of scores shifted together is the same, if they are compared', () => {
    for (const kind of ['sigmoid', 'hinge', 'robust', 'exo-pair', 'discopop'] as const) {
      const shifted = { chosen: -12, rejected: -13 };
      expect(lossOf({ kind, beta: 0.5 }, shifted), kind).toBeCloseTo(lossOf({ kind, beta: 0.5 }), 12);
    }
  });
});

describe('singleLoss', () => {
  const single = (term: PreferenceTerm, desirable: 0 | 1) => {
    const tape = new Tape();
    const data = (x: number) => tape.data(matrixFromRows([[x]]));
    // Log-ratio 0.5 at a divergence of 0.25.
    const [logprobs, reference, divergence] = [data(-2), data(-2.5), data(0.25)];
    const inputs = { logprobs, reference, desirable: data(desirable), divergence };
    return singleLoss(tape, inputs, term as SingleTerm).data[0]!;
  };

  it('compares with the divergence in KTO, and with nothing in APO', () => {
    const weights = { desirableWeight: 2, undesirableWeight: 3, beta: 4 };
    expect(single({ kind: 'kto', ...weights }, 1)).toBeCloseTo(2 * (1 - sigmoid(1)), 12);
    expect(single({ kind: 'kto', ...weights }, 0)).toBeCloseTo(3 * (1 - sigmoid(-1)), 12);
    expect(single({ kind: 'apo-zero-unpaired', ...weights }, 1)).toBeCloseTo(2 * (1 - sigmoid(2)), 12);
    expect(single({ kind: 'apo-zero-unpaired', ...weights }, 0)).toBeCloseTo(3 * sigmoid(2), 12);
  });
});

describe('differentiatePairs', () => {
  /** Three pairs whose ranks differ from side to side. */
  const columns: PairColumns = {
    chosen: Float64Array.of(-2, -5, -3.5),
    rejected: Float64Array.of(-3, -2.2, -4.1),
    referenceChosen: Float64Array.of(-2.5, -4, -3.6),
    referenceRejected: Float64Array.of(-2.75, -3, -3.3),
    chosenTokens: Float64Array.of(4, 6, 3),
    rejectedTokens: Float64Array.of(2, 5, 7),
    completion: Float64Array.of(-2.1, -5.2, -3.6),
    meanCompletionTokens: new Float64Array(3).fill(13 / 3),
    sequence: Float64Array.of(-6, -7, -8),
    meanSequenceTokens: new Float64Array(3).fill(8),
  };
  const kinds = preferenceTermSchema.options
    .flatMap(({ shape: { kind } }) => ('options' in kind ? [...kind.options] : [...kind.values]))
    .filter((kind) => kind !== 'kto' && kind !== 'apo-zero-unpaired');

  it.each(kinds)('%s has the derivatives of finite differences', (kind) => {
    const terms = [resolved({ kind, weight: 3 }), resolved({ kind: 'sft', weight: 0.5 })] as PairTerm[];
    const { gradients } = differentiatePairs(terms, columns);
    const step = 1e-5;
    for (const name of ['chosen', 'rejected', 'completion', 'sequence'] as const) {
      for (const row of [0, 1, 2]) {
        const at = (shift: number) => {
          const moved = columns[name].map((value, index) => (index === row ? value + shift : value));
          return differentiatePairs(terms, { ...columns, [name]: moved }).value;
        };
        const difference = (at(step) - at(-step)) / (2 * step);
        expect(gradients[name][row], `${name} ${row}`).toBeCloseTo(difference, 7);
      }
    }
  });

  it('adds the weighted terms, each a mean over the pairs', () => {
    const value = (...terms: PreferenceTerm[]) =>
      differentiatePairs(terms.map(resolved) as PairTerm[], columns).value;
    expect(value({ kind: 'sft' })).toBeCloseTo((2.1 + 5.2 + 3.6) / 3 / (13 / 3), 12);
    expect(value({ kind: 'sft', weight: 2 }, { kind: 'hinge', weight: -1 })).toBeCloseTo(
      2 * value({ kind: 'sft' }) - value({ kind: 'hinge' }),
      12,
    );
  });

  it('AOT compares sorted scores, whatever the order of the pairs', () => {
    const turned = Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [name, values.toReversed()]),
    ) as unknown as PairColumns;
    for (const kind of ['aot', 'aot-unpaired'] as const) {
      const terms = [resolved({ kind, beta: 1 })] as PairTerm[];
      const [once, again] = [differentiatePairs(terms, columns), differentiatePairs(terms, turned)];
      expect(again.value).toBeCloseTo(once.value, 12);
      expect([...again.gradients.rejected].reverse()).toEqual(
        [...once.gradients.rejected].map((x) => expect.closeTo(x, 12)),
      );
    }
    // Chosen less reference: 0.5, −1, 0.1. Rejected less reference: −0.25, 0.8, −0.8. Sorted: −1 with −0.8, and so on.
    const { value } = differentiatePairs(
      [resolved({ kind: 'aot-unpaired', beta: 1 })] as PairTerm[],
      columns,
    );
    expect(value).toBeCloseTo((up(-1 + 0.8) + up(0.1 + 0.25) + up(0.5 - 0.8)) / 3, 12);
    // Chosen less rejected: 1, −2.8, 0.6. The same of the reference: 0.25, −1, −0.3.
    const paired = differentiatePairs([resolved({ kind: 'aot', beta: 1 })] as PairTerm[], columns);
    expect(paired.value).toBeCloseTo((up(-2.8 + 1) + up(0.6 + 0.3) + up(1 - 0.25)) / 3, 12);
  });
});
