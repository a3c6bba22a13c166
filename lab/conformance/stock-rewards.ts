import {
  afterThinking,
  answerPhrase,
  hashAnswer,
  hashSection,
  lastBoxed,
  lastNumber,
  mathNormalForm,
  normalFormsAgree,
  normalizedAnswer,
  readXmlFields,
  wordOverlap,
  xmlAnswer,
} from '@rlp/answers';
import { type Message, overlongPenalty, type RewardFunction, type Trajectory } from '@rlp/core';
import {
  checkAnswer,
  checkNumbers,
  cosineLength,
  lengthWindow,
  matchFormatApproximately,
  matchFormatExactly,
  ngramDiversity,
  reasoningSteps,
  repetitionPenalty,
  tagCount,
  tagLines,
  textLength,
  thinkFormat,
  xmlFormat,
} from '@rlp/rewards/stock';
import type { Adapter, AdapterTable, Fixture, FixtureCase } from './fixture.ts';

const { signal } = new AbortController();

interface Judged {
  readonly response?: string;
  readonly messages?: readonly Message[];
  readonly tokens?: readonly number[];
  readonly reference?: string;
}

interface Referenced {
  readonly reference: string;
}

const fromReference = { reference: ({ reference }: Referenced) => reference };

function judge(
  reward: RewardFunction<Referenced>,
  { response = '', messages = [], tokens = [], reference = '' }: Judged,
): unknown {
  const step = {
    promptTokens: [],
    tokens,
    behaviorLogprobs: tokens.map(() => 0),
    text: response,
    stopReason: 'stop' as const,
  };
  const trajectory: Trajectory<Referenced> = {
    id: '0',
    task: { id: '0', prompt: '', metadata: { reference } },
    steps: [step],
    messages,
    response,
    status: 'completed',
    policyVersion: 0,
  };
  return reward(trajectory, { signal });
}

/**
 * `math_answers.json` without the verdicts of PRM800K's grader, which are sympy's and advisory by the file's own word. Tests of
 * `mathAnswersAgree` and lab/notes/answers.md compare with them.
 */
export function withoutAdvisoryVerdicts(fixture: Fixture): Fixture {
  if (fixture.name !== 'math_answers') return fixture;
  const cases = fixture.cases.map((fixtureCase) => {
    if (typeof fixtureCase.expected !== 'object' || fixtureCase.expected === null) return fixtureCase;
    const { prm800k: _, ...expected } = fixtureCase.expected as { readonly prm800k?: boolean };
    return { ...fixtureCase, expected };
  });
  return { ...fixture, cases };
}

function equiv({ inputs: { given, gold } }: FixtureCase): unknown {
  return {
    hendrycks: normalFormsAgree(given, gold, 'hendrycks'),
    hendrycks_norm_given: mathNormalForm(given, 'hendrycks'),
    hendrycks_norm_gold: mathNormalForm(gold, 'hendrycks'),
    mathd_norm_given: mathNormalForm(given, 'mathd'),
    minerva_norm_given: mathNormalForm(given, 'minerva'),
    minerva_norm_gold: mathNormalForm(gold, 'minerva'),
  };
}

function boxed({ inputs: { completion, gold } }: FixtureCase): unknown {
  const found = lastBoxed(completion);
  const content = found?.command === 'boxed' ? found.content : null;
  const line = answerPhrase(Array.from(completion).slice(-300).join(''), 'line');
  const pred = line === undefined ? '[INVALID]' : mathNormalForm(line, 'minerva');
  const acc = pred === mathNormalForm(gold, 'minerva');
  return {
    last_boxed: found?.text ?? null,
    boxed_content: content,
    score: content !== null && normalFormsAgree(content, gold, 'hendrycks') ? 1 : 0,
    dapo_last_boxed: lastBoxed(completion, 'braced')?.text ?? null,
    dapo_minerva: { score: acc ? 1 : -1, acc, pred },
  };
}

function gsm8k({ inputs: { answer, completion } }: FixtureCase): unknown {
  const gold = hashAnswer(answer, 'first') ?? null;
  const first = hashAnswer(completion, 'first') ?? '[invalid]';
  const end = Array.from(completion as string)
    .slice(-300)
    .join('');
  const strict = hashAnswer(end) ?? null;
  const flexible = lastNumber(end, 'optional') ?? null;
  return {
    gold,
    extract_openai: first,
    correct_openai: first === gold,
    verl_strict: strict,
    verl_flexible: flexible,
    score_strict: strict !== null && strict === gold ? 1 : 0,
    score_flexible: flexible !== null && flexible === gold ? 1 : 0,
  };
}

function thinkParse({ inputs: { text } }: FixtureCase): unknown {
  return {
    parsed: afterThinking(text) ?? '',
    maybe_parsed: afterThinking(text) ?? afterThinking(`</think>${text}`),
    format_reward: judge(thinkFormat({ reading: 'verifiers', empty: 'passes' }), { response: text }),
  };
}

function boxedHash({ inputs: { text } }: FixtureCase): unknown {
  const braced = lastBoxed(text, 'braced')?.content;
  return { boxed: braced ?? text, boxed_strict: braced ?? '', hash: hashSection(text) ?? text };
}

const xmlParse: Adapter = ({ inputs: { text }, params: { fields } }) => ({
  fields: readXmlFields(text, fields),
  answer_from_text: readXmlFields(text, ['answer'], 'last').answer,
});

const xmlReward: Adapter = ({ inputs: { messages }, params: { fields } }) => ({
  reward: judge(xmlFormat({ fields, pairs: 'any' }), { messages }),
  answer: xmlAnswer(messages, 'answer'),
});

const overlong: Adapter = ({ inputs: { length }, params }) => {
  const options = { maximum: params.max_len, buffer: params.cache };
  return {
    soft_overlong: overlongPenalty(length, options),
    dapo_overlong: overlongPenalty(length, { ...options, penalty: params.dapo_factor, floor: 'none' }),
    textpolicy_length_penalty: overlongPenalty(length, {
      ...options,
      penalty: params.textpolicy_max_penalty,
    }),
  };
};

const repetition: Adapter = ({ inputs, params }) => ({
  reward: judge(repetitionPenalty({ size: params.ngram_size, penalty: params.max_penalty }), {
    tokens: inputs.completion_ids,
  }),
});

const cosine: Adapter = ({ inputs: { length, correct }, params }) => ({
  reward: cosineLength(length, correct ? 'right' : 'wrong', {
    maximum: params.max_len,
    correct: [params.min_value_correct, params.max_value_correct],
    wrong: [params.min_value_wrong, params.max_value_wrong],
  }),
});

const f1: Adapter = ({ inputs: { prediction, gold } }) => {
  const { f1: score, precision, recall } = wordOverlap(prediction, gold);
  return { scores: [score, precision, recall], normalized: normalizedAnswer(prediction) };
};

const units = { whitespace: 'words', words: 'alphanumeric', character: 'characters' } as const;

const rewardKitLength: Adapter = ({ inputs: { content }, params }) => ({
  score: judge(
    lengthWindow({
      target: params.target_length,
      minimum: params.min_length,
      maximum: params.max_length,
      scaling: params.scaling,
      rewards: params.reward_range,
      unit: units[(params.token_method ?? 'whitespace') as keyof typeof units],
    }),
    { response: content },
  ),
});

/** Its defaults: 0.5 to 1 for right answers, 0 to 0.3 for wrong ones; nothing for an empty response. */
const rewardKitCosine: Adapter = ({ inputs: { content, is_correct }, params }) => ({
  score:
    content === ''
      ? 0
      : cosineLength(textLength(content, 'words'), is_correct ? 'right' : 'wrong', {
          maximum: params.max_length,
          correct: [0.5, 1],
          wrong: [0, 0.3],
        }),
});

const countTokens: Adapter = ({ inputs: { text } }) =>
  Object.fromEntries(Object.entries(units).map(([name, unit]) => [name, textLength(text, unit)]));

const rewardKitRepetition: Adapter = ({ inputs: { content }, params }) => ({
  score:
    1 +
    Number(
      judge(repetitionPenalty({ size: params.ngram_size, penalty: -params.max_penalty, unit: 'words' }), {
        response: content,
      }),
    ),
});

const diversity: Adapter = ({ inputs: { content }, params }) => ({
  score: judge(ngramDiversity({ sizes: params.ngram_sizes, weights: params.weights }), { response: content }),
});

const rewardKitTags: Adapter = ({ inputs: { content }, params }) => ({
  score: judge(
    tagCount({
      tags: params.required_tags,
      rewardPerTag: params.score_per_tag,
      pairs: params.require_balanced ? 'balanced' : 'any',
    }),
    { response: content },
  ),
});

/** Its pattern begins at the start of the text, whether it is matched or searched for. */
const rewardKitFormat: Adapter = ({ inputs: { content: response } }) => ({
  score: judge(tagLines({ tags: ['think', 'answer'] }), { response }),
});

const steps: Adapter = ({ inputs: { content }, params }) => ({
  score: judge(reasoningSteps({ minimum: params.min_steps, maximum: params.max_steps }), {
    response: content,
  }),
});

const tunrex: Adapter = ({ inputs: { completion: response, gold: reference } }) => ({
  exactly: judge(matchFormatExactly(), { response }),
  approximately: judge(matchFormatApproximately(), { response }),
  check_answer: judge(checkAnswer(fromReference), { response, reference }),
  check_numbers: judge(checkNumbers(fromReference), { response, reference }),
});

export const stockRewards: AdapterTable = {
  math_answers: { equiv, boxed_score: boxed, boxed_edge: boxed },
  gsm8k_answers: { gsm8k },
  format_trl: {
    think_format: ({ inputs }) => ({
      reward: judge(thinkFormat({ empty: 'passes' }), { response: inputs.completion }),
    }),
  },
  format_verifiers: {
    xml_parse: xmlParse,
    xml_format_reward: xmlReward,
    think_parse: thinkParse,
    boxed_hash: boxedHash,
  },
  length_rewards: { overlong, repetition, cosine },
  f1_slime: { f1 },
  rewards_rewardkit: {
    length_reward: rewardKitLength,
    cosine_length_reward: rewardKitCosine,
    count_tokens: countTokens,
    repetition_penalty: rewardKitRepetition,
    diversity,
    tag_count: rewardKitTags,
    reasoning_steps: steps,
    format_reward: rewardKitFormat,
  },
  rewards_tunrex: { tunrex },
};
