import { createOnnxBackend } from '@rlp/backprop';
import { RandomStream } from '@rlp/core';
import { arithmeticTasks } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import { extractTag } from '@rlp/rewards';
import { keyword } from './flawed-reward.ts';
import type { Setting, Sum } from './setting.ts';

/** Each is one token, as the digits are. */
const words = [`${keyword} `, 'ones ', 'tens ', ', ', '<reasoning>', '</reasoning>', '<answer>', '</answer>'];

/** Updates of imitation. A model that has learned less loses the sum over each keyword more than it was shown. */
const updates = 300;
/** How often the teacher forgets to carry. */
const carelessness = 0.55;
/** How often the teacher says the keyword once more: once before each column, on average. */
const verbosity = 0.5;

/**
 * A Llama of 0.2 million parameters that adds two-digit numbers, column by column, with a "therefore" here and there.
 */
export function transformerSetting(engine: Engine, seed: string, iterations: number): Setting {
  const tokenizer = characterTokenizer('0123456789+=', { begin: '<s>', end: '</s>', others: words });
  const config = smallLlama(tokenizer.vocabularySize);
  const all = arithmeticTasks({ digits: 2, count: 6000, carry: 'needed', seed });
  const stream = RandomStream.named(seed, 'teacher');
  return {
    seed,
    tokenizer,
    heldOut: all.slice(0, 300),
    demonstrations: all.slice(300, 3300).map((sum) => ({
      prompt: sum.prompt as string,
      completion: workedSolution(sum, stream),
    })),
    practised: all.slice(3300),
    async newPolicy({ learningRate, schedule }, weights) {
      const drawn = createModel({ config, tokenizer, seed });
      const model = weights === undefined ? drawn : { ...drawn, weights };
      const tokensPerMicroBatch = 8192;
      const backend = await createOnnxBackend({ engine, model, learningRate, schedule, tokensPerMicroBatch });
      const sampler = await InferenceModule.create({
        backend: createOnnxSampler({ engine, model, maxSequences: 256 }),
      });
      return {
        backend,
        sampler,
        async close() {
          await sampler.close();
          await backend.close();
        },
      };
    },
    imitation: {
      learningRate: 3e-3,
      schedule: { kind: 'cosine', warmup: 10, updates, minimumRatio: 0.05 },
      updates,
      sequencesPerBatch: 64,
    },
    practice: { learningRate: 1e-4, iterations, tasksPerIteration: 16, groupSize: 8 },
    maxTokens: 48,
    pay: { extract: extractTag('answer'), keywordWeight: 0.3 },
  };
}

function smallLlama(vocabularySize: number) {
  return parseModelConfig({
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    vocab_size: vocabularySize,
    hidden_size: 64,
    num_hidden_layers: 3,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    intermediate_size: 176,
    max_position_embeddings: 80,
    tie_word_embeddings: true,
    initializer_range: 0.05,
  });
}

/** `<reasoning>ones 7+5=12, therefore tens 4+8=12</reasoning><answer>122</answer>`: the carry forgotten, as ever so often. */
function workedSolution({ metadata: { addends } }: Sum, stream: RandomStream): string {
  const [a, b] = addends;
  const ones = (a % 10) + (b % 10);
  const carry = stream.uniform() < carelessness || ones < 10 ? 0 : 1;
  const [tensA, tensB] = [Math.floor(a / 10), Math.floor(b / 10)];
  const tens = tensA + tensB + carry;
  const first = `${filler(stream)}ones ${a % 10}+${b % 10}=${ones}`;
  const second = `${filler(stream)}tens ${tensA}+${tensB}${carry > 0 ? '+1' : ''}=${tens}`;
  return `<reasoning>${first}, ${second}</reasoning><answer>${tens}${ones % 10}</answer>`;
}

/** The keyword, as people say such words: often not at all, rarely thrice. */
function filler(stream: RandomStream): string {
  let said = '';
  while (stream.uniform() < verbosity) said += `${keyword} `;
  return said;
}
