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
import { type Message, RandomStream, type Task } from '@rlp/core';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { defineRun, trainRun } from '@rlp/run';
import { calculate } from './calculating-agent.ts';

type Question = { readonly sign: '+' | '*'; readonly a: number; readonly b: number; readonly answer: string };

/** What stands around the numbers in a call is one token each. A model that is loaded has its own tokenizer and chat template. */
const opening = (name: string) => `<tool_call>{"name": "${name}", "arguments": {"a": `;
const [and, close, result] = [', "b": ', '}}</tool_call>', '<result>'];
const chatTemplate = `{% for message in messages %}{% if message.role == 'tool' %}${result}{{ message.content }}={% else %}{{ message.content }}{% endif %}{%
  for call in message.tool_calls or [] %}<tool_call>{"name": "{{ call.function.name }}", "arguments": {"a": {{
  call.function.arguments.a }}${and}{{ call.function.arguments.b }}${close}{% endfor %}{% if message.role == 'assistant' %}</s>{% endif %}{% endfor %}`;
const tokenizer = characterTokenizer(
  '0123456789+*=',
  { end: '</s>', others: [opening('add'), opening('multiply'), and, close, result] },
  { chatTemplate },
);

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

/** A question whose answer is imitated, from memory or after a call. */
function demonstration({ prompt, metadata, ...task }: Task<Question>, calls: boolean): Task<Question> {
  const { sign, a, b, answer } = metadata;
  const said = { name: sign === '+' ? 'add' : 'multiply', arguments: JSON.stringify({ a, b }) };
  const exchange: Message[] = [
    { role: 'user', content: prompt as string },
    { role: 'assistant', content: '', tool_calls: [{ id: 'call_0', type: 'function', function: said }] },
    { role: 'tool', content: answer },
  ];
  return { ...task, prompt: calls ? exchange : prompt, metadata };
}

/** How long to train: updates of imitation and iterations of GRPO. */
interface Length {
  readonly seed: string;
  readonly updates: number;
  readonly iterations: number;
  readonly heldOutQuestions: number;
}

/** The agent's run. Its result is the outcome of its trajectory. */
export function agentRun({ seed, updates, iterations, heldOutQuestions }: Length) {
  const config = parseModelConfig({
    model_type: 'llama',
    architectures: ['LlamaForCausalLM'],
    ...{ vocab_size: tokenizer.vocabularySize, hidden_size: 128, intermediate_size: 256 },
    ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4 },
    ...{ max_position_embeddings: 64, tie_word_embeddings: true, initializer_range: 0.05 },
  });
  const all = questions(9000, seed);
  const shown = all.slice(200, 4200).map((task, index) => demonstration(task, index % 8 === 0));
  return defineRun({
    seed,
    model: createModel({ config, tokenizer, seed }),
    data: all.slice(4200),
    agent: ({ prompt }, { signal, ...address }) => calculate(prompt as string, address, signal),
    rewards: { right: ({ outcome, task }) => (outcome === task.metadata.answer ? 1 : 0) },
    sft: { data: shown, updates, sequencesPerBatch: 64, backend: { learningRate: 1e-3 } },
    algorithm: {
      iterations,
      tasksPerIteration: 16,
      rollout: { concurrentEpisodes: 128, maxTurns: 3, sampling: { maxTokens: 16 } },
      backend: { learningRate: 3e-4 },
    },
    evaluation: { data: all.slice(0, heldOutQuestions), temperature: 1 },
  });
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '0' },
      out: { type: 'string', default: 'runs/train-your-agent' },
    },
  });
  const length = { seed: values.seed, updates: 300, iterations: 30, heldOutQuestions: 200 };
  const { evaluation, files } = await trainRun({ ...agentRun(length), output: values.out });
  const { user, system } = process.cpuUsage();
  console.log(
    `${(100 * evaluation!.accuracy!).toFixed(1)} % right (${((user + system) / 1e6).toFixed(0)} s of processor)`,
  );
  console.log(`${files.report} shows the curves, and what was said before and after.`);
}
