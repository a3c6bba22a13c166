import { TabularBackend } from '@rlp/backprop/tabular';
import type { ChatRenderer } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { letterTokenizer as tokenizer } from '../loop/bandit.fixture.ts';
import type { PreferenceOptions } from './options.ts';
import { pairRewards } from './pair-rewards.ts';
import { type JudgedPair, judgedPair } from './preferences.ts';
import { type PreferenceReport, type PreferenceState, runPreferenceTraining } from './run-preference.ts';

/** After each letter the next is preferred to the letter itself. */
const pairs = ['ab', 'bc', 'cd', 'de', 'ef'].map(([prompt, next]) =>
  judgedPair({ prompt: prompt!, chosen: next!, rejected: `${prompt}${next}` }, { tokenizer }),
);
const create = () => new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate: 0.3 });

async function train(
  options: PreferenceOptions & { readonly resume?: PreferenceState },
  backend = create(),
  data: { readonly pairs?: readonly JudgedPair[] } = { pairs },
): Promise<PreferenceReport[]> {
  const reports: PreferenceReport[] = [];
  for await (const report of runPreferenceTraining({ backend, ...data }, options)) reports.push(report);
  return reports;
}

describe('runPreferenceTraining', () => {
  it.each(['sigmoid', 'ipo', 'hinge', 'apo-zero', 'aot', 'cpo', 'simpo', 'orpo', 'kto'] as const)(
    'learns to prefer what is preferred: %s',
    async (loss) => {
      const reports = await train({ loss, epochs: 30 });
      const last = reports.at(-1)!.metrics;
      expect(last['loss/preference']).toBeLessThan(reports[0]!.metrics['loss/preference']!);
      expect(last['reward/margin']).toBeGreaterThan(0);
      if (loss !== 'kto') expect(last['reward/accuracy']).toBe(1);
    },
  );

  it('begins at ln 2 with rewards of 0, and leaves out what it cannot measure', async () => {
    const [first] = await train({ updates: 1 });
    expect(first!.metrics).toMatchObject({ 'reward/chosen': 0, 'reward/margin': 0, 'reward/accuracy': 0 });
    expect(first!.metrics['loss/preference']).toBeCloseTo(Math.LN2, 12);
    const [imitation] = await train({ loss: 'sft', updates: 1 });
    expect(Object.keys(imitation!.metrics).filter((name) => name.startsWith('reward/'))).toEqual([]);
  });

  it.each([
    [{}, undefined, 4],
    [{}, 64, 5],
    [{ maxLength: { tokens: 4 } }, 64, 4],
  ] as const)(
    'cuts mismatched rows of KTO at the model or at maxLength: %j',
    async (options, context, longest) => {
      const backend = create();
      Object.defineProperty(backend, 'contextLength', { value: context });
      const lengths: number[] = [];
      const logprobs = backend.logprobs.bind(backend);
      backend.logprobs = (sequences, scoring) => {
        lengths.push(...sequences.map(({ length }) => length));
        return logprobs(sequences, scoring);
      };
      // Each has four tokens, and the prompt of one with the completion of the other has five.
      const uneven = [
        judgedPair({ prompt: 'ab', chosen: 'c', rejected: 'd' }, { tokenizer }),
        judgedPair({ prompt: 'a', chosen: 'bc', rejected: 'cd' }, { tokenizer }),
      ];
      await train({ ...options, loss: 'kto', updates: 1, pairsPerBatch: 4 }, backend, { pairs: uneven });
      expect(Math.max(...lengths)).toBe(longest);
    },
  );

  it.each(['sigmoid', 'ipo', 'cpo', 'simpo', 'orpo', 'kto'] as const)(
    'pairRewards gives the rewards whose means the next update reports: %s',
    async (loss) => {
      const options = { loss, pairsPerBatch: loss === 'kto' ? 10 : 5 };
      const backend = create();
      const [, , third] = await train({ ...options, updates: 3 });
      await train({ ...options, updates: 2 }, backend);
      const mean = (rewards: Float64Array) =>
        rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      const { chosen, rejected } = await pairRewards(backend, pairs, { ...options, pairsPerBatch: 2 });
      expect(mean(chosen)).toBeCloseTo(third!.metrics['reward/chosen']!, 6);
      expect(mean(rejected)).toBeCloseTo(third!.metrics['reward/rejected']!, 6);
    },
  );

  it('adds terms: the gradient of a sum is the sum of the gradients', async () => {
    const moved = async (loss: PreferenceOptions['loss']) => {
      const backend = new TabularBackend({
        vocabularySize: 8,
        contextTokens: 1,
        learningRate: 1,
        optimizer: 'sgd',
        maxGradientNorm: 'off',
      });
      await train({ loss, updates: 1 }, backend);
      return [...(await backend.getWeights()).values()].flatMap(({ data }) => [...data]);
    };
    const [dpo, imitation, both] = await Promise.all([
      moved('sigmoid'),
      moved('sft'),
      moved([
        { kind: 'sigmoid', weight: 2 },
        { kind: 'sft', weight: 0.5 },
      ]),
    ]);
    const sum = dpo.map((value, index) => 2 * value + 0.5 * imitation[index]!);
    expect(both).toEqual(sum.map((value) => expect.closeTo(value, 7)));
  });

  it('continues where it was, batch for batch, with the reference where it was', async () => {
    const options: PreferenceOptions = {
      pairsPerBatch: 2,
      referenceUpdate: { method: 'ema', decay: 0.5, everyUpdates: 2 },
    };
    const whole = create();
    const reports = await train({ ...options, updates: 7 }, whole);
    const parts = create();
    const first = await train({ ...options, updates: 3 }, parts);
    const rest = await train({ ...options, updates: 7, resume: first.at(-1)!.state }, parts);
    expect([...first, ...rest]).toEqual(reports);
    expect(await parts.getWeights()).toEqual(await whole.getWeights());
  });

  it('leaves the reference policy where it is until the policy has moved', async () => {
    const backend = create();
    const move = backend.updateReference.bind(backend);
    let [updates, moves]: [number, number[]] = [0, []];
    backend.updateReference = (update) => {
      moves = [...moves, updates];
      return move(update);
    };
    const options = { referenceUpdate: { method: 'ema', decay: 0, everyUpdates: 2 }, updates: 6 } as const;
    for await (const { iteration } of runPreferenceTraining({ backend, pairs }, options))
      updates = iteration + 1;
    expect(moves).toEqual([2, 4]);
  });

  it('takes pairs apart for losses over single sequences, and copes with a batch of one', async () => {
    const reports = await train({ loss: 'kto', pairsPerBatch: 3, epochs: 1 });
    expect(reports).toHaveLength(4);
    const [lonely] = reports.slice(-1);
    expect(lonely!.metrics['kl/mismatched']).toBe(0);
    expect('reward/margin' in lonely!.metrics).toBe(false);
  });

  it('measures the divergence that kto reads, also beside a loss that does not', async () => {
    const measured = async (loss: PreferenceOptions['loss']) =>
      'kl/mismatched' in (await train({ loss, epochs: 1 }))[0]!.metrics;
    expect(await measured(['apo-zero-unpaired', 'kto'])).toBe(true);
    expect(await measured('apo-zero-unpaired')).toBe(false);
  });

  it.each([
    [{ loss: 'dpo' }, { pairs }, /must be one of sigmoid, sigmoid-norm, hinge.*'sigmoid' is DPO/],
    [{ loss: { kind: 'hinge', labelSmoothing: 0.1 } }, { pairs }, /labelSmoothing/],
    [{ loss: ['kto', 'sigmoid'] }, { pairs }, /must not add losses over pairs/],
    [{ loss: [] }, { pairs }, /loss/],
    [{ epochs: 1, updates: 2 }, { pairs }, /must not be given together/],
    [{}, {}, /give either pairs or examples/],
    [{}, { examples: [] }, /compares pairs; give pairs, or take the loss 'kto'/],
    [{}, { pairs: [] }, /expected pairs with completions \(mask 1\), got none/],
    [
      {},
      { pairs: [pairs[0]!, { ...pairs[1]!, rejected: { tokens: [1, 2], mask: new Uint8Array(2) } }] },
      /got pairs\[1\] without a token of mask 1/,
    ],
  ])('refuses %j', async (options, data, message) => {
    await expect(train(options as never, create(), data as never)).rejects.toThrow(message);
  });

  it('asks for a reference policy only if the loss reads one', async () => {
    const backend = create();
    Object.defineProperty(backend, 'lacks', { value: ['reference'] });
    await expect(train({ updates: 1 }, backend)).rejects.toThrow("loss 'sigmoid' → reference");
    await expect(train({ loss: 'simpo', updates: 1 }, backend)).resolves.toHaveLength(1);
  });

  it('ends when the signal fires', async () => {
    const controller = new AbortController();
    let made = 0;
    const run = runPreferenceTraining({ backend: create(), pairs, signal: controller.signal }, { epochs: 9 });
    for await (const _ of run) if (++made === 2) controller.abort();
    expect(made).toBe(2);
  });
});

describe('judgedPair', () => {
  const marked: ChatRenderer = {
    render: (messages, { generationPrompt = 'add' } = {}) => [
      ...messages.flatMap(({ role, content }) => [
        ...(role === 'assistant' ? [6] : []),
        ...tokenizer.encode(content),
      ]),
      ...(generationPrompt === 'add' ? [6] : []),
    ],
  };
  it('judges the answers, and no turn of the prompt', () => {
    const messages = (answer: string) => [
      { role: 'user' as const, content: 'a' },
      { role: 'assistant' as const, content: 'b' },
      { role: 'user' as const, content: 'c' },
      { role: 'assistant' as const, content: answer },
    ];
    const prompt = messages('d').slice(0, 3);
    const chat = judgedPair({ prompt, chosen: 'd', rejected: 'e', margin: 2 }, { tokenizer, chat: marked });
    expect(chat.chosen.tokens).toEqual([0, 6, 1, 2, 6, 3]);
    expect([...chat.chosen.mask]).toEqual([0, 0, 0, 0, 0, 1]);
    expect(chat.margin).toBe(2);
    const said = (content: string) => [{ role: 'assistant' as const, content }];
    const spoken = judgedPair(
      { prompt, chosen: said('d'), rejected: said('e') },
      { tokenizer, chat: marked },
    );
    expect(spoken.rejected).toEqual(chat.rejected);
  });

  it.each([
    [{ prompt: 'a', chosen: 'b', rejected: 'b' }, 'are equal'],
    [
      { prompt: 'a', chosen: [], rejected: [{ role: 'assistant', content: 'b' }] },
      'an answer has no message',
    ],
  ])('refuses %j', (preference, message) => {
    expect(() => judgedPair(preference as never, { tokenizer, chat: marked })).toThrow(message);
  });
});
