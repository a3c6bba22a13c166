import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ChatRenderer,
  samplerGenerator,
  type TextGenerator,
  type Trajectory,
  type TrajectoryGroup,
} from '@rlp/core';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import { createEngine, type Engine } from '@rlp/onnx/runtime';
import {
  likelihoodJudge,
  pairwiseJudge,
  pointwiseJudge,
  rankingJudge,
  rubricJudge,
} from '@rlp/rewards/judge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const shared = process.env.RLP_SHARED ?? fileURLToPath(new URL('../../../../shared', import.meta.url));
const folder = join(shared, 'data', 'tinystories656k');
const present = existsSync(folder);
if (!present) console.warn(`skipping judges by a real model: ${folder} is absent; set RLP_SHARED`);

const { signal } = new AbortController();
const task = { id: 'story', prompt: 'Tell of a cat.', metadata: undefined };
const trajectories = ['The cat ran home.', 'cat cat dog', 'Once a cat was sad.'].map(
  (response, member): Trajectory => ({
    ...{ id: `0/story/${member}`, task, steps: [], messages: [], response },
    ...{ status: 'completed', policyVersion: 0 },
  }),
);
const group: TrajectoryGroup = { id: '0/story', task, trajectories };
const nobody = trajectories.map(() => null);
/** Short: the model's context holds 512 tokens, and a key takes 30 of them. */
const pointwise = { system: '', user: '{{response}}\nGood or bad, 1 to 10?\n{{key}} score:' };
const pairwise = { system: '', user: '{{first}}\n{{second}}\n{{key}} winner:' };
const inFull = (message: string) => ({ system: '', user: message });

// A model of 656,000 parameters that knows nothing but stories is no judge: what comes out of it is as wild as it gets.
describe.skipIf(!present)('judges by a real model', () => {
  let engine: Engine;
  let inference: InferenceModule;
  let renderer: ChatRenderer;
  let encode: (text: string) => number[];
  let says: TextGenerator;
  const outputs: string[] = [];

  beforeAll(async () => {
    engine = await createEngine({ threads: 1 });
    const model = await loadModel(folder);
    inference = await InferenceModule.create({
      backend: createOnnxSampler({ engine, model, store: 'judge' }),
    });
    encode = (text) => model.tokenizer.encode(text, { specialTokens: 'none' });
    renderer = { render: (messages) => encode(messages.map(({ content }) => content).join('\n')) };
    const sampled = samplerGenerator({ sampler: inference, renderer, maxTokens: 16 });
    says = async (messages, options) => {
      const text = await sampled(messages, options);
      outputs.push(text);
      return text;
    };
  });
  afterAll(async () => {
    await inference?.close();
    await engine?.close();
  });

  /** The model goes on with the last line of the prompt, as one that is made to begin its answer so. */
  const goesOn: TextGenerator = async (messages, options) =>
    `${messages.at(-1)!.content.split('\n').at(-1)!}${await says(messages, options)}`;

  it('have no verdict in whatever it writes, asked twice for each, and once about empty responses', async () => {
    outputs.length = 0;
    const judges = {
      rubric: rubricJudge({
        generator: goesOn,
        criteria: [{ name: 'tone', description: 'kind' }],
        template: inFull('{{response}}\n{{lines}}\n{{key}} tone:'),
      }),
      pairwise: pairwiseJudge({ generator: goesOn, template: pairwise }),
      ranking: rankingJudge({
        generator: says,
        rounds: 2,
        template: inFull('{{responses}}\n{{lines}}\n{{key}} 1:'),
      }),
    };
    const asked = { rubric: 3, pairwise: 6, ranking: 2 };
    const calls = { rubric: 9, pairwise: 18, ranking: 6 };
    for (const [name, judge] of Object.entries(judges)) {
      expect((await judge.computeRewards(group)).map(({ reward }) => reward)).toEqual(nobody);
      const verdicts = asked[name as keyof typeof asked];
      const failures = { unparsable: verdicts, threw: 0, 'timed-out': 0 };
      const counts = { asked: verdicts, calls: calls[name as keyof typeof calls], failures };
      expect(judge.getStatistics()).toMatchObject(counts);
    }
    const judge = pointwiseJudge({ generator: goesOn, rubric: 'good', template: pointwise });
    for (const one of trajectories) {
      await expect(judge.reward(one, { signal })).rejects.toThrow('pointwiseJudge: expected a verdict');
    }
    // Each another text: an output that cannot be read is asked for with another seed.
    expect([outputs.length, new Set(outputs).size]).toEqual([42, 42]);
  });

  it('fail at a prompt beyond its context, after one question about an empty response', async () => {
    const judge = pointwiseJudge({ generator: says, rubric: 'good '.repeat(600) });
    await expect(judge.reward(trajectories[0]!, { signal })).rejects.toThrow('context holds 512');
    expect(judge.getStatistics()).toMatchObject({ calls: 2, failures: { threw: 1 } });
    expect(judge.getStatistics().lastFailure).toContain('context holds 512');
  });

  it('see that it chooses by position, and make nothing of it', async () => {
    // What the model finds likelier, "A" or "B", whatever is shown as which.
    const prefers: TextGenerator = async (messages) => {
      const prompt = renderer.render(messages);
      const choices = [' A', ' B'];
      const scores = await inference.scoreTokens(
        choices.map((choice) => ({ prompt, completion: encode(choice) })),
      );
      const [a, b] = scores.map(({ logprobs }) => logprobs.reduce((sum, logprob) => sum + logprob, 0));
      return `${messages.at(-1)!.content.split('\n').at(-1)!}${a! > b! ? choices[0] : choices[1]}`;
    };
    const judge = pairwiseJudge({ generator: prefers, template: pairwise });
    const scored = await judge.computeRewards(group);
    const { compared, consistent, favouredFirst, favouredSecond, positionBias } = judge.getStatistics();
    expect([compared, consistent + favouredFirst + favouredSecond]).toEqual([3, 3]);
    expect(Math.abs(positionBias!)).toBe(1);
    expect(scored.map(({ reward }) => reward)).toEqual([0.5, 0.5, 0.5]);
  });

  it('end in time and with the signal, and leave it usable', async () => {
    const long = samplerGenerator({ sampler: inference, renderer, maxTokens: 300 });
    const options = { rubric: 'good', template: pointwise, generator: long } as const;
    const hurried = pointwiseJudge({ ...options, timeoutMs: 1 });
    await expect(hurried.reward(trajectories[0]!, { signal })).rejects.toThrow('took longer than 1 ms');
    expect(hurried.getStatistics().failures).toEqual({ unparsable: 0, threw: 0, 'timed-out': 1 });
    const controller = new AbortController();
    const judge = pointwiseJudge(options);
    const asked = trajectories.map((one) => judge.reward(one, { signal: controller.signal }));
    const ended = Promise.allSettled(asked);
    setTimeout(() => controller.abort(new Error('enough')), 5);
    expect(await ended).toMatchObject(trajectories.map(() => ({ reason: { message: 'enough' } })));
    expect(await says([{ role: 'user', content: 'Once' }], { seed: 'a', signal })).not.toBe('');
  });

  it('by likelihood tell that it does not answer, or score by what it finds likely', async () => {
    const options = { rubric: 'good', renderer, tokenizer: { encode }, template: pointwise } as const;
    const judge = likelihoodJudge({ ...options, scorer: inference });
    for (const one of trajectories) {
      await expect(judge.reward(one, { signal })).rejects.toThrow('the scores have a probability of');
    }
    expect(judge.getStatistics().failures.unparsable).toBe(3);
    const anyhow = likelihoodJudge({ ...options, scorer: inference, minimumMass: 0 });
    const rewards = await Promise.all(trajectories.map((one) => anyhow.reward(one, { signal })));
    expect(rewards.every((reward) => reward! > 0 && reward! < 1)).toBe(true);
    expect(new Set(rewards).size).toBe(3);
    const again = await Promise.all(trajectories.map((one) => anyhow.reward(one, { signal })));
    for (const [k, reward] of again.entries()) expect(reward).toBeCloseTo(rewards[k]!, 5);
  });
});
