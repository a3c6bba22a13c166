import { type BenchShape, shapes } from '../shapes.ts';

/** One thing that grows, while all else stays. */
export interface GrowthAxis {
  readonly measures: 'train-step' | 'generate';
  /** What grows, for the plot. */
  readonly title: string;
  readonly values: readonly number[];
  shape(value: number): BenchShape;
}

const conversation = { episodes: 4, prompt: 64, action: 32, observation: 32 };

/** What grows. Each measurement is a training step or a generation of a shape. */
export const growthAxes = {
  length: {
    measures: 'train-step',
    title: 'tokens of one sequence, S',
    values: [64, 256, 1024, 4096],
    shape: (length) => ({ ...shapes.S, rows: 1, length }),
  },
  sequences: {
    measures: 'train-step',
    title: 'sequences of 128 tokens, S',
    values: [1, 4, 16, 64],
    shape: (rows) => ({ ...shapes.S, rows }),
  },
  vocabulary: {
    measures: 'train-step',
    title: 'vocabulary, M, 2 × 256 tokens',
    values: [512, 8_000, 32_000, 151_936],
    shape: (vocabulary) => ({ ...shapes.M, rows: 2, vocabulary }),
  },
  layers: {
    measures: 'train-step',
    title: 'layers as wide as L’s, 2 × 128 tokens',
    values: [2, 8, 30],
    shape: (layers) => ({ ...shapes.L, length: 128, vocabulary: 512, layers }),
  },
  group: {
    measures: 'train-step',
    title: 'answers of 64 tokens to a prompt of 512, M',
    values: [1, 4, 16],
    shape: (answers) => ({ ...shapes.M, batch: { groups: 1, answers, prompt: 512, answer: 64 } }),
  },
  rows: {
    measures: 'generate',
    title: 'completions at once, S, 32 + 96 tokens',
    values: [1, 4, 16, 64, 256],
    shape: (prompts) => ({ ...shapes.S, prompts }),
  },
  turns: {
    measures: 'generate',
    title: 'turns of 4 conversations, S',
    values: [1, 4, 16],
    shape: (turns) => ({ ...shapes.S, conversations: { ...conversation, turns } }),
  },
} as const satisfies Record<string, GrowthAxis>;

/** Name of an axis. */
export type GrowthName = keyof typeof growthAxes;
