import type { RewardComputer, RewardFunction, Trajectory } from '@rlp/core';
import { instructionFollowing } from '@rlp/rewards/instructions';
import { pairwiseJudge, pointwiseJudge, rankingJudge, rubricJudge } from '@rlp/rewards/judge';
import {
  answerF1,
  answerRougeL,
  type CodeTest,
  codeTests,
  exactAnswer,
  gsm8kAnswer,
  jsonFormat,
  mathAnswer,
  tagFormat,
  thinkFormat,
  toolCalls,
} from '@rlp/rewards/stock';
import {
  LanguageVerifier,
  LengthVerifier,
  RepetitionVerifier,
  SafetyPatternVerifier,
  type TextVerifier,
  ToxicityVerifier,
} from '@rlp/rewards/verification';
import { readBenchmark } from '@rlp/run/benchmarks';
import { createSandbox, javascriptRunner } from '@rlp/sandbox';
import { pythonRunner } from '@rlp/sandbox/python';
import * as answers from './answer-attacks.ts';
import type { Attack } from './attack.ts';
import { fifthJavascript, fifthPython, fifthPythonOutput } from './fifth-code.ts';
import * as fifth from './fifth-text.ts';
import { honestJavascript } from './honest-javascript.ts';
import { honestPython } from './honest-python.ts';
import { javascriptAttacks, squareTests as javascriptTests } from './javascript-attacks.ts';
import { judgeAttacks } from './judge-attacks.ts';
import { laterJavascript } from './later-javascript.ts';
import { laterPython } from './later-python.ts';
import { pythonAttacks, pythonOutputAttacks, squareTests } from './python-attacks.ts';
import { comparing, credulous, obedient } from './scripted-judges.ts';
import { seventhCompletions, seventhJavascript, seventhPython } from './seventh-code.ts';
import { seventhEchoes, seventhInjections, seventhRivals } from './seventh-judges.ts';
import { seventhSecond } from './seventh-second.ts';
import * as seventh from './seventh-text.ts';
import * as verified from './seventh-verified.ts';
import * as sixthAnswers from './sixth-answers.ts';
import { sixthJavascript } from './sixth-javascript.ts';
import { sixthPython, sixthPythonOutput } from './sixth-python.ts';
import { secondSet } from './sixth-second.ts';
import * as sixth from './sixth-text.ts';
import * as texts from './text-attacks.ts';
import { unseenJavascript } from './unseen-javascript.ts';
import { unseenPython } from './unseen-python.ts';

/** A stock grader and what is tried against it. */
export interface Case {
  readonly grader: string;
  readonly attacks: readonly Attack[];
  readonly reward: RewardFunction<unknown>;
}

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

const assertions = (sources: readonly string[]): CodeTest[] =>
  sources.map((source) => ({ kind: 'assertion', source }));
const outputs: CodeTest[] = [
  { kind: 'output', input: '2\n', output: '4' },
  { kind: 'output', input: '7\n', output: '49' },
];

function code(
  { python, javascript }: Runners,
  language: 'python' | 'javascript',
  tests: readonly CodeTest[],
  timeoutMs: number,
): RewardFunction<unknown> {
  return codeTests({
    runner: language === 'python' ? python : javascript,
    language,
    timeoutMs,
    concurrency: 1,
    tests: (own) => (Array.isArray(own) ? assertions(own) : tests),
  });
}

/** Every stock grader that is attacked. `timeoutMs` is that of one test of code. */
export function cases(runners: Runners, timeoutMs: number): Case[] {
  const fenced = (language: string, list: readonly Attack[]) =>
    list.map((attack) => ({ ...attack, response: `\`\`\`${language}\n${attack.response}\n\`\`\`` }));
  return [
    {
      grader: 'codeTests, Python assertions',
      attacks: fenced('python', [
        ...pythonAttacks,
        ...unseenPython,
        ...laterPython,
        ...fifthPython,
        ...sixthPython,
        ...secondSet.python,
        ...seventhPython,
        ...seventhSecond.python,
        ...honestPython,
      ]),
      reward: code(runners, 'python', assertions(squareTests), timeoutMs),
    },
    {
      grader: 'codeTests, Python output',
      attacks: fenced('python', [...pythonOutputAttacks, ...fifthPythonOutput, ...sixthPythonOutput]),
      reward: code(runners, 'python', outputs, timeoutMs),
    },
    {
      grader: 'codeTests, JavaScript assertions',
      attacks: fenced('javascript', [
        ...javascriptAttacks,
        ...unseenJavascript,
        ...laterJavascript,
        ...fifthJavascript,
        ...sixthJavascript,
        ...secondSet.javascript,
        ...seventhJavascript,
        ...seventhSecond.javascript,
        ...honestJavascript,
      ]),
      reward: code(runners, 'javascript', assertions(javascriptTests), timeoutMs),
    },
    { grader: 'HumanEval', attacks: seventhCompletions, reward: humaneval(runners) },
    ...answerCases(),
    ...callCases(),
    ...formatCases(),
    ...verifierCases(),
    ...judgeCases(),
  ];
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

/** The graders of answers. */
function answerCases(): Case[] {
  const reference = (metadata: unknown) => String(metadata);
  const numbers = [
    ...answers.numberAttacks,
    ...fifth.fifthNumbers,
    ...fifth.fifthHonest.numbers,
    ...sixthAnswers.sixthNumbers,
    ...secondSet.numbers,
  ];
  return [
    { grader: 'gsm8kAnswer', attacks: numbers, reward: gsm8kAnswer({ reference: () => '18' }) },
    { grader: 'mathAnswer', attacks: numbers, reward: mathAnswer({ reference: () => '18' }) },
    {
      grader: 'mathAnswer, expressions',
      attacks: [...answers.expressionAttacks, ...sixthAnswers.sixthExpressions],
      reward: mathAnswer({ reference }),
    },
    {
      grader: 'exactAnswer',
      attacks: [...answers.wordAttacks, ...fifth.fifthWords, ...sixthAnswers.sixthWords],
      reward: exactAnswer({ reference: () => 'Paris', extract: (response) => response }),
    },
    {
      grader: 'exactAnswer, `<answer>`',
      attacks: sixthAnswers.sixthExtracted,
      reward: exactAnswer({ reference: () => 'Paris' }),
    },
    {
      grader: 'answerF1',
      attacks: [
        ...answers.wordAttacks,
        ...answers.denialAttacks,
        ...fifth.fifthWords,
        ...sixthAnswers.sixthWords,
        ...sixthAnswers.sixthHonestWords,
        ...secondSet.words,
      ],
      // A share of the words may be right; half of the reward may not be had.
      reward: atLeastHalf(answerF1({ reference: () => 'Paris' })),
    },
    {
      grader: 'answerF1, other references',
      attacks: [...seventh.seventhOverlaps, ...seventhSecond.overlaps],
      reward: atLeastHalf(answerF1({ reference })),
    },
    {
      grader: 'answerRougeL',
      attacks: [...seventh.seventhOverlaps, ...seventhSecond.overlaps],
      reward: atLeastHalf(answerRougeL({ reference })),
    },
    {
      grader: 'mathAnswer, choices',
      attacks: seventh.seventhChoices,
      reward: mathAnswer({ reference: () => 'C' }),
    },
  ];
}

/** The graders of tool calls. */
function callCases(): Case[] {
  const expected = () => [{ name: 'book', arguments: { city: 'Bern', nights: 2 } }];
  return [
    {
      grader: 'toolCalls',
      attacks: [
        ...answers.toolAttacks,
        ...fifth.fifthTools,
        ...fifth.fifthHonest.tools,
        ...sixth.sixthTools,
        ...seventh.seventhTools,
        ...seventhSecond.tools,
      ],
      reward: toolCalls({ expected }),
    },
    {
      grader: 'toolCalls, none expected',
      attacks: seventh.seventhNoTools,
      reward: toolCalls({ expected: () => [] }),
    },
  ];
}

/** The graders of forms. */
function formatCases(): Case[] {
  const tags = ['reasoning', 'answer'];
  const instructions = (metadata: unknown) => metadata as { id: string; args: object }[];
  return [
    {
      grader: 'jsonFormat',
      attacks: [...seventh.seventhJson, ...seventhSecond.json],
      reward: jsonFormat({ schema: (metadata) => metadata as object }),
    },
    {
      grader: 'thinkFormat',
      attacks: [
        ...texts.thinkAttacks,
        ...fifth.fifthThoughts,
        ...fifth.fifthHonest.thoughts,
        ...sixth.sixthThoughts,
        ...secondSet.thoughts,
        ...seventh.seventhThoughts,
        ...seventhSecond.thoughts,
      ],
      reward: thinkFormat(),
    },
    {
      grader: 'tagFormat',
      attacks: [
        ...texts.tagAttacks,
        ...fifth.fifthTags,
        ...sixth.sixthTags,
        ...secondSet.tags,
        ...seventh.seventhTags,
        ...seventhSecond.tags,
      ],
      reward: tagFormat({ tags }),
    },
    {
      grader: 'instructionFollowing',
      attacks: [
        ...texts.instructionAttacks,
        ...fifth.fifthInstructions,
        ...fifth.fifthHonest.instructions,
        ...sixth.sixthInstructions,
        ...secondSet.instructions,
        ...seventh.seventhInstructions,
        ...seventhSecond.instructions,
      ],
      reward: instructionFollowing({ instructions: instructions as never }),
    },
  ];
}

/** The graders of whole texts. */
function verifierCases(): Case[] {
  return [
    {
      grader: 'ToxicityVerifier',
      attacks: [
        ...texts.toxicityAttacks,
        ...fifth.fifthInsults,
        ...sixth.sixthInsults,
        ...secondSet.insults,
        ...verified.seventhInsults,
        ...seventhSecond.insults,
      ],
      reward: verdict(new ToxicityVerifier()),
    },
    {
      grader: 'SafetyPatternVerifier',
      attacks: [
        ...texts.safetyAttacks,
        ...fifth.fifthSecrets,
        ...sixth.sixthSecrets,
        ...secondSet.secrets,
        ...verified.seventhSecrets,
        ...seventhSecond.secrets,
      ],
      reward: verdict(new SafetyPatternVerifier()),
    },
    {
      grader: 'LanguageVerifier',
      attacks: [...verified.seventhLanguages, ...seventhSecond.languages],
      reward: verdict(new LanguageVerifier({ languages: ['en'] })),
    },
    {
      grader: 'LengthVerifier',
      attacks: [...verified.seventhLengths, ...seventhSecond.lengths],
      reward: verdict(new LengthVerifier({ minLength: 10, maxLength: 50 })),
    },
    {
      grader: 'RepetitionVerifier',
      attacks: [...verified.seventhLoops, ...seventhSecond.loops],
      reward: verdict(new RepetitionVerifier()),
    },
  ];
}

/** The judges. */
function judgeCases(): Case[] {
  const injections = [
    ...judgeAttacks,
    ...fifth.fifthInjections,
    ...sixth.sixthInjections,
    ...secondSet.injections,
    ...seventhInjections,
    ...seventhSecond.injections,
  ];
  return [
    {
      grader: 'pointwiseJudge',
      attacks: injections,
      reward: pointwiseJudge({ generator: obedient, rubric: 'right and polite' }).reward,
    },
    {
      grader: 'rubricJudge',
      attacks: injections,
      reward: inGroup(
        rubricJudge({ generator: obedient, criteria: [{ name: 'score', description: 'is right' }] }),
      ),
    },
    {
      grader: 'pointwiseJudge, credulous',
      attacks: seventhEchoes,
      reward: pointwiseJudge({ generator: credulous, rubric: 'right and polite' }).reward,
    },
    {
      grader: 'pairwiseJudge',
      attacks: [...seventhRivals, ...seventhSecond.rivals],
      reward: inGroup(pairwiseJudge({ generator: comparing }), 'Paris is the capital of France.'),
    },
    {
      grader: 'rankingJudge',
      attacks: [...seventhRivals, ...seventhSecond.rivals],
      reward: inGroup(rankingJudge({ generator: comparing }), 'Paris is the capital of France.'),
    },
  ];
}

/** The reward of a response in a group with others: 1 from a half on, as a tie with an equal one gives. */
function inGroup(computer: RewardComputer<unknown>, ...others: readonly string[]): RewardFunction<unknown> {
  return async (trajectory) => {
    const siblings = others.map((response, k) => answering(response, undefined, `other/${k}`));
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

/** 1 for a text that is not failed, else 0. */
function verdict(verifier: TextVerifier): RewardFunction<unknown> {
  return async ({ response }) => {
    const [report] = await verifier.verifyBatch([{ prompt: '', response }]);
    return report!.result === 'fail' ? 0 : 1;
  };
}

const atLeastHalf =
  (reward: RewardFunction<unknown>): RewardFunction<unknown> =>
  async (trajectory, options) =>
    ((await reward(trajectory, options)) ?? 0) >= 0.5 ? 1 : 0;

/** An answer to a task. */
export function answering(response: string, metadata: unknown, id: string): Trajectory<unknown> {
  return {
    ...{ id, task: { id, prompt: 'What is right?', metadata }, steps: [], policyVersion: 0 },
    messages: [{ role: 'assistant', content: response }],
    ...{ response, status: 'completed' },
  };
}
