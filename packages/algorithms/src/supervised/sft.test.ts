import { TabularBackend } from '@rlp/backprop/tabular';
import { type ChatRenderer, type Message, OptionsError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { letterTokenizer as tokenizer } from '../loop/bandit.fixture.ts';
import { demonstrationSequences } from '../sequence/demonstration.ts';
import { runSftTraining, type SftReport, type SftState } from './sft.ts';
import type { SftOptions } from './sft-options.ts';

const alphabet = ['ab', 'bc', 'cd', 'de', 'ef', 'fg'].flatMap(([prompt, completion]) =>
  demonstrationSequences({ prompt: prompt!, completion: completion! }, { tokenizer }),
);
const create = () => new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate: 0.3 });

async function train(
  backend: TabularBackend,
  options: SftOptions & { readonly resume?: SftState },
): Promise<SftReport[]> {
  const reports: SftReport[] = [];
  for await (const report of runSftTraining({ backend, sequences: alphabet }, options)) reports.push(report);
  return reports;
}

describe('runSftTraining', () => {
  it.each([['text'], [null], [{}], [{ tokens: 'abc' }], [{ tokens: [1, 2] }]])(
    'names the sequence that is none: %j',
    async (wrong) => {
      const sequences = [alphabet[0]!, wrong] as typeof alphabet;
      const refused = runSftTraining({ backend: create(), sequences }).next();
      await expect(refused).rejects.toThrow(
        /sequences\.?\[?1\]?: must be a sequence.*demonstrationSequences/,
      );
    },
  );

  it('learns the demonstrations, and nothing of their prompts', async () => {
    const backend = create();
    const reports = await train(backend, { epochs: 40 });
    expect(reports[0]!.metrics['loss/sft']).toBeCloseTo(Math.log(8), 6);
    // It sees one token: b to f are followed by a letter or an end, equally often, so 10 of 12 tokens keep ln 2.
    expect(reports.at(-1)!.metrics['loss/sft']).toBeCloseTo((10 / 12) * Math.log(2), 2);
    expect(reports[0]!.metrics).toMatchObject({ 'tokens/trained': 12, 'tokens/computed': 18 });
  });

  it.each([
    [{ sequencesPerBatch: 4, epochs: 2 }, [4 / 6, 1, 10 / 6, 2]],
    [{ tokensPerBatch: 7, epochs: 1 }, [2 / 6, 4 / 6, 1]],
    [{ tokensPerBatch: 6, epochs: 1 }, [2 / 6, 4 / 6, 1]],
    [{ tokensPerBatch: 5, epochs: 0.5 }, [1 / 6, 2 / 6, 3 / 6]],
    [{ tokensPerBatch: 1, updates: 2 }, [1 / 6, 2 / 6]],
    [{ sequencesPerBatch: 2, epochs: 0.5 }, [2 / 6, 4 / 6]],
  ])('cuts batches and ends as told: %j', async (options, epochs) => {
    const reports = await train(create(), options);
    expect(reports.map(({ epoch }) => epoch)).toEqual(epochs.map((epoch) => expect.closeTo(epoch)));
  });

  it.each([
    [0.3, []],
    [
      1e6,
      [
        expect.stringMatching(
          /^\d the loss rose from 2\.08 to .*; go back to an earlier checkpoint and lower/,
        ),
      ],
    ],
  ])('says that updates are too large: learning rate %d', async (learningRate, expected) => {
    const notes: string[] = [];
    const note = (step: number, text: string) => void notes.push(`${step} ${text}`);
    const logger = { log: () => undefined, note, close: async () => undefined };
    const backend = new TabularBackend({ vocabularySize: 8, contextTokens: 1, learningRate });
    for await (const _ of runSftTraining(
      { backend, sequences: alphabet, logger },
      { epochs: 8, sequencesPerBatch: 1 },
    ));
    expect(notes).toEqual(expected);
  });

  it('weights each token by its probability with dft', async () => {
    const [plain] = await train(create(), { updates: 1 });
    const [weighted] = await train(create(), { updates: 1, loss: 'dft' });
    // All tokens have probability 1/8 at first.
    expect(weighted!.metrics['loss/sft']).toBeCloseTo(Math.log(8) / 8, 6);
    expect(weighted!.metrics['gradient/norm']).toBeCloseTo(plain!.metrics['gradient/norm']! / 8, 6);
  });

  it('continues where it was, batch for batch', async () => {
    const whole = create();
    const reports = await train(whole, { sequencesPerBatch: 4, updates: 7 });
    const parts = create();
    const first = await train(parts, { sequencesPerBatch: 4, updates: 3 });
    const rest = await train(parts, { sequencesPerBatch: 4, updates: 7, resume: first.at(-1)!.state });
    expect([...first, ...rest]).toEqual(reports);
    expect(await parts.getWeights()).toEqual(await whole.getWeights());
  });

  it('measures its updates, and notes one that was left out', async () => {
    const backend = create();
    const step = backend.optimStep.bind(backend);
    let updates = 0;
    backend.optimStep = () => {
      updates += 1;
      const skipped = updates === 2 ? ('overflow' as const) : undefined;
      return Object.assign(
        Promise.resolve(step()).then((made) => ({ ...made, skipped })),
        { settled: false },
      );
    };
    let ticks = 0;
    const notes: string[] = [];
    const logger = {
      log: () => undefined,
      note: (step: number, text: string) => void notes.push(`${step} ${text}`),
      close: async () => undefined,
    };
    const reports: SftReport[] = [];
    const run = runSftTraining(
      { backend, sequences: alphabet, logger, clock: () => 5 * ++ticks },
      { sequencesPerBatch: 3, epochs: 1 },
    );
    for await (const report of run) reports.push(report);
    const [first, second] = reports.map(({ metrics }) => metrics);
    expect(first).toMatchObject({ 'time/learn': 5, 'gradient/norm': expect.any(Number) });
    expect(second).toMatchObject({ 'time/learn': 5, 'update/overflowed': 1 });
    expect(second).not.toHaveProperty('gradient/norm');
    expect(notes).toContainEqual(expect.stringMatching(/^1 .*overflowed float16/));
  });

  it('refuses dependencies that are missing or not known, all in one error', async () => {
    const misspelt = { backnd: create(), sequences: alphabet, clock: 7 } as never;
    const refused = runSftTraining(misspelt).next();
    await expect(refused).rejects.toThrow(OptionsError);
    await expect(refused).rejects.toThrow(
      /backend: [\s\S]*clock: must be a function[\s\S]*did you mean backend\?/,
    );
  });

  it('ends when the signal fires, and refuses an empty dataset', async () => {
    const controller = new AbortController();
    let made = 0;
    const run = runSftTraining(
      { backend: create(), sequences: alphabet, signal: controller.signal },
      { epochs: 9 },
    );
    for await (const _ of run) if (++made === 2) controller.abort();
    expect(made).toBe(2);
    const silent = alphabet.map((sequence) => ({ ...sequence, mask: new Uint8Array(sequence.mask.length) }));
    for (const sequences of [[], silent]) {
      await expect(runSftTraining({ backend: create(), sequences }).next()).rejects.toThrow(
        `with a token to imitate (mask 1), got none in ${sequences.length}`,
      );
    }
  });
});

describe('demonstrationSequences', () => {
  const letters = (content: string) => tokenizer.encode(content);
  /** `g` opens a turn of the assistant; nothing else is marked. */
  const chat: ChatRenderer = {
    render: (messages, { generationPrompt = 'add' } = {}) => [
      ...messages.flatMap(({ role, content }) => [...(role === 'assistant' ? [6] : []), ...letters(content)]),
      ...(generationPrompt === 'add' ? [6] : []),
    ],
  };
  const messages: Message[] = [
    { role: 'user', content: 'ab' },
    { role: 'assistant', content: 'c' },
    { role: 'user', content: 'd' },
    { role: 'assistant', content: 'ef' },
  ];

  it('trains the completion and an end token', () => {
    const [sequence] = demonstrationSequences({ prompt: 'ab', completion: 'c' }, { tokenizer });
    expect(sequence).toMatchObject({ tokens: [0, 1, 2, 7], mask: Uint8Array.of(0, 0, 1, 1) });
    const bare = demonstrationSequences({ prompt: 'ab', completion: 'c' }, { tokenizer, endToken: 'none' });
    expect(bare[0]!.tokens).toEqual([0, 1, 2]);
  });

  it("trains every turn of the assistant's in one sequence where the template only extends", () => {
    const sequences = demonstrationSequences({ messages }, { tokenizer, chat });
    expect(sequences).toHaveLength(1);
    expect(sequences[0]).toMatchObject({
      tokens: [0, 1, 6, 2, 3, 6, 4, 5],
      mask: Uint8Array.of(0, 0, 0, 1, 0, 0, 1, 1),
    });
  });

  it('splits where the template rewrites history', () => {
    const forgetful: ChatRenderer = {
      render: (all, options) =>
        chat.render(
          all.filter(({ role }, at) => role === 'user' || at === all.length - 1),
          options,
        ),
    };
    const sequences = demonstrationSequences({ messages }, { tokenizer, chat: forgetful });
    expect(sequences).toHaveLength(2);
  });

  it.each([
    [{ messages }, { tokenizer }, 'needs a chat renderer'],
    [{ messages: messages.slice(0, 1) }, { tokenizer, chat }, 'no assistant turn'],
    [{ prompt: 'a', completion: '' }, { tokenizer, endToken: 'none' as const }, 'the completion is empty'],
    [{ prompt: 'a', completion: 'b' }, { tokenizer, maxLength: 5 }, 'pass it to runSftTraining'],
    [{ prompt: 'a', answer: 'b' } as never, { tokenizer }, 'messages; got an object with prompt,answer'],
  ])('refuses %j', (demonstration, encoding, message) => {
    expect(() => demonstrationSequences(demonstration, encoding)).toThrow(message);
  });
});
