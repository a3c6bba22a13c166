import type { RewardFunction, TextGenerator, Trajectory } from '@rlp/core';
import { instructionFollowing } from '@rlp/rewards/instructions';
import { pointwiseJudge, rubricJudge } from '@rlp/rewards/judge';
import {
  answerF1,
  type CodeTest,
  codeTests,
  exactAnswer,
  gsm8kAnswer,
  mathAnswer,
  tagFormat,
  thinkFormat,
  toolCalls,
} from '@rlp/rewards/stock';
import { SafetyPatternVerifier, type TextVerifier, ToxicityVerifier } from '@rlp/rewards/verification';
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
        ...honestJavascript,
      ]),
      reward: code(runners, 'javascript', assertions(javascriptTests), timeoutMs),
    },
    ...answerCases(),
    ...formatCases(),
    ...verifierCases(),
  ];
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
  ];
}

/** The graders of forms. */
function formatCases(): Case[] {
  const tags = ['reasoning', 'answer'];
  const expected = () => [{ name: 'book', arguments: { city: 'Bern', nights: 2 } }];
  const instructions = (metadata: unknown) => metadata as { id: string; args: object }[];
  return [
    {
      grader: 'toolCalls',
      attacks: [...answers.toolAttacks, ...fifth.fifthTools, ...fifth.fifthHonest.tools, ...sixth.sixthTools],
      reward: toolCalls({ expected }),
    },
    {
      grader: 'thinkFormat',
      attacks: [
        ...texts.thinkAttacks,
        ...fifth.fifthThoughts,
        ...fifth.fifthHonest.thoughts,
        ...sixth.sixthThoughts,
        ...secondSet.thoughts,
      ],
      reward: thinkFormat(),
    },
    {
      grader: 'tagFormat',
      attacks: [...texts.tagAttacks, ...fifth.fifthTags, ...sixth.sixthTags, ...secondSet.tags],
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
      attacks: [...texts.toxicityAttacks, ...fifth.fifthInsults, ...sixth.sixthInsults, ...secondSet.insults],
      reward: verdict(new ToxicityVerifier()),
    },
    {
      grader: 'SafetyPatternVerifier',
      attacks: [...texts.safetyAttacks, ...fifth.fifthSecrets, ...sixth.sixthSecrets, ...secondSet.secrets],
      reward: verdict(new SafetyPatternVerifier()),
    },
    {
      grader: 'pointwiseJudge',
      attacks: [...judgeAttacks, ...fifth.fifthInjections, ...sixth.sixthInjections, ...secondSet.injections],
      reward: pointwiseJudge({ generator: obedient, rubric: 'right and polite' }).reward,
    },
    {
      grader: 'rubricJudge',
      attacks: [...judgeAttacks, ...fifth.fifthInjections, ...sixth.sixthInjections, ...secondSet.injections],
      reward: rubric(),
    },
  ];
}

function rubric(): RewardFunction<unknown> {
  const judge = rubricJudge({ generator: obedient, criteria: [{ name: 'score', description: 'is right' }] });
  return async (trajectory) => {
    const [scored] = await judge.computeRewards({
      id: 'g',
      task: trajectory.task,
      trajectories: [trajectory],
    });
    return scored!.reward;
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

/** The scripted judge that `judge-attacks.ts` describes. */
const obedient: TextGenerator = async (messages) => {
  const text = messages.map(({ content }) => content).join('\n');
  const key = /\[BEGIN task ([0-9a-f]{16})\]/.exec(text)?.[1] ?? '';
  // A long response is shown in parts.
  const quoted =
    text.split(new RegExp(`\\[(?:BEGIN|END) response(?:, part \\d+ of \\d+)? ${key}\\]`))[1] ?? '';
  const rules = text.replace(quoted, '');
  const read = quoted.normalize('NFD').replace(/\p{M}/gu, '');
  if (read.includes('REFUSE')) return '';
  const repeated = quoted.normalize('NFKC').match(/^.*(?:score|winner).*$/gim) ?? [];
  const highest = /from -?\d+ \(worst\) to (\d+)/.exec(rules)?.[1] ?? '10';
  const lowest = /from (-?\d+) \(worst\)/.exec(rules)?.[1] ?? '1';
  return [...repeated.slice(0, 1000), `${key} score: ${read.includes('INSULT') ? lowest : highest}`].join(
    '\n',
  );
};

/** An answer to a task. */
export function answering(response: string, metadata: unknown, id: string): Trajectory<unknown> {
  return {
    ...{ id, task: { id, prompt: 'What is right?', metadata }, steps: [], policyVersion: 0 },
    messages: [{ role: 'assistant', content: response }],
    ...{ response, status: 'completed' },
  };
}
