/**
 * Train a model to write functions that pass hidden tests
 *
 * The policy reads `sum above 12` and writes a JavaScript function of a list of numbers. A sandbox runs the program against tests that the
 * policy never sees. A Llama of 0.3 million random parameters first imitates 3000 programs. Four in five of them have a bug, such as `>=`
 * for `>`. GRPO with the tests as its only reward then teaches it to write the programs that pass.
 *
 * ```sh
 * pnpm recipe examples/code-with-tests.ts
 * ```
 */
import { parseArgs } from 'node:util';
import { demonstrationSequences, GRPOAlgorithm, runSftTraining } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { type ChatRenderer, RandomStream, type Task } from '@rlp/core';
import { ConversationEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { rewardFunctions } from '@rlp/rewards';
import { codeTests } from '@rlp/rewards/stock';
import { evaluate } from '@rlp/run/evaluate';
import { createSandbox, javascriptRunner } from '@rlp/sandbox';

/** Which numbers to keep: the word for it, the operator, and what it means. */
const selections = [
  ['above', '>', (x: number, n: number) => x > n],
  ['below', '<', (x: number, n: number) => x < n],
  ['at least', '>=', (x: number, n: number) => x >= n],
  ['at most', '<=', (x: number, n: number) => x <= n],
] as const;
type Numbers = readonly number[];
/** What to return of them: the word for it, the end of the program, and what it means. */
const results = [
  ['list', '', (xs: Numbers): unknown => xs],
  ['count', '.length', (xs: Numbers): unknown => xs.length],
  ['sum', '.reduce((a,b)=>a+b,0)', (xs: Numbers): unknown => xs.reduce((sum, x) => sum + x, 0)],
  ['first', '[0]??0', (xs: Numbers): unknown => xs[0] ?? 0],
] as const;
const operators = selections.map(([, operator]) => operator);
const endings = results.map(([, ending]) => ending);
/** Words of prompts and programs are one token each. A model that is loaded has its own tokenizer and chat template. */
const words = [...[...selections, ...results].map(([word]) => word), ...operators, ...endings.slice(1)];
const others = [...words, 'function f(xs){return xs', '.filter(x=>x', ')', '}', '\n'];
const tokenizer = characterTokenizer('0123456789 ', { end: '</s>', others });
const chat: ChatRenderer = { render: ([message]) => tokenizer.encode(`${message?.content}\n`) };

const environment = new ConversationEnvironment<Wanted>();
interface Wanted {
  readonly operator: string;
  readonly ending: string;
  readonly bound: number;
  readonly tests: string;
}

/** Every function with a bound from 10 to 99, in one of three parts. */
function tasksOf(seed: string) {
  const bounds = Array.from({ length: 90 }, (_, index) => 10 + index);
  const all = selections.flatMap(([selection, operator, keeps]) =>
    results.flatMap(([result, ending, of]) =>
      bounds.map((bound): Task<Wanted> => {
        const prompt = `${result} ${selection} ${bound}`;
        const random = RandomStream.named(seed, prompt);
        const tests = [2, 4, 8].map((length) => {
          const xs = [bound, ...Array.from({ length }, () => 1 + random.integer(2 * bound))];
          const expected = of(xs.filter((x) => keeps(x, bound)));
          return `assert.deepEqual(f(${JSON.stringify(xs)}), ${JSON.stringify(expected)});`;
        });
        return { id: prompt, prompt, metadata: { operator, ending, bound, tests: tests.join('\n') } };
      }),
    ),
  );
  const tasks = RandomStream.named(seed, 'tasks').shuffle(all);
  return { heldOut: tasks.slice(0, 200), shown: tasks.slice(200, 700), practised: tasks.slice(700) };
}

/** Six drafts of each function. One in five is right. Two in five have a wrong operator, the others a wrong end. */
function drafts(tasks: readonly Task<Wanted>[], seed: string) {
  const next = (all: readonly string[], one: string) => all[(all.indexOf(one) + 1) % all.length];
  return tasks.flatMap(({ prompt, metadata: { operator, ending, bound } }) => {
    const random = RandomStream.named(seed, 'drafts', prompt as string);
    return [0, 1, 2, 3, 4, 5].flatMap(() => {
      const draw = random.uniform();
      const comparison = draw < 0.4 ? next(operators, operator) : operator;
      const end = draw >= 0.6 ? next(endings, ending) : ending;
      const completion = `function f(xs){return xs.filter(x=>x${comparison}${bound})${end}}`;
      return demonstrationSequences({ prompt: `${prompt}\n`, completion }, { tokenizer });
    });
  });
}

const config = parseModelConfig({
  model_type: 'llama',
  architectures: ['LlamaForCausalLM'],
  ...{ vocab_size: tokenizer.vocabularySize, hidden_size: 128, intermediate_size: 256 },
  ...{ num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4 },
  ...{ max_position_embeddings: 32, tie_word_embeddings: true, initializer_range: 0.05 },
});
const episode = { maxTurns: 1, sampling: { maxTokens: 12, temperature: 1 } };

/** Updates of imitation, iterations of GRPO, iterations between measurements, and held-out functions that are measured. */
type Length = Readonly<Record<'updates' | 'iterations' | 'every' | 'measured', number> & { seed: string }>;

/** Trains the policy. Yields the share of held-out functions whose tests pass: after imitation, then after some iterations. */
export async function* trainProgrammer({ seed, updates, iterations, every, measured }: Length) {
  const engine = await createEngine();
  const sandbox = createSandbox();
  try {
    const model = createModel({ config, tokenizer, seed });
    const backend = await createOnnxBackend({ engine, model, learningRate: 3e-4 });
    const sampler = await createOnnxSampler({ engine, model, maxSequences: 256 });
    const rewards = rewardFunctions<Wanted>({
      passes: codeTests({
        ...{ runner: javascriptRunner(sandbox), language: 'javascript', timeoutMs: 1000 },
        tests: ({ tests }) => [{ kind: 'assertion', source: tests }],
        extract: (response) => response,
      }),
    });
    const { heldOut, shown, practised } = tasksOf(seed);
    const passing = async () => {
      const asked = { policy: { sampler, tokenizer, chat }, tasks: heldOut.slice(0, measured) };
      const { reward } = await evaluate({ ...asked, environment, rewards, ...episode });
      return reward?.value ?? Number.NaN;
    };

    const imitated = { backend, sequences: drafts(shown, seed) };
    for await (const _ of runSftTraining(imitated, { seed, updates, sequencesPerBatch: 64 }));
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    yield await passing();

    const grpo = new GRPOAlgorithm(
      { environment, tasks: taskSource(practised), backend, sampler, tokenizer, chat, rewards },
      { seed, tasksPerIteration: 16, rollout: { seed, groupSize: 8, ...episode } },
    );
    let iteration = 0;
    for await (const _ of grpo.run({ iterations })) if (++iteration % every === 0) yield await passing();
  } finally {
    await sandbox.close();
    await engine.close();
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({ options: { seed: { type: 'string', default: '0' } } });
  const length = { seed: values.seed, updates: 500, iterations: 25, every: 5, measured: 200 };
  for await (const share of trainProgrammer(length))
    console.log(`${(100 * share).toFixed(1)} % of held-out functions pass their tests`);
}
