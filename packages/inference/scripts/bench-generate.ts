/**
 * Generation speed: 16 prompts of 32 tokens, 96 new tokens each, sampled at temperature 1 with logprobs, random weights.
 *
 *     node --conditions=@rlp/source --import tsx packages/inference/scripts/bench-generate.ts M [shared|packed] [threads] [rounds]
 *
 * Prints one JSON line: median new tokens per second of the rounds after warming up.
 */
import { RandomStream } from '@rlp/core';
import { byteTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { onnxBackend } from '../src/index.ts';

const shapes = {
  S: { hidden: 256, layers: 4, heads: 8, keyValueHeads: 8, inner: 688, vocabulary: 512 },
  M: { hidden: 288, layers: 6, heads: 6, keyValueHeads: 6, inner: 768, vocabulary: 32_000 },
  L: { hidden: 576, layers: 30, heads: 9, keyValueHeads: 3, inner: 1536, vocabulary: 49_152 },
} as const;

const batch = 16;
const promptLength = 32;
const newTokens = 96;

const [name = 'S', weights = 'shared', threads = '2', repeats = '5'] = process.argv.slice(2);
const rounds = Number(repeats);
const shape = shapes[name as keyof typeof shapes];
const config = parseModelConfig(
  {
    model_type: 'llama',
    vocab_size: shape.vocabulary,
    hidden_size: shape.hidden,
    intermediate_size: shape.inner,
    num_hidden_layers: shape.layers,
    num_attention_heads: shape.heads,
    num_key_value_heads: shape.keyValueHeads,
    max_position_embeddings: 2048,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    hidden_act: 'silu',
    tie_word_embeddings: true,
  },
  'bench',
);
const engine = await createEngine({ threads: Number(threads) });
const model = createModel({ config, tokenizer: byteTokenizer(), seed: 'bench' });
const started = performance.now();
const backend = await onnxBackend({
  engine,
  model,
  weights: weights as 'shared' | 'packed',
  maxSequences: batch,
  contextLength: promptLength + newTokens,
});
const startMs = performance.now() - started;

const random = RandomStream.named('bench');
const speeds: number[] = [];
/** Per second of processor time: comparable on a machine that others load, with one thread. */
const cpuSpeeds: number[] = [];
for (let round = -1; round < rounds; round++) {
  const begin = performance.now();
  const cpu = process.cpuUsage();
  const groups = await Promise.all(
    Array.from({ length: batch }, (_, index) =>
      backend.sample({
        prompt: Array.from({ length: promptLength }, () => random.integer(shape.vocabulary)),
        count: 1,
        maxTokens: newTokens,
        seed: `${round}/${index}`,
      }),
    ),
  );
  const tokens = groups.flat().reduce((sum, completion) => sum + completion.tokens.length, 0);
  const { user, system } = process.cpuUsage(cpu);
  if (round < 0) continue;
  speeds.push((tokens / (performance.now() - begin)) * 1000);
  cpuSpeeds.push((tokens / (user + system)) * 1e6);
}
speeds.sort((a, b) => a - b);
cpuSpeeds.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    name: 'generate',
    shape: name,
    weights,
    value: Math.round(speeds[Math.floor(rounds / 2)]!),
    best: Math.round(speeds[rounds - 1]!),
    unit: 'tokens/s',
    perCpuSecond: Math.round(cpuSpeeds[Math.floor(rounds / 2)]!),
    startMs: Math.round(startMs),
    peakMb: Math.round(process.resourceUsage().maxRSS / 1024),
  }),
);
await backend.close();
await engine.close();
