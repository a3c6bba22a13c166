import {
  MissingPeerError,
  OptionsError,
  type VerificationReport,
  type VerificationRequest,
  verificationReportSchema,
} from '@rlp/core';
import { describeVerifier } from '@rlp/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  scoreReport,
  TextVerifier,
  type VerificationContext,
  VerificationPipeline,
  verdictOf,
} from '../verification.ts';

/** The example of S0: a score of one's own, and what follows from it. */
class CustomVerifier extends TextVerifier {
  readonly name = 'custom';

  override verify(prompt: string, response: string): VerificationReport {
    const score = Math.min(1, response.length / (prompt.length + 1));
    return {
      result: score > 0.7 ? 'pass' : 'fail',
      score,
      details: { customMetric: score },
      message: `Custom score: ${score.toFixed(3)}`,
    };
  }
}

/** Does with a response what the test says. */
class ScriptedVerifier extends TextVerifier {
  readonly name = 'scripted';
  readonly act: (
    response: string,
    context: VerificationContext,
  ) => VerificationReport | Promise<VerificationReport>;

  constructor(act: ScriptedVerifier['act'], limits: { timeoutMs?: number; concurrency?: number } = {}) {
    super(limits);
    this.act = act;
  }

  override verify(_prompt: string, response: string, context: VerificationContext) {
    return this.act(response, context);
  }
}

const unreadable = {
  get result(): string {
    throw new Error('no');
  },
};
const fine = scoreReport({ score: 1, message: 'fine' });

describeVerifier('a verifier of one’s own', {
  create: () => new CustomVerifier(),
  requests: [
    { prompt: 'Hi', response: 'Hello there' },
    { prompt: 'Write a long text', response: 'no' },
  ],
});

describe('TextVerifier', () => {
  it('reports what the overridden method says', async () => {
    const [report] = await new CustomVerifier().verifyBatch([{ prompt: 'abc', response: 'abcd' }]);
    expect(report).toEqual({
      result: 'pass',
      score: 1,
      details: { customMetric: 1 },
      message: 'Custom score: 1.000',
    });
  });

  it.each([
    ['no request', undefined, 'expected { prompt, response }, got undefined'],
    ['null', null, 'expected { prompt, response }, got null'],
    ['a missing response', { prompt: 'x' }, 'expected the response to be text, got undefined'],
    ['a number', { prompt: 'x', response: 7 }, 'expected the response to be text, got 7'],
    ['an array', { prompt: 'x', response: ['a'] }, 'expected the response to be text, got a list'],
  ])('fails %s instead of throwing', async (_, request, problem) => {
    const verifier = new ScriptedVerifier(() => fine);
    const [report] = await verifier.verifyBatch([request as unknown as VerificationRequest]);
    expect(report).toMatchObject({ result: 'fail', score: 0, details: { problem } });
    expect(verifier.getStatistics()).toMatchObject({ verified: 1, fail: 1, malformed: 1, broken: 0 });
  });

  it('fails a request whose fields cannot be read', async () => {
    const hostile = {
      get response(): string {
        throw new Error('no');
      },
    };
    const [report] = await new CustomVerifier().verifyBatch([hostile as unknown as VerificationRequest]);
    expect(report?.result).toBe('fail');
  });

  it('reads a missing prompt as empty and says so', async () => {
    const seen: string[] = [];
    const verifier = new ScriptedVerifier((response) => {
      seen.push(response);
      return fine;
    });
    const [report] = await verifier.verifyBatch([{ response: 'x' } as unknown as VerificationRequest]);
    expect(report?.result).toBe('pass');
    expect(report?.details.promptProblem).toMatch(/expected the prompt to be text, got undefined/);
    expect(seen).toEqual(['x']);
  });

  it('reads lone surrogates as U+FFFD and counts them', async () => {
    const seen: string[] = [];
    const verifier = new ScriptedVerifier((response) => {
      seen.push(response);
      return fine;
    });
    const [report, whole] = await verifier.verifyBatch([
      { prompt: '', response: 'a\uD83Db\uDE00' },
      { prompt: '', response: '😀' },
    ]);
    expect(seen).toEqual(['a\uFFFDb\uFFFD', '😀']);
    expect(report?.details).toEqual({ loneSurrogates: 2 });
    expect(whole?.details).toEqual({});
  });

  const broken: [string, () => unknown, RegExp][] = [
    [
      'throws',
      () => {
        throw new Error('no net');
      },
      /no net/,
    ],
    ['rejects', () => Promise.reject(new Error('no net')), /no net/],
    ['never answers', () => new Promise(() => {}), /took longer than 20 ms/],
    ['gives NaN', () => ({ ...fine, score: Number.NaN }), /no valid report/],
    ['gives 2', () => ({ ...fine, score: 2 }), /no valid report/],
    ['gives nothing', () => undefined, /no valid report/],
    ['gives what cannot be read', () => Promise.resolve(unreadable), /no/],
    [
      'throws what cannot be printed',
      () => {
        throw Object.create(null);
      },
      /cannot be read/,
    ],
  ];
  it('rejects without a package that it needs, also in a pipeline: no response is to blame', async () => {
    const act = (): never => {
      throw new MissingPeerError('ToxicityVerifier needs the package obscenity: npm install obscenity');
    };
    for (const wait of ['sync', 'async'] as const) {
      const verifier = new ScriptedVerifier(() => (wait === 'sync' ? act() : Promise.resolve().then(act)));
      const requests = ['a', 'b'].map((response) => ({ prompt: '', response }));
      await expect(verifier.verifyBatch(requests)).rejects.toThrow(MissingPeerError);
      const pipeline = new VerificationPipeline({ verifiers: [verifier] });
      await expect(pipeline.verifyBatch(requests)).rejects.toThrow('npm install obscenity');
      expect(verifier.getStatistics()).toMatchObject({ verified: 0, broken: 0 });
    }
  });

  it.each(broken)('fails what a verifier judges that %s, counts it and goes on', async (_, act, message) => {
    const verifier = new ScriptedVerifier(
      (response) => (response === 'bad' ? (act() as VerificationReport) : fine),
      { timeoutMs: 20 },
    );
    const reports = await verifier.verifyBatch(
      ['good', 'bad', 'good'].map((response) => ({ prompt: '', response })),
    );
    expect(reports.map(({ result }) => result)).toEqual(['pass', 'fail', 'pass']);
    expect(reports[1]!.message).toMatch(message);
    expect(verifier.getStatistics()).toMatchObject({ verified: 3, pass: 2, fail: 1, broken: 1 });
    expect(verifier.getStatistics().lastFailure).toMatch(message);
  });

  it('tells a verifier that hangs to stop', async () => {
    let told: unknown;
    const verifier = new ScriptedVerifier(
      (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            told = signal.reason;
          });
        }),
      { timeoutMs: 10 },
    );
    await verifier.verifyBatch([{ prompt: '', response: 'x' }]);
    expect(told).toBeInstanceOf(Error);
  });

  it("rejects with the signal's reason, before and in the middle", async () => {
    const verifier = new ScriptedVerifier(() => new Promise(() => {}));
    const requests = [{ prompt: '', response: 'x' }];
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(verifier.verifyBatch(requests, { signal: aborted })).rejects.toThrow('enough');
    const controller = new AbortController();
    const running = verifier.verifyBatch(requests, { signal: controller.signal });
    controller.abort(new Error('later'));
    await expect(running).rejects.toThrow('later');
    expect(verifier.getStatistics()).toMatchObject({ verified: 0, broken: 0 });
  });

  it('keeps no more than `concurrency` in flight, in order all the same', async () => {
    let [inFlight, most] = [0, 0];
    const verifier = new ScriptedVerifier(
      async (response) => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setTimeout(resolve, Number(response) % 3));
        inFlight -= 1;
        return scoreReport({ score: 1, message: response });
      },
      { concurrency: 4 },
    );
    const responses = Array.from({ length: 20 }, (_, index) => String(index));
    const reports = await verifier.verifyBatch(responses.map((response) => ({ prompt: '', response })));
    expect(reports.map(({ message }) => message)).toEqual(responses);
    expect(most).toBe(4);
  });

  it('names every wrong limit', () => {
    expect(() => new ScriptedVerifier(() => fine, { timeoutMs: 0, concurrency: 0 })).toThrow(OptionsError);
  });
});

describe('scoreReport', () => {
  it('gives the verdict the score stands for', () => {
    expect([1, 0.7, 0.69, 0.5, 0.49, 0].map((score) => verdictOf(score))).toEqual([
      'pass',
      'pass',
      'warning',
      'warning',
      'fail',
      'fail',
    ]);
  });

  it('is a valid report for any number', () => {
    fc.assert(
      fc.property(fc.double(), (score) => {
        const report = scoreReport({ score, message: '' });
        expect(verificationReportSchema.parse(report)).toEqual(report);
        expect(report.result).toBe(verdictOf(report.score));
      }),
    );
  });
});
