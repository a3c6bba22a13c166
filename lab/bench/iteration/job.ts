import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RandomStream } from '@rlp/core';
import { characterTokenizer, createModel, loadTokenizer, parseModelConfig, saveModel } from '@rlp/models';
import { letters } from '../../letters.ts';
import { configOf, shapes } from '../shapes.ts';

const stories = resolve(import.meta.dirname, '../../../examples/models/stories260k');

/** Work of an iteration: `prompts × groupSize` completions. */
interface Work {
  readonly model: 'stories260k' | 'S' | 'M' | 'L';
  readonly prompts: number;
  readonly groupSize: number;
  readonly promptTokens: number;
  readonly maxTokens: number;
}

const short = { promptTokens: 32, groupSize: 8 };
const long = { promptTokens: 512, groupSize: 8, maxTokens: 64 };

/** What a GRPO iteration is measured on. `-512` has prompts of 512 tokens. */
export const iterationShapes = {
  stories260k: { model: 'stories260k', prompts: 8, maxTokens: 96, ...short },
  S: { model: 'S', prompts: 8, maxTokens: 64, ...short },
  M: { model: 'M', prompts: 4, maxTokens: 64, ...short },
  L: { model: 'L', prompts: 1, maxTokens: 32, ...short },
  'stories260k-400': { model: 'stories260k', prompts: 4, ...long, promptTokens: 400 },
  'S-512': { model: 'S', prompts: 4, ...long },
  'M-512': { model: 'M', prompts: 2, ...long },
} as const satisfies Record<string, Work>;

/** Name of a shape. */
export type IterationShape = keyof typeof iterationShapes;

/** What both sides read as JSON. */
export interface IterationJob extends Omit<Work, 'model'> {
  /** Folder of the model. Both sides load it. */
  readonly model: string;
  /** Prompts of the tasks, different ones for every iteration. */
  readonly texts: readonly string[];
  readonly learningRate: number;
}

const words = 'the little dog saw a big red ball and wanted to play with it but mom said no'.split(' ');

/** That of the stories where it is as large as the model's vocabulary, else one of as many characters. */
async function tokenizerOf(model: Work['model']) {
  if (model === 'stories260k' || model === 'S') return (await loadTokenizer(stories)).tokenizer;
  const specials = { begin: '<s>', end: '</s>', padding: '<pad>' };
  return characterTokenizer(letters(shapes[model].vocabulary - 3), specials);
}

/** Writes the job, and a model with random weights where the repository has none. Returns the path of the job. */
export async function writeJob(shape: IterationShape, iterations: number): Promise<string> {
  const work: Work = iterationShapes[shape];
  const folder = await mkdtemp(join(tmpdir(), 'rlp-iteration-'));
  const tokenizer = await tokenizerOf(work.model);
  const model = work.model === 'stories260k' ? stories : join(folder, 'model');
  if (work.model !== 'stories260k') {
    const config = parseModelConfig(configOf(shapes[work.model]));
    await saveModel(model, createModel({ config, tokenizer, seed: 'bench' }));
  }
  const random = RandomStream.named('bench', 'iteration', shape);
  const draw = () => {
    let text = 'Once';
    while (tokenizer.encode(text).length < work.promptTokens)
      text += ` ${words[random.integer(words.length)]}`;
    return text;
  };
  const texts = Array.from({ length: work.prompts * iterations }, draw);
  const job: IterationJob = { ...work, model, texts, learningRate: 1e-5 };
  const path = join(folder, 'job.json');
  await writeFile(path, JSON.stringify(job));
  return path;
}
