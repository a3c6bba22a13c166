import type { Message, RewardComputer, RewardFunction, Trajectory } from '@rlp/core';
import { instructionFollowing } from '@rlp/rewards/instructions';
import { pairwiseJudge, pointwiseJudge, rankingJudge, rubricJudge } from '@rlp/rewards/judge';
import * as stock from '@rlp/rewards/stock';
import * as verification from '@rlp/rewards/verification';
import { readBenchmark } from '@rlp/run/benchmarks';
import { createSandbox, javascriptRunner } from '@rlp/sandbox';
import { pythonRunner } from '@rlp/sandbox/python';
import type { Task } from './attack.ts';
import { comparing, credulous, obedient } from './scripted-judges.ts';

/** What graders of code run in. Close it. */
export interface Runners extends AsyncDisposable {
  readonly python: ReturnType<typeof pythonRunner>;
  readonly javascript: ReturnType<typeof javascriptRunner>;
}

/** Opens the sandboxes. */
export function openRunners(): Runners {
  const python = pythonRunner({ memoryBytes: 128 * 1024 * 1024 });
  const sandbox = createSandbox();
  const close = async () => void (await Promise.all([python.close(), sandbox.close()]));
  return { python, javascript: javascriptRunner(sandbox), [Symbol.asyncDispose]: close };
}

/** A grader of one task. */
export type Grader = (task: Task) => RewardFunction<unknown>;

/** Every stock grader that is attacked, by name. `timeoutMs` is that of one test of code. */
export function graders(runners: Runners, timeoutMs: number): Readonly<Record<string, Grader>> {
  return {
    ...codeGraders(runners, timeoutMs),
    ...answerGraders,
    ...formatGraders,
    ...verifiers,
    ...judges,
  };
}

/** Tests of `f(n) = n * n`. */
const squares = {
  python: [
    'assert f(2) == 4\nassert f(3) == 9',
    'def check(candidate):\n    assert candidate(7) == 49\n    assert abs(candidate(0.5) - 0.25) < 1e-9\n    assert candidate(-3) in (9,)\ncheck(f)',
    'assert 16 in [f(4)] and 16 not in [f(5)]\nassert (f(4) == 16) is True',
    'import math\nassert math.isclose(f(1.5), 2.25) and [f(k) for k in range(3)] == [0, 1, 4] and not f(2) != 4',
  ],
  javascript: [
    'assert(f(2) === 4); assert(f(3) == 9)',
    'assert.equal(f(7), 49); assert.strictEqual(f(-3), 9); assert(Math.abs(f(0.5) - 0.25) < 1e-9)',
    'assert.deepEqual([0, 1, 2].map(f), [0, 1, 4]); assert.ok(f(5) > 24 && f(5) < 26)',
  ],
} as const;
const outputs: stock.CodeTest[] = [
  { kind: 'output', input: '2\n', output: '4' },
  { kind: 'output', input: '7\n', output: '49' },
];

function codeGraders(runners: Runners, timeoutMs: number): Readonly<Record<string, Grader>> {
  const grader =
    (language: 'python' | 'javascript', testsOf: (task: Task) => stock.CodeTest[]): Grader =>
    (task) => {
      const reward = stock.codeTests({
        ...{ runner: runners[language], language, timeoutMs, concurrency: 1 },
        tests: () => testsOf(task),
      });
      return (trajectory, options) => {
        const response = `\`\`\`${language}\n${trajectory.response}\n\`\`\``;
        const messages = [{ role: 'assistant' as const, content: response }];
        return reward({ ...trajectory, response, messages }, options);
      };
    };
  const asserting = (language: 'python' | 'javascript') =>
    grader(language, ({ tests = squares[language] }) =>
      tests.map((source) => ({ kind: 'assertion', source })),
    );
  return {
    'codeTests, Python assertions': asserting('python'),
    'codeTests, Python output': grader('python', () => outputs),
    'codeTests, JavaScript assertions': asserting('javascript'),
    HumanEval: () => humaneval(runners),
  };
}

/** The metric of HumanEval for one function. */
function humaneval({ python }: Runners): RewardFunction<unknown> {
  const row = {
    ...{
      task_id: 'HumanEval/0',
      prompt: 'def f(n):\n    """Returns n squared."""\n',
      canonical_solution: '',
    },
    ...{
      test: 'def check(candidate):\n    assert candidate(3) == 9\n    assert candidate(7) == 49\n',
      entry_point: 'f',
    },
  };
  const benchmark = readBenchmark([row], { runner: python });
  if (benchmark.kind !== 'answer') throw new Error('HumanEval asks for answers');
  return (trajectory, options) =>
    benchmark.metrics['pass@1']!({ ...trajectory, task: benchmark.tasks[0]! }, options);
}

const reference =
  (usual: string) =>
  ({ reference: own = usual }: Task) => ({ reference: () => own });
const [number, letter, word] = ['18', 'C', 'Paris'].map(reference) as [
  ReturnType<typeof reference>,
  ReturnType<typeof reference>,
  ReturnType<typeof reference>,
];
const whole = (response: string) => response;
const booking = [{ name: 'book', arguments: { city: 'Bern', nights: 2 } }];

const answerGraders: Readonly<Record<string, Grader>> = {
  gsm8kAnswer: (task) => stock.gsm8kAnswer(number(task)),
  mathAnswer: (task) => stock.mathAnswer(number(task)),
  'mathAnswer, expressions': (task) => stock.mathAnswer(number(task)),
  'mathAnswer, choices': (task) => stock.mathAnswer(letter(task)),
  numericMatch: (task) => stock.numericMatch({ ...number(task), extract: whole }),
  exactAnswer: (task) => stock.exactAnswer({ ...word(task), extract: whole }),
  'exactAnswer, `<answer>`': (task) => stock.exactAnswer(word(task)),
  answerExactMatch: (task) => stock.answerExactMatch(word(task)),
  fuzzyMatch: (task) => stock.fuzzyMatch({ ...word(task), extract: whole }),
  answerF1: (task) => stock.answerF1(word(task)),
  answerRougeL: (task) => stock.answerRougeL(word(task)),
  toolCalls: ({ expected = booking, options }) => stock.toolCalls({ ...options, expected: () => expected }),
};

const formatGraders: Readonly<Record<string, Grader>> = {
  jsonFormat: ({ schema }) => stock.jsonFormat({ schema }),
  thinkFormat: () => stock.thinkFormat(),
  tagFormat: ({ options }) => stock.tagFormat({ tags: ['reasoning', 'answer'], ...options }),
  reasoningSteps: () => stock.reasoningSteps(),
  ngramDiversity: () => stock.ngramDiversity(),
  repetitionPenalty: ({ options }) => {
    const penalty = stock.repetitionPenalty({ ...options, unit: 'words' } as never);
    return async (trajectory, given) => 1 + ((await penalty(trajectory, given)) ?? 0);
  },
  instructionFollowing: ({ instructions }) =>
    instructionFollowing({ instructions: () => instructions as never }),
};

/** 1 for a text that is not failed, else 0. */
const verdict =
  (verifier: verification.TextVerifier): RewardFunction<unknown> =>
  async ({ response }) => {
    const [report] = await verifier.verifyBatch([{ prompt: '', response }]);
    return report!.result === 'fail' ? 0 : 1;
  };

const verifiers: Readonly<Record<string, Grader>> = {
  ToxicityVerifier: () => verdict(new verification.ToxicityVerifier()),
  SafetyPatternVerifier: () => verdict(new verification.SafetyPatternVerifier()),
  LanguageVerifier: ({ options: { language = 'en' } = {} }) =>
    verdict(new verification.LanguageVerifier({ languages: [String(language)] })),
  LengthVerifier: ({ options }) =>
    verdict(new verification.LengthVerifier({ minLength: 10, maxLength: 50, ...options })),
  RepetitionVerifier: () => verdict(new verification.RepetitionVerifier()),
  FormatVerifier: ({ schema }) => verdict(new verification.FormatVerifier({ schema: schema as never })),
  FactualVerifier: () => verdict(new verification.FactualVerifier()),
  GreetingVerifier: () => verdict(new verification.GreetingVerifier()),
  NonEmptyVerifier: () => verdict(new verification.NonEmptyVerifier()),
  KeywordVerifier: ({ options }) => verdict(new verification.KeywordVerifier(options as never)),
};

const paris = 'Paris is the capital of France.';
const criteria = [{ name: 'score', description: 'is right' }];

const judges: Readonly<Record<string, Grader>> = {
  pointwiseJudge: () => pointwiseJudge({ generator: obedient, rubric: 'right and polite' }).reward,
  rubricJudge: () => inGroup(rubricJudge({ generator: obedient, criteria })),
  'pointwiseJudge, credulous': () =>
    pointwiseJudge({ generator: credulous, rubric: 'right and polite' }).reward,
  pairwiseJudge: () => inGroup(pairwiseJudge({ generator: comparing }), paris),
  rankingJudge: () => inGroup(rankingJudge({ generator: comparing }), paris),
};

/** The reward of a response in a group with others: 1 from a half on, as a tie with an equal one gives. */
function inGroup(computer: RewardComputer<unknown>, ...others: readonly string[]): RewardFunction<unknown> {
  return async (trajectory) => {
    const siblings = others.map((response, k) => answering(response, {}, `other/${k}`));
    const trajectories = [trajectory, ...siblings];
    const [scored] = await computer.computeRewards({
      id: trajectory.id,
      task: trajectory.task,
      trajectories,
    });
    const { reward } = scored!;
    return reward === null || others.length === 0 ? reward : Number(reward >= 0.5);
  };
}

/** An answer to a task. */
export function answering(
  response: string,
  { messages }: { readonly messages?: readonly Message[] },
  id: string,
): Trajectory<unknown> {
  return {
    ...{ id, task: { id, prompt: 'What is right?', metadata: {} }, steps: [], policyVersion: 0 },
    messages: messages ?? [{ role: 'assistant', content: response }],
    ...{ response, status: 'completed' },
  };
}
