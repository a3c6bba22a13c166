/**
 * Train the agent you already have
 *
 * The agent is [calculating-agent.ts](calculating-agent.ts): 30 lines of the AI SDK with two tools. A Llama of 0.4 million random
 * parameters first imitates 4000 answers. Most of them come from memory, and one in eight from a tool. GRPO with a reward for right
 * answers alone then teaches it to use the tools. The agent runs as it is. It gets another address.
 *
 * ```sh
 * pnpm recipe examples/train-your-agent.ts
 * ```
 */
import { parseArgs } from 'node:util';
import { demonstrationSequences, runRlTraining, runSftTraining } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { type ChatRenderer, type Message, RandomStream, type Task } from '@rlp/core';
import { taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, createModel, type LanguageModel, parseModelConfig } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { captureRollouts } from '@rlp/serve/capture';
import { calculate } from './calculating-agent.ts';

type Question = { readonly sign: '+' | '*'; readonly a: number; readonly b: number; readonly answer: string };

/** What stands around the numbers in a call is one token each. A model that is loaded has its own tokenizer and chat template. */
const opening = (name: string) => `<tool_call>{"name": "${name}", "arguments": {"a": `;
const [add, multiply, and, close, result] = [
  ...[opening('add'), opening('multiply')],
  ...[', "b": ', '}}</tool_call>', '<result>'],
] as const;
const tokenizer = characterTokenizer('0123456789+*=', {
  end: '</s>',
  others: [add, multiply, and, close, result],
});
const written = ({ role, content, tool_calls: calls = [] }: Message) => {
  if (role !== 'assistant') return role === 'tool' ? `${result}${content}=` : content;
  const called = calls.map(({ function: { name, arguments: given } }) => {
    const { a, b } = JSON.parse(given);
    return `${opening(name)}${a}${and}${b}${close}`;
  });
  return `${content}${called.join('')}</s>`;
};
const chat: ChatRenderer = {
  render: (messages) => tokenizer.encode(messages.map(written).join(''), { specialTokens: 'none' }),
};

/** Different sums of three digits and products of two, in random order. */
function questions(count: number, seed: string): Task<Question>[] {
  const random = RandomStream.named(seed, 'questions');
  const tasks = new Map<string, Task<Question>>();
  while (tasks.size < count) {
    const sign = random.integer(2) === 0 ? '+' : '*';
    const [least, range] = sign === '+' ? [100, 900] : [10, 90];
    const [a, b] = [least + random.integer(range), least + random.integer(range)];
    const answer = String(sign === '+' ? a + b : a * b);
    const prompt = `${a}${sign}${b}=`;
    tasks.set(prompt, { id: prompt, prompt, metadata: { sign, a, b, answer } });
  }
  return [...tasks.values()];
}

/** An answer from memory or by a call. */
function demonstration({ prompt, metadata }: Task<Question>, calls: boolean): { messages: Message[] } {
  const { sign, a, b, answer } = metadata;
  const said = { name: sign === '+' ? 'add' : 'multiply', arguments: JSON.stringify({ a, b }) };
  const exchange: Message[] = [
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_0', type: 'function', function: said }] },
    { role: 'tool', content: answer },
  ];
  const last = { role: 'assistant', content: answer } as const;
  return { messages: [{ role: 'user', content: prompt as string }, ...(calls ? exchange : []), last] };
}

/** The agent's result is the outcome of its trajectory. */
const rewards = rewardFunctions<Question, string>({
  right: ({ outcome, task }) => (outcome === task.metadata.answer ? 1 : 0),
});

/** Two views of one set of weights: the backend trains it, the sampler generates with it. */
async function policyOf(engine: Engine, model: LanguageModel, learningRate: number) {
  const backend = await createOnnxBackend({ engine, model, learningRate });
  const generating = createOnnxSampler({ engine, model, maxSequences: 256 });
  const sampler = await InferenceModule.create({ backend: generating, renderer: chat });
  const close = async () => {
    await sampler.close();
    await backend.close();
  };
  return { backend, sampler, close };
}

/** What to train, and for how long: updates of imitation, iterations of GRPO, how often and on how much to measure. */
interface Length {
  readonly seed: string;
  readonly updates: number;
  readonly iterations: number;
  readonly every: number;
  readonly heldOutQuestions: number;
}

/** Trains the agent. Yields accuracy and requests per held-out question: after imitation, then after every few iterations of GRPO. */
export async function* trainYourAgent({ seed, updates, iterations, every, heldOutQuestions }: Length) {
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
    const all = questions(9000, seed);
    const [heldOut, shown, practised] = [
      all.slice(0, heldOutQuestions),
      all.slice(200, 4200),
      all.slice(4200),
    ];

    const imitation = await policyOf(engine, model, 1e-3);
    const sequences = shown.flatMap((task, index) =>
      demonstrationSequences(demonstration(task, index % 8 === 0), { tokenizer, chat }),
    );
    const { backend } = imitation;
    for await (const _ of runSftTraining({ backend, sequences }, { seed, updates, sequencesPerBatch: 64 }));
    const weights = await backend.getWeights();
    await imitation.close();

    const policy = await policyOf(engine, { ...model, weights }, 3e-4);
    const capture = (groupSize: number) =>
      captureRollouts<Question, string>({
        ...{ policy: policy.sampler, rewards, seed, groupSize },
        ...{ concurrentEpisodes: 128, maxTurns: 3, sampling: { maxTokens: 16 } },
        run: ({ prompt }, { signal, ...address }) => calculate(prompt as string, address, signal),
      });
    await using rollouts = capture(8);
    await using exam = capture(1);
    const measure = async () => {
      const scored = await exam.score(heldOut, { iteration: 0 });
      const right = scored.reduce((sum, { reward }) => sum + (reward ?? 0), 0);
      const turns = scored.reduce((sum, { trajectory }) => sum + trajectory.steps.length, 0);
      return { accuracy: right / scored.length, requests: turns / scored.length };
    };
    yield await measure();
    let iteration = 0;
    for await (const _ of runRlTraining(
      { rollouts, rewards, tasks: taskSource(practised), backend: policy.backend, inference: policy.sampler },
      { seed, iterations, tasksPerIteration: 16 },
    ))
      if (++iteration % every === 0) yield await measure();
    await policy.close();
  } finally {
    await engine.close();
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { seed: { type: 'string', default: '0' } } });
  const length = { seed: values.seed, updates: 300, iterations: 30, every: 10, heldOutQuestions: 200 };
  for await (const { accuracy, requests } of trainYourAgent(length)) {
    const { user, system } = process.cpuUsage();
    const used = `${((user + system) / 1e6).toFixed(0)} s of processor`;
    console.log(
      `${(100 * accuracy).toFixed(1)} % right, ${requests.toFixed(2)} requests per question (${used})`,
    );
  }
}
