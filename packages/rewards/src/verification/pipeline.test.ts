import { OptionsError, type RewardFunction, type Verifier } from '@rlp/core';
import { describeVerifier } from '@rlp/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answering } from '../trajectories.fixture.ts';
import {
  applyVerifiersToReward,
  createCustomVerifierPipeline,
  createDefaultVerifierPipeline,
  LengthVerifier,
  RuleVerifier,
  scoreReport,
  VerificationPipeline,
  type VerifierConfig,
} from '../verification.ts';

const story =
  'Once upon a time there was a little dog who lived in a house near the park. Every day he went out to play with his friends, and they ran until the sun went down.';
const insult = 'You are a fucking idiot and everybody hates you, you stupid piece of shit!';

const fixed = (name: string, score: number): Verifier => ({
  name,
  verifyBatch: async (requests) => requests.map(() => scoreReport({ score, message: `${name} ${score}` })),
});

describeVerifier('the default pipeline', {
  create: () => createDefaultVerifierPipeline(),
  requests: [
    { prompt: 'Tell me a story.', response: story },
    { prompt: 'Tell me a story.', response: insult },
  ],
});

describe('createDefaultVerifierPipeline', () => {
  it('passes a story, fails an insult, an empty response, nonsense, a loop and a key', async () => {
    const words = story.split(' ');
    const shuffled = words.map((_, index) => words[(index * 17 + 5) % words.length]!).join(' ');
    const responses = [story, insult, '', shuffled, `${story} ${'and then he ran and he ran '.repeat(20)}`];
    const reports = await createDefaultVerifierPipeline().verifyBatch(
      [...responses, `${story} AKIAIOSFODNN7EXAMPLE`, '42'].map((response) => ({ prompt: '', response })),
    );
    expect(reports.map(({ result }) => result)).toEqual([
      'pass',
      'fail',
      'fail',
      'fail',
      'fail',
      'fail',
      'pass',
    ]);
    expect(reports.map(({ details }) => details.failed)).toEqual([
      [],
      ['toxicity'],
      expect.arrayContaining(['length', 'coherence']),
      ['coherence'],
      expect.arrayContaining(['repetition']),
      ['safety-pattern'],
      [],
    ]);
    expect(reports[0]!.score).toBeGreaterThanOrEqual(0.7);
  });
});

describe('createCustomVerifierPipeline', () => {
  it('builds every type from its record, and takes verifiers as they are', async () => {
    const configs: VerifierConfig[] = [
      { type: 'length', minLength: 20, maxLength: 200 },
      { type: 'toxicity' },
      { type: 'coherence' },
      { type: 'factual' },
      { type: 'format', schema: { type: 'object' } },
      { type: 'language', languages: ['en'] },
      { type: 'repetition' },
      { type: 'safety-pattern' },
      { type: 'has-greeting' },
      { type: 'no-empty-response' },
      { type: 'contains-keywords', keywords: ['dog'] },
    ];
    const pipeline = createCustomVerifierPipeline([...configs, fixed('mine', 1)]);
    expect([...pipeline.verifiers.keys()]).toEqual([...configs.map(({ type }) => type), 'mine']);
    const [report] = await pipeline.verifyBatch([{ prompt: '', response: story }]);
    expect(report!.details.failed).toEqual(['format', 'has-greeting']);
  });

  it('names everything that is wrong with every record', () => {
    const build = () =>
      createCustomVerifierPipeline([
        { type: 'length', minLength: 5, maxLength: 2 },
        { type: 'length', minLenght: 5 } as unknown as VerifierConfig,
        { type: 'constructor' } as unknown as VerifierConfig,
        { type: 'language' } as unknown as VerifierConfig,
        null as unknown as VerifierConfig,
      ]);
    expect(build).toThrow(OptionsError);
    expect(build).toThrow(
      /configs\.0: maxLength.*configs\.1: .*minLenght.*configs\.2: type.*configs\.3: languages.*configs\.4: expected/s,
    );
    expect(() => createCustomVerifierPipeline([])).toThrow(OptionsError);
  });
});

describe('VerificationPipeline', () => {
  const verify = async (options: ConstructorParameters<typeof VerificationPipeline>[0]) => {
    const [report] = await new VerificationPipeline(options).verifyBatch([{ prompt: '', response: 'x' }]);
    return report!;
  };

  it('is as good as its worst part, unless told otherwise', async () => {
    const verifiers = [fixed('a', 1), fixed('b', 0.6), fixed('c', 0.5)];
    expect(await verify({ verifiers })).toMatchObject({ result: 'warning', score: 0.5, message: 'b 0.6' });
    expect((await verify({ verifiers, aggregate: 'mean' })).score).toBeCloseTo(0.7, 12);
    expect((await verify({ verifiers, aggregate: 'product' })).score).toBeCloseTo(0.3, 12);
    expect(await verify({ verifiers: [fixed('a', 1), fixed('b', 0.2)] })).toMatchObject({
      result: 'fail',
      score: 0.2,
    });
  });

  it('scores within 0..1 whatever the order of the parts', async () => {
    const scores = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 });
    const aggregate = fc.constantFrom('minimum' as const, 'mean' as const, 'product' as const);
    await fc.assert(
      fc.asyncProperty(scores, aggregate, async (drawn, how) => {
        const parts = drawn.map((score, index) => fixed(`v${index}`, score));
        const forward = await verify({ verifiers: parts, aggregate: how });
        const backward = await verify({ verifiers: [...parts].reverse(), aggregate: how });
        expect(forward.score).toBeCloseTo(backward.score, 12);
        expect(forward.result).toBe(backward.result);
        expect(forward.score).toBeGreaterThanOrEqual(0);
        expect(forward.score).toBeLessThanOrEqual(1);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps apart parts of one name', async () => {
    const report = await verify({ verifiers: [fixed('a', 1), fixed('a', 0.1)] });
    expect(report.details.failed).toEqual(['a#2']);
  });

  it('shows later parts only what passed, if told to stop', async () => {
    const seen: string[] = [];
    const spy: Verifier = {
      name: 'spy',
      verifyBatch: async (requests) => {
        seen.push(...requests.map(({ response }) => response));
        return requests.map(() => scoreReport({ score: 1, message: '' }));
      },
    };
    const long = new LengthVerifier({ minLength: 2 });
    const pipeline = new VerificationPipeline({ verifiers: [long, spy], evaluation: 'stop-at-failure' });
    const reports = await pipeline.verifyBatch(
      ['one', 'one two'].map((response) => ({ prompt: '', response })),
    );
    expect(seen).toEqual(['one two']);
    expect(reports.map(({ details }) => Object.keys(details.verifiers))).toEqual([
      ['length'],
      ['length', 'spy'],
    ]);
  });

  it('fails all that a broken part was shown', async () => {
    const rejecting: Verifier = { name: 'net', verifyBatch: () => Promise.reject(new Error('down')) };
    const short: Verifier = { name: 'short', verifyBatch: async () => [] };
    expect(await verify({ verifiers: [rejecting] })).toMatchObject({ result: 'fail', message: 'net: down' });
    expect((await verify({ verifiers: [short] })).message).toMatch(/expected 1 reports, got 0/);
    const strange: Verifier = {
      name: 'strange',
      verifyBatch: async () => [{ result: 'pass', score: Number.NaN, details: {}, message: '' }],
    };
    expect(await verify({ verifiers: [strange] })).toMatchObject({ result: 'fail', score: 0 });
    const signal = AbortSignal.abort(new Error('enough'));
    const pipeline = new VerificationPipeline({ verifiers: [rejecting] });
    await expect(pipeline.verifyBatch([], { signal })).rejects.toThrow('enough');
  });

  it.each(['all', 'stop-at-failure'] as const)(
    'rejects if the signal fires while verifiers run that do not heed it (%s)',
    async (evaluation) => {
      const controller = new AbortController();
      const deaf: Verifier = {
        name: 'deaf',
        verifyBatch: async (requests) => {
          controller.abort(new Error('enough'));
          return requests.map(() => ({ result: 'pass', score: 1, details: {}, message: '' }));
        },
      };
      const pipeline = new VerificationPipeline({ verifiers: [deaf], evaluation });
      const verified = pipeline.verifyBatch([{ prompt: '', response: 'a' }], controller);
      await expect(verified).rejects.toThrow('enough');
    },
  );
});

describe('applyVerifiersToReward', () => {
  const prompt = [{ role: 'user', content: 'hi' }] as const;
  const trajectoryOf = (response: string) =>
    answering(response, undefined, { task: { id: 'a', prompt, metadata: undefined } });
  const context = { signal: new AbortController().signal };

  it('runs the reward only behind the gate', async () => {
    let calls = 0;
    const reward: RewardFunction = () => {
      calls += 1;
      return 1;
    };
    const two = new LengthVerifier({ minLength: 2, maxLength: 10, tolerance: 0.5 });
    const gated = applyVerifiersToReward(reward, [two], { penaltyOnFailure: -0.5 });
    expect(await gated(trajectoryOf(''), context)).toBe(-0.5);
    expect(calls).toBe(0);
    expect(await gated(trajectoryOf('one two'), context)).toBe(1);
    expect(await gated(trajectoryOf('one'), context)).toBe(1);
    expect(
      await applyVerifiersToReward(reward, [two], { failOn: 'warning' })(trajectoryOf('one'), context),
    ).toBe(0);
    expect(calls).toBe(2);
    const unscored = applyVerifiersToReward(reward, [two], { penaltyOnFailure: null });
    expect(await unscored(trajectoryOf(''), context)).toBeNull();
  });

  it('shows verifiers the prompt as text', async () => {
    let prompt = '';
    const spy: Verifier = {
      name: 'spy',
      verifyBatch: async (requests) => {
        prompt = requests[0]!.prompt;
        return requests.map(() => scoreReport({ score: 1, message: '' }));
      },
    };
    await applyVerifiersToReward(() => 1, [spy])(trajectoryOf('x'), context);
    expect(prompt).toBe('user: hi');
    expect(() => applyVerifiersToReward(() => 1, [])).toThrow(OptionsError);
    expect(new RuleVerifier('r', () => true).name).toBe('r');
  });
});
