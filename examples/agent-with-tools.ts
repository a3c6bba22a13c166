/**
 * Train an agent to use a calculator
 *
 * A Llama of 0.4 million random parameters first imitates 3000 sums. Most of them are answered from memory, and one in five by a call
 * of the tool `calculator`. The model cannot add well, but it learned both habits. GRPO with a reward for right answers alone then teaches
 * it to call, and to copy the result.
 *
 * ```sh
 * pnpm recipe examples/agent-with-tools.ts
 * ```
 */
import { parseArgs } from 'node:util';
import { demonstrationSequences, GRPOAlgorithm, runSftTraining } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import type { ChatRenderer, Message, Sampler, Task } from '@rlp/core';
import {
  type ArithmeticMetadata,
  arithmeticTasks,
  ConversationEnvironment,
  taskSource,
  tool,
  withTools,
} from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { RolloutManager } from '@rlp/rollout';
import * as z from 'zod';

const calculator = tool({
  name: 'calculator',
  description: 'Adds two whole numbers.',
  parameters: z.object({ sum: z.string().regex(/^\d+\+\d+$/, 'must look like 47+85') }),
  execute: ({ sum }) => String(sum.split('+').reduce((total, addend) => total + Number(addend), 0)),
});
const conversation = new ConversationEnvironment<ArithmeticMetadata>();
const environment = withTools(conversation, [calculator], { maxCalls: 1 });

/** What stands around the sum in a call is one token each. A model that is loaded has its own tokenizer and chat template. */
const open = '<tool_call>{"name": "calculator", "arguments": {"sum": "';
const [close, result] = ['"}}</tool_call>', '<result>'];
const tokenizer = characterTokenizer('0123456789+=', { end: '</s>', others: [open, close, result] });
const written = ({ role, content, tool_calls: calls = [] }: Message) => {
  if (role !== 'assistant') return role === 'tool' ? `${result}${content}=` : content;
  const sums = calls.map((call) => `${open}${JSON.parse(call.function.arguments).sum}${close}`);
  return `${content}${sums.join('')}</s>`;
};
const chat: ChatRenderer = {
  render: (messages) => tokenizer.encode(messages.map(written).join(''), { specialTokens: 'none' }),
};

/** Sums of three-digit numbers, each in one of three parts. */
function tasksOf(seed: string) {
  const all = arithmeticTasks({ digits: 3, count: 9200, seed });
  return { heldOut: all.slice(0, 200), shown: all.slice(200, 3200), practised: all.slice(3200) };
}

/** A sum as a conversation, answered from memory or by a call. */
function demonstration(prompt: string, answer: string, calls: boolean): { messages: Message[] } {
  const said = { name: 'calculator', arguments: JSON.stringify({ sum: prompt.slice(0, -1) }) };
  const exchange: Message[] = [
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_0', type: 'function', function: said }] },
    { role: 'tool', content: answer },
  ];
  const last = { role: 'assistant', content: answer } as const;
  return { messages: [{ role: 'user', content: prompt }, ...(calls ? exchange : []), last] };
}

const rewards = rewardFunctions<ArithmeticMetadata>({
  right: ({ response, task }) => (response === task.metadata.answer ? 1 : 0),
});

/** Two views of one set of weights: the backend trains it, the sampler generates with it. */
async function policyOf(engine: Engine, model: LanguageModel, learningRate: number) {
  const backend = await createOnnxBackend({ engine, model, learningRate });
  const sampler = await createOnnxSampler({ engine, model, maxSequences: 256 });
  const close = async () => {
    await sampler.close();
    await backend.close();
  };
  return { policy: { backend, sampler }, close };
}

const episode = { maxTurns: 3, sampling: { maxTokens: 16 } };

/** Updates of imitation, iterations of GRPO, and iterations between measurements. */
type Length = Readonly<Record<'updates' | 'iterations' | 'every', number> & { seed: string }>;

/** Trains the agent. Yields accuracy and calls per held-out sum: first after imitation, then after some iterations of GRPO. */
export async function* trainAgent({ seed, updates, iterations, every }: Length) {
  const engine = await createEngine();
  try {
    const config = parseModelConfig({
      model_type: 'llama',
      architectures: ['LlamaForCausalLM'],
      ...{ vocab_size: tokenizer.vocabularySize, hidden_size: 128, intermediate_size: 256 },
      ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4 },
      ...{ max_position_embeddings: 64, tie_word_embeddings: true, initializer_range: 0.05 },
    });
    const model = createModel({ config, tokenizer, seed });
    const { heldOut, shown, practised } = tasksOf(seed);

    const imitation = await policyOf(engine, model, 1e-3);
    const sequences = shown.flatMap(({ prompt, metadata: { answer } }, index) => {
      const imitated = demonstration(prompt as string, answer, index % 5 === 0);
      return demonstrationSequences(imitated, { tokenizer, chat });
    });
    const { backend, sampler } = imitation.policy;
    for await (const _ of runSftTraining({ backend, sequences }, { seed, updates, sequencesPerBatch: 64 }));
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    yield await evaluate(sampler, heldOut);
    const weights = await backend.getWeights();
    await imitation.close();

    const practice = await policyOf(engine, { ...model, weights }, 3e-4);
    const grpo = new GRPOAlgorithm(
      { environment, tasks: taskSource(practised), ...practice.policy, tokenizer, chat, rewards },
      { seed, tasksPerIteration: 16, rollout: { seed, groupSize: 8, ...episode } },
    );
    let iteration = 0;
    for await (const _ of grpo.run({ iterations }))
      if (++iteration % every === 0) yield await evaluate(practice.policy.sampler, heldOut);
  } finally {
    await engine.close();
  }
}

/** One sampled episode per sum. */
async function evaluate(sampler: Sampler, tasks: readonly Task<ArithmeticMetadata>[]) {
  const options = { groupSize: 1, seed: 'held-out', ...episode };
  const manager = new RolloutManager({ environment, sampler, tokenizer, chat }, options);
  let [right, calls] = [0, 0];
  for await (const group of manager.collectGroups(tasks, { iteration: 0 })) {
    const [scored] = await rewards.computeRewards(group);
    right += scored?.reward ?? 0;
    calls += scored?.trajectory.metrics?.['tools/calls'] ?? 0;
  }
  return { accuracy: right / tasks.length, calls: calls / tasks.length };
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { seed: { type: 'string', default: '0' } } });
  const length = { seed: values.seed, updates: 300, iterations: 20, every: 10 };
  for await (const { accuracy, calls } of trainAgent(length))
    console.log(`${(100 * accuracy).toFixed(1)} % right, ${calls.toFixed(2)} calls per sum`);
}
