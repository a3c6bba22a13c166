import {
  ArgumentError,
  type ChatRenderer,
  parseOptions,
  requireFields,
  settleWithin,
  type TokenId,
  type Tokenizer,
  type TokenScorer,
  type Trajectory,
} from '@rlp/core';
import pLimit from 'p-limit';
import * as z from 'zod';
import { signalOf } from '../shared/signal-of.ts';
import { overWindows, type TextWindow } from './long-text.ts';
import {
  judgedWork,
  judgeRules,
  type PointwiseJudge,
  type PointwiseQuestionOptions,
  pointwiseFill,
  rubricSchema,
} from './pointwise.ts';
import { JudgeTally, judgeSchema, scaleSchema } from './session.ts';
import { type JudgeTemplate, quotingMessages, shownWork, templateSchema } from './template.ts';

/** The default prompt of {@link likelihoodJudge}, with the placeholders of `pointwiseTemplate`. */
export const likelihoodTemplate: JudgeTemplate = {
  system: judgeRules,
  user: `${judgedWork}
{{reference}}
What counts:
{{rubric}}

Answer with a number from {{minimum}} (worst) to {{maximum}} (best), as "Score: NUMBER", and with nothing else.`,
};

const schema = judgeSchema.omit({ generator: true, retries: true }).extend({
  /** Worst and best score. Each score is one digit. Default `[1, 5]`. */
  scale: scaleSchema
    .refine((bounds) => bounds.every((bound) => /^\d$/.test(String(bound))), 'must be two digits')
    .default([1, 5]),
  /** Least probability of all scores together. Below it the model has not answered. Default 0.1. */
  minimumMass: z.number().min(0).max(1).default(0.1),
  /** What the model has already said when it gives the score. Default `'Score:'`. */
  lead: z.string().min(1).default('Score:'),
  /** Prompt of the judge. Default {@link likelihoodTemplate}. */
  template: templateSchema(likelihoodTemplate, ['response']),
  /** What counts, in words, or a function that finds it in the metadata. Required. */
  rubric: rubricSchema,
});

/** Options of {@link likelihoodJudge}. */
export interface LikelihoodJudgeOptions<Metadata>
  extends Omit<z.input<typeof schema>, 'rubric'>,
    PointwiseQuestionOptions<Metadata> {
  /** Model that judges, such as an `InferenceModule`. Required. */
  readonly scorer: TokenScorer;
  /** Tokenizer of the model. Required. */
  readonly tokenizer: Pick<Tokenizer, 'encode'>;
  /** Chat format of the model. Required. */
  readonly renderer: ChatRenderer;
}

/**
 * A model's expected score of each response, by the probabilities it gives to the scores s of the scale, scaled to [0, 1]:
 *
 *     E = Σ_s s · p(s) / Σ_s p(s),   p(s) = π(s | prompt, lead)
 *
 * Nothing is sampled, so the same weights give the same reward. It is finer than whole scores, and small models can judge. If the scores
 * have less than `minimumMass` together, the reward rejects and the failure is counted as `unparsable`. It rejects too if the model fails
 * or takes too long. `worstScoreFor` makes it 0. Costs a scored row for each score of the scale and window of the response.
 *
 * @throws OptionsError for bad options; ArgumentError for a tokenizer that does not tell the scores apart.
 * @see Liu et al. 2023, G-Eval, §2, https://arxiv.org/abs/2303.16634
 */
export function likelihoodJudge<Metadata = unknown>(
  options: LikelihoodJudgeOptions<Metadata>,
): PointwiseJudge<Metadata> {
  requireFields('likelihoodJudge', { scorer: 'object', tokenizer: 'object', renderer: 'object' }, options);
  const { scorer, tokenizer, renderer, reference, show = shownWork, ...rest } = options;
  const settings = parseOptions('likelihoodJudge', schema, rest);
  const { scale, lead, seed, template, concurrency, maximumCharacters, minimumMass, timeoutMs } = settings;
  const { begun, scores } = scoreTokensOf(tokenizer, lead, scale);
  const tally = new JudgeTally('likelihoodJudge', settings);
  const limit = pLimit(concurrency);
  const fill = pointwiseFill({ rubric: options.rubric, scale, reference });
  const promptOf = ({ id, task }: Trajectory<Metadata>, window: TextWindow) => {
    const path = [seed, 'likelihood', id, ...window.part];
    const { messages } = quotingMessages(template, fill(task, window), { path, maximumCharacters });
    return [...renderer.render(messages), ...begun];
  };
  const ask = (trajectory: Trajectory<Metadata>, window: TextWindow, signal: AbortSignal) =>
    expectedScore(tally, { minimumMass, signal }, () => {
      const prompt = promptOf(trajectory, window);
      const requests = scores.map((completion) => ({ prompt, completion }));
      return probabilities(scorer, requests, { timeoutMs, signal });
    });
  return {
    reward: async (trajectory, context) => {
      const signal = signalOf('likelihoodJudge', trajectory, context);
      const judge = (window: TextWindow) => limit(() => ask(trajectory, window, signal));
      return (await overWindows(show(trajectory), settings, judge))[0]!;
    },
    getStatistics: () => tally.snapshot(),
  };
}

/** The expected score by the probabilities of the scores, scaled to [0, 1], or 0 for the failures of `worstScoreFor`. Counted. */
async function expectedScore(
  tally: JudgeTally,
  { minimumMass, signal }: { readonly minimumMass: number; readonly signal: AbortSignal },
  ask: () => Promise<readonly number[]>,
): Promise<readonly number[]> {
  tally.count('asked');
  signal.throwIfAborted();
  let given: readonly number[];
  try {
    tally.count('calls');
    given = await ask();
  } catch (error) {
    return tally.failBy(error, signal, [0]);
  }
  const mass = given.reduce((sum, probability) => sum + probability, 0);
  // Also where a probability is not a number. Float32 may round a little above 1.
  if (!(mass > 0 && mass >= minimumMass && mass < 1.001)) {
    return tally.fail('unparsable', `the scores have a probability of ${mass} together`, [0]);
  }
  return [given.reduce((sum, probability, k) => sum + k * probability, 0) / mass / (given.length - 1)];
}

/** Probabilities of completions after a prompt. Shape: `[S]`. */
async function probabilities(
  scorer: TokenScorer,
  requests: Parameters<TokenScorer['scoreTokens']>[0],
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly number[]> {
  const controller = new AbortController();
  const work = scorer.scoreTokens(requests, { signal: controller.signal });
  const scored = await settleWithin(work, controller, limits);
  if (scored.length !== requests.length) {
    throw new ArgumentError(`expected ${requests.length} scored rows of the model, got ${scored.length}`);
  }
  return scored.map(({ logprobs }) => Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0)));
}

/** The tokens of each score after the lead, and before them those that all have in common: words are split as in a whole text. */
function scoreTokensOf(
  tokenizer: Pick<Tokenizer, 'encode'>,
  lead: string,
  [minimum, maximum]: readonly [number, number],
): { readonly begun: readonly TokenId[]; readonly scores: readonly (readonly TokenId[])[] } {
  const texts = Array.from({ length: maximum - minimum + 1 }, (_, k) => `${lead} ${minimum + k}`);
  const tokens = texts.map((text) => tokenizer.encode(text, { specialTokens: 'none' }));
  const [first] = tokens;
  const parting = first!.findIndex((token, at) => tokens.some((other) => other[at] !== token));
  const scores = tokens.map((one) => one.slice(parting));
  const areTold =
    new Set(scores.map(String)).size === scores.length && scores.every(({ length }) => length > 0);
  if (parting >= 0 && areTold) return { begun: first!.slice(0, parting), scores };
  throw new ArgumentError(
    `likelihoodJudge: expected a tokenizer that tells ${texts.map((text) => JSON.stringify(text)).join(', ')} apart`,
  );
}
