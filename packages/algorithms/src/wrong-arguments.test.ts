import { RandomStream } from '@rlp/core';
import { Tape } from '@rlp/tensor';
import { expect, it } from 'vitest';
import { call, expectRefusal, functions, overTensors, tensors } from './wrong-arguments.fixture.ts';

const one = [[1]];
const gigpo = { groups: ['g'], trajectories: [0], anchors: [0], stepRewards: [0], episodeScores: [1] };
const baseline = { rewards: one, masks: one, groups: [0], logprobs: one, squaredProbabilitySums: one };
const covariance = { logprobs: one, advantages: one, masks: one };
const random = RandomStream.named('wrong arguments');
/** Arguments of a function over the tensors of a ratio, with one number that is wrong. */
const ratio = (options: object) => {
  const [tape, inputs] = tensors(['advantages', 'logprobs', 'proximalLogprobs', 'mask']);
  return [tape, inputs, { clipLow: 0.2, clipHigh: 0.2, ...options }];
};
const notNumber = 'must be a finite number (at most 1e100 in size)';
const listNeeded = 'must be a list of numbers, got 7; a single list of numbers goes into another list';
/** Inputs of {@link call} of which one is wrong, and the rest of the message. */
const wrongCalls: readonly (readonly [name: string, args: readonly unknown[], message: string])[] = [
  // Tensors by position.
  ['logSoftmax', [{}, 1], 'ops must be operations'],
  ['logSoftmax', [new Tape()], 'logits must be given, got undefined'],
  ['chosenLogprobs', [{}, 1, 1], 'ops must be operations'],
  ['chosenLogprobs', [new Tape(), undefined, 1], 'logits must be given'],
  ['chosenLogprobs', [new Tape(), 1], 'oneHot must be given'],
  ['entropyOf', [{}, 1], 'ops must be operations'],
  ['entropyOf', [new Tape()], 'logits must be given'],
  ['fullKl', [{}, 1, 1], 'ops must be operations'],
  ['fullKl', [new Tape(), undefined, 1], 'logits must be given'],
  ['fullKl', [new Tape(), 1], 'otherLogits must be given'],
  ['collisionProbability', [{}, 1], 'ops must be operations'],
  ['collisionProbability', [new Tape()], 'logits must be given'],
  ['acceptanceMask', [{}, {}, []], 'ops must be operations'],
  ['acceptanceMask', [new Tape(), {}, 7], 'criteria must be a list of objects, got 7'],
  ['acceptanceMask', [new Tape(), {}, []], 'proximalLogprobs must be given'],
  ['acceptanceMask', [new Tape(), { proximalLogprobs: 1 }, []], 'behaviorLogprobs must be given'],
  ['acceptanceMask', [new Tape(), { proximalLogprobs: 1, behaviorLogprobs: 1 }, []], 'mask must be given'],
  ...[
    [{ statistic: 'k4', over: 'token' }, 'statistic must be one of k1, k2, k3, tv, got "k4"'],
    [
      { statistic: 'tv', over: 'tokens' },
      'over must be one of token, sequence-sum, sequence-mean, every-token, got "tokens"; did you mean \'token\'?',
    ],
    [{ statistic: 'k1', over: 'token', low: '1' }, 'low must be a number, got "1"'],
    [{ statistic: 'k2', over: 'token', high: '1' }, 'high must be a number, got "1"'],
  ].map(
    ([criterion, message]) =>
      [
        'acceptanceMask',
        [new Tape(), { proximalLogprobs: 1, behaviorLogprobs: 1, mask: 1 }, [criterion]],
        `criteria[0]: ${message as string}`,
      ] as const,
  ),
  ['geometricMeanRatio', ratio({ countFloor: 7 }), 'countFloor: expected an object with plus, got 7'],
  ['geometricMeanRatio', ratio({ countFloor: {} }), 'countFloor: plus must be a number, got undefined'],
  ['importanceRatio', ratio({ countFloor: {} }), 'countFloor: plus must be a number, got undefined'],
  ['gammaWeights', ratio({ positive: 7, negative: {} }), 'positive must be an object, got 7'],
  ['gammaWeights', ratio({ positive: {}, negative: 7 }), 'negative must be an object, got 7'],
  ['gammaWeights', ratio({ positive: { rate: 1 }, negative: {} }), 'positive: power must be a number'],
  ['gammaWeights', ratio({ positive: { power: 1 }, negative: {} }), 'positive: rate must be a number'],
  [
    'gammaWeights',
    ratio({ positive: { power: 1, rate: 1 }, negative: { rate: 1 } }),
    'negative: power must be a number',
  ],
  [
    'gammaWeights',
    ratio({ positive: { power: 1, rate: 1 }, negative: { power: 1 } }),
    'negative: rate must be a number',
  ],
  [
    'valueLoss',
    [...tensors(['values', 'returns']), { clip: 0.2 }],
    'clip needs oldValues, the values before the update; pass them, or leave clip out',
  ],
  ['rewardModelLoss', [{}, {}, 0], 'ops must be operations'],
  ['rewardModelLoss', [new Tape(), {}], 'centering must be a number, got undefined'],
  ['rewardModelLoss', [new Tape(), {}, 0], 'chosen must be given'],
  ['rewardModelLoss', [new Tape(), { chosen: 1 }, 0], 'rejected must be given'],
  ['rewardModelLoss', [new Tape(), { chosen: 1, rejected: 1 }, 0], 'margin must be given'],
  ['pairLoss', [{}, {}, {}], 'ops must be operations'],
  ['pairLoss', [new Tape(), 7, {}], 'inputs must be an object, got 7'],
  ['pairLoss', [new Tape(), {}, { kind: 'dpo' }], 'invalid options'],
  ['singleLoss', [{}, {}, {}], 'ops must be operations'],
  ['singleLoss', [new Tape(), {}, {}], 'logprobs must be given'],
  ['singleLoss', [new Tape(), { logprobs: 1 }, {}], 'reference must be given'],
  ['singleLoss', [new Tape(), { logprobs: 1, reference: 1 }, {}], 'desirable must be given'],
  ['singleLoss', [new Tape(), { logprobs: 1, reference: 1, desirable: 1 }, {}], 'divergence must be given'],
  [
    'singleLoss',
    [new Tape(), { logprobs: 1, reference: 1, desirable: 1, divergence: 1 }, { kind: 'dpo' }],
    'invalid options',
  ],
  // Advantages.
  ['anchorGroups', [7, ['g']], 'observations must be a list, got 7'],
  ['anchorGroups', [['a'], 7], 'groups must be a list, got 7'],
  ['bilevelGae', [{ rewards: one, values: one, masks: one }], 'turnEnds is missing'],
  ['discountedReturns', [{ rewards: [[true]] }], `rewards[0][0] ${notNumber}, got true`],
  ['discountedReturns', [{ rewards: one, masks: [[false]] }], `masks[0][0] ${notNumber}, got false`],
  ['discountedReturns', [{ rewards: [['1']] }], `rewards[0][0] ${notNumber}, got "1"`],
  ['discountedReturns', [{ rewards: [[null]] }], `rewards[0][0] ${notNumber}, got null`],
  [
    'gae',
    [{ rewards: one, values: one, finalValues: 7 }],
    'finalValues must have 1 numbers, one per row, got',
  ],
  [
    'gae',
    [{ rewards: one, values: one, ends: [[2, 1]] }],
    'ends[0] must have 1 tokens, as rewards[0], got 2',
  ],
  ...['groups', 'trajectories', 'anchors', 'stepRewards', 'episodeScores'].map(
    (name) => ['gigpoAdvantages', [{ ...gigpo, [name]: 7 }], `${name} must be a list, got 7`] as const,
  ),
  [
    'gigpoAdvantages',
    [{ ...gigpo, trajectories: [] }],
    'trajectories must have 1 entries, one per step as groups',
  ],
  ['gigpoAdvantages', [{ ...gigpo, stepRewards: [null] }], `stepRewards[0] ${notNumber}, got null`],
  ['gigpoAdvantages', [{ ...gigpo, episodeScores: ['1'] }], `episodeScores[0] ${notNumber}, got "1"`],
  ['groupIndices', [7], 'ids must be a list, got 7'],
  ['scatterGroups', [7, one], 'indices must be a list of lists, got 7'],
  ['scatterGroups', [[[0]], 7], 'values must be a list of lists, got 7'],
  ['scatterGroups', [[[0, 1]], one], 'values[0] must have 2 entries, as indices[0], got 1'],
  ['scatterGroups', [[[0], [1]], one], 'values[1] must have 1 entries, as indices[1], got none'],
  ['groupRelativeAdvantages', [7], 'groups must be a list, got 7'],
  ['groupRelativeAdvantages', [one, {}, { lengths: 7 }], 'lengths must be a list, got 7'],
  ['groupRelativeAdvantages', [[['1']]], `groups[0][0] ${notNumber}, or null if unscorable, got "1"`],
  [
    'groupRelativeAdvantages',
    [[[1, 2]], { baseline: 'length-weighted-mean' }, { lengths: [[1, -1]] }],
    'lengths[0] must have 2 token counts, as groups[0], got [1,-1]',
  ],
  ['hasRewardVariance', [7], `rewards ${listNeeded}`],
  ['hasRewardVariance', [[0, true]], `rewards[1] ${notNumber}, or null if unscorable, got true`],
  ['normalizedThenSummed', [7, [1]], 'rewards must be a list of lists of lists, got 7'],
  ['normalizedThenSummed', [[[[1]]], ['1']], 'weights[0] must be a number, got "1"'],
  ['normalizedThenSummed', [[[[1]]], [1], 7], 'options must be an object, got 7'],
  ['standardizedOverBatch', [7, 0], 'groups must be a list, got 7'],
  ['standardizedOverBatch', [[['1']], 0], `groups[0][0] ${notNumber}, or null if unscorable, got "1"`],
  ['standardizedOverBatch', [one], 'epsilon must be a number, got undefined'],
  ['optimalTokenBaseline', [{ ...baseline, groups: 7 }], 'groups must be a list, got 7'],
  [
    'optimalTokenBaseline',
    [{ ...baseline, importanceWeights: 7 }],
    'importanceWeights must be a list of numbers',
  ],
  ['reductionFactors', [7, ['p']], `masks ${listNeeded}`],
  ['reductionFactors', [[[true]], ['p']], `masks[0][0] ${notNumber}, got true`],
  ['reductionFactors', [one, 7], 'parts must be a list, got 7'],
  ['reductionFactors', [one, ['p'], { length: 0 }], 'invalid options\n  - length: '],
  ['scaledAdvantages', [7, [1]], `advantages ${listNeeded}`],
  ['scaledAdvantages', [[['1']], [1]], `advantages[0][0] ${notNumber}, got "1"`],
  ['scaledAdvantages', [one, 7], 'factors must be a list, got 7'],
  ['scaledAdvantages', [one, [Number.NaN]], `factors[0] ${notNumber}, got NaN`],
  ['reinforceAdvantages', [{ rewards: [['1']] }], `rewards[0][0] ${notNumber}, got "1"`],
  ['reinforceAdvantages', [{ rewards: one, baselines: [null] }], `baselines[0] ${notNumber}, got null`],
  ['sequenceRatio', [7, 'a'], 'a must be text, got 7'],
  ['sequenceRatio', ['a', 7], 'b must be text, got 7'],
  ['sequenceScores', [7], `rewards ${listNeeded}`],
  ['spreadOverTokens', [7, one], 'advantages must be a list, got 7'],
  ['spreadOverTokens', [['1'], one], `advantages[0] ${notNumber}, got "1"`],
  ['spreadOverTokens', [[1], [[true]]], `masks[0][0] ${notNumber}, got true`],
  ['alignedTurnRewards', [7, []], 'turns must be a list, got 7'],
  ['alignedTurnRewards', [[], [7]], 'rewards[0] must be an object, got 7'],
  [
    'tokenRewards',
    [{ scores: [1], masks: one, positions: [-1] }],
    'positions[0] must be an index of a row of 1',
  ],
  ['entropyWeightedAdvantages', ['1', [1], { strength: 1 }], 'advantage must be a number, got "1"'],
  ['entropyWeightedAdvantages', [1, 7, { strength: 1 }], 'entropies must be a list of numbers, got 7'],
  [
    'entropyWeightedAdvantages',
    [1, [1, 1 / 0], { strength: 1 }],
    'entropies[1] must be a finite number, got Infinity',
  ],
  ['pooledEntropies', [[1 / 0], [1], { share: 1 }], 'entropies[0] must be a finite number, got Infinity'],
  ['entropyWeightedAdvantages', [1, [1], {}], 'strength must be a number, got undefined'],
  ['entropyWeightedAdvantages', [1, [1], { strength: 1 / 0 }], 'advantage and strength must be finite'],
  ['planningAmplifiedAdvantages', [7, [1], { amplification: 1 }], 'advantages must be a list of numbers'],
  ['planningAmplifiedAdvantages', [[1], 7, { amplification: 1 }], 'planning must be a list of numbers'],
  ['planningAmplifiedAdvantages', [[1], [1], {}], 'amplification must be a number, got undefined'],
  [
    'planningAmplifiedAdvantages',
    [[1], [], { amplification: 1 }],
    'planning must have 1 entries, one per token',
  ],
  ['planningTokens', [7, []], 'tokens must be a list of texts, got 7'],
  ['planningTokens', [[], [7]], 'phrases[0] must be text, got 7'],
  ['planningTokens', [[], [], { window: '5' }], 'window must be a number, got "5"'],
  ['pooledEntropies', [7, [1], { share: 1 }], 'entropies must be a list of numbers'],
  ['pooledEntropies', [[1], 7, { share: 1 }], 'planning must be a list of numbers'],
  ['pooledEntropies', [[1], [1], {}], 'share must be a number, got undefined'],
  // Statistics.
  ['effectiveSampleSize', [one, [[true]]], `masks[0][0] ${notNumber}, got true`],
  ['explainedVariance', [{ values: one }], 'returns is missing; expected { values, returns }'],
  ['maskedMean', [[['1']]], `values[0][0] ${notNumber}, got "1"`],
  ['maskedRowMeans', [one, [[true]]], `masks[0][0] ${notNumber}, got true`],
  ['maskedVariance', [one, [[true]]], `masks[0][0] ${notNumber}, got true`],
  ['normalizedWeights', [7, one, { over: 'tokens' }], `weights ${listNeeded}`],
  ['normalizedWeights', [one, [[true]], { over: 'tokens' }], `masks[0][0] ${notNumber}, got true`],
  [
    'normalizedWeights',
    [one, one, { over: 'token' }],
    'over must be one of tokens, sequences, got "token"; did you mean \'tokens\'?',
  ],
  ['normalizedWeights', [one, one, { over: 'tokens', countEpsilon: '1' }], 'countEpsilon must be a number'],
  ['passAtK', [[[true, false]], 1], `correct[0][0] ${notNumber}, got true`],
  ['passAtK', [one, '1'], 'k must be an integer from 1 to 1'],
  ['samplerGap', [{ trainerLogprobs: one }], 'samplerLogprobs is missing'],
  ['tokenStatistics', [7], `values ${listNeeded}`],
  [
    'whitened',
    [[1]],
    'values[0] must be a list of numbers, got 1; a single list of numbers goes into another list',
  ],
  ['zeroVarianceShare', [7], 'groups must be a list, got 7'],
  ['zeroVarianceShare', [[['1']]], `groups[0][0] ${notNumber}, or null if unscorable, got "1"`],
  // Losses over numbers.
  ['aggregationWeights', [7, { mode: 'token-mean' }], `masks ${listNeeded}`],
  ['aggregationWeights', [[[true]], { mode: 'token-mean' }], `masks[0][0] ${notNumber}, got true`],
  [
    'clipCovarianceKeep',
    [{ ...covariance, proximalLogprobs: 7 }, random],
    'proximalLogprobs must be a list of lists',
  ],
  ['clipCovarianceKeep', [{ ...covariance, proximalLogprobs: one }, {}], 'shuffle must be a function'],
  ['highEntropyKeep', [{ entropies: 7, masks: one }, { share: 1 }], 'entropies must be a list of lists'],
  ['highEntropyKeep', [{ entropies: one, masks: 7 }, { share: 1 }], 'masks must be a list of lists'],
  ['highEntropyKeep', [{ entropies: one, masks: one }, {}], 'share must be a number, got undefined'],
  ['klCovarianceSelection', [{ logprobs: one, advantages: one }], 'masks is missing'],
  ['entropyShapedRewards', [{ rewards: [null], entropies: one }], `rewards[0] ${notNumber}, got null`],
  ['separatelyWhitened', [one, 7], 'kinds must be a list, got 7'],
  ['separatelyWhitened', [one, ['a'], { epsilon: -1 }], 'invalid options\n  - epsilon: '],
  ['klPenalizedRewards', [{ rewards: one, kl: one, masks: one }], 'expected an object with coefficient'],
  ['klPenalizedRewards', [{ rewards: one, kl: one, masks: one }, {}], 'coefficient must be a number'],
  ['overlongMasks', [[['1']], ['completed']], `masks[0][0] ${notNumber}, got "1"`],
  ['overlongMasks', [one, [7]], 'statuses[0] must be text, got 7'],
  ['nextKlCoefficient', ['1', { kl: 1, target: 1, horizon: 1 }], 'coefficient must be a number, got "1"'],
  ['nextEntropyCoefficient', ['1', { entropy: 1, target: 1 }], 'coefficient must be a number, got "1"'],
  ['policyLoss', [7], 'invalid options'],
  // Sequences, steps and pairs.
  ['messageMasks', [[7]], 'messages[0] must be an object, got 7'],
  ['messageMasks', [[{ role: 'user', body: [] }]], 'messages[0]: header must be a list, got undefined'],
  ['messageMasks', [[{ role: 'user', header: [] }]], 'messages[0]: body must be a list, got undefined'],
  ['messageMasks', [[{ header: [], body: [] }]], 'messages[0]: role must be text, got undefined'],
  [
    'messageMasks',
    [[{ role: 'user', header: [], body: [], use: 'none' }]],
    'messages[0]: use must be one of train, context, got "none"',
  ],
  [
    'messageMasks',
    [[], 'assistants'],
    'trained must be one of assistant, last-assistant-message, last-assistant-turn, user-and-system, messages, ' +
      'all-but-user, everything, got "assistants"; did you mean \'assistant\'?',
  ],
  ['responseLength', [[true]], 'mask[0] must be a number, got true'],
  ['demonstrationSequences', [7, {}], 'demonstration must be an object, got 7'],
  ['demonstrationSequences', [{}, {}], 'tokenizer must be an object, got undefined'],
  ['demonstrationSequences', [{}, { tokenizer: {}, maxLength: 8 }], 'expected no maxLength'],
  ['alignRewardsWithStepData', [7, []], 'results must be a list of objects, got 7'],
  ['alignRewardsWithStepData', [[], [7]], 'episodes[0] must be a list of objects, got 7'],
  ['alignRewardsWithStepData', [[], [], 7], 'options must be an object, got 7'],
  ['applyGigpoToBatchSteps', [7, []], 'episodes must be a list of lists of objects, got 7'],
  ['applyGigpoToBatchSteps', [[], 7], 'finalScores must be a list, got 7'],
  ['applyGigpoToBatchSteps', [[], [], 7], 'options must be an object, got 7'],
  [
    'applyGigpoToBatchSteps',
    [[], [], { groups: ['g'] }],
    'groups must have one entry per episode, got 1 for 0',
  ],
  ['pairsWithin', [7, undefined, { owner: 'f' }], 'pairs must be a list of objects, got 7'],
  ['pairsWithin', [[], 7, { owner: 'f' }], 'limit must be an object, got 7'],
  ['pairsWithin', [[], undefined, {}], 'owner must be text, got undefined'],
  [
    'pairsWithin',
    [[], undefined, { owner: 'f', contextLength: '8' }],
    'contextLength must be a number, got "8"',
  ],
  ['examplesWithin', [7, undefined, { owner: 'f' }], 'examples must be a list of objects, got 7'],
  ['examplesWithin', [[], 7, { owner: 'f' }], 'limit must be an object, got 7'],
  ['examplesWithin', [[], undefined, {}], 'owner must be text, got undefined'],
  [
    'examplesWithin',
    [[], undefined, { owner: 'f', contextLength: '8' }],
    'contextLength must be a number, got "8"',
  ],
  ['judgedPair', [{ margin: '1' }, {}], 'margin must be a number, got "1"'],
  ['judgedPair', [{}, {}], 'prompt must be given, got undefined'],
  [
    'judgedPair',
    [{ prompt: '1', chosen: '2', rejected: '3' }, {}],
    'tokenizer must be an object, got undefined',
  ],
  ['labelledSequence', [{ rating: 1 }, {}], 'expected rating to be true or false, got 1'],
  ['labelledSequence', [undefined, {}], 'expected rating to be true or false, got undefined'],
  ['labelledSequence', [{ rating: true }, {}], 'tokenizer must be an object, got undefined'],
  ['rewardModel', [{}], 'the training backend lacks'],
  ['closeRun', [7], 'directory must be text, got 7'],
  ['withTeacher', [7, {}], 'backend must be an object, got 7'],
  ['withTeacher', [{}, {}], 'teacher: scoreTokens must be a function, got undefined'],
  ['algorithmOptions', ['gpro'], 'name must be one of grpo, ppo'],
  ['algorithmOptions', ['grpo', 7], 'options must be an object, got 7'],
  ['readsReference', [{}], 'kind must be text, got undefined'],
  ['distillationOptions', [null], 'expected an object with coefficient, got null'],
  ['distillationOptions', [{ coefficient: '1' }], 'coefficient must be a number, got "1"'],
];

it.each(wrongCalls)('%s refuses a wrong call: %#', (name, args, message) => {
  expectRefusal(name, args, message);
});

it.each([
  ['pairRewards', [7, []], 'backend must be an object, got 7'],
  ['pairRewards', [{}, [7]], 'pairs[0] must be an object, got 7'],
])('%s rejects a wrong call: %#', async (name, args, message) => {
  await expect(call(name, ...args)).rejects.toThrow(`${name}: ${message}`);
});

/** Algorithms and runs take their options and dependencies through schemas, whose mistakes are in `mistakes`. */
const elsewhere =
  /Algorithm$|^run\w+Training$|^resolve\w+Options$|^(load|save)Run$|^BackpropModule$|^RunStoppedError$/;
/** Takes values that others checked. */
const parts = ['comparingGroups', 'withinLength'];

it('every other exported function has a wrong call here', () => {
  const here = [...Object.keys(overTensors), ...wrongCalls.map(([name]) => name), ...parts, 'pairRewards'];
  const missing = [...functions.keys()].filter((name) => !here.includes(name) && !elsewhere.test(name));
  expect(missing).toEqual([]);
});
