import {
  ArgumentError,
  type ChatRenderer,
  messageOf,
  parseOptions,
  settleWithin,
  TimeoutError,
  type TokenId,
  type Tokenizer,
  type TokenScorer,
  type Trajectory,
} from '@rlp/core';
import pLimit from 'p-limit';
import * as z from 'zod';
import {
  checkScale,
  judgeRules,
  type PointwiseJudge,
  type PointwiseQuestionOptions,
  pointwiseQuestion,
} from './pointwise.ts';
import { type JudgeFailureCause, type JudgeStatistics, judgeSchema } from './session.ts';
import { checkTemplate, drawKey, type JudgeTemplate, quotingMessages } from './template.ts';

/** The default prompt of {@link likelihoodJudge}, with the placeholders of `pointwiseTemplate`. */
export const likelihoodTemplate: JudgeTemplate = {
  system: judgeRules,
  user: `The task:
{{task}}

The response to judge:
{{response}}
{{reference}}
What counts:
{{rubric}}

Answer with a number from {{minimum}} (worst) to {{maximum}} (best), as "Score: NUMBER", and with nothing else.`,
};

const digit = z.int().min(0).max(9);
const schema = judgeSchema.omit({ generator: true, retries: true }).extend({
  scale: z.tuple([digit, digit]).default([1, 5]),
  minimumMass: z.number().min(0).max(1).default(0.1),
  lead: z.string().min(1).default('Score:'),
});

/** Options of {@link likelihoodJudge}. */
export interface LikelihoodJudgeOptions<Metadata> extends PointwiseQuestionOptions<Metadata> {
  /** The model that judges, such as an `InferenceModule`, with its tokenizer and chat format. */
  readonly scorer: TokenScorer;
  readonly tokenizer: Pick<Tokenizer, 'encode'>;
  readonly renderer: ChatRenderer;
  /** Worst and best score, from 0 to 9: each is one digit. Default [1, 5]. */
  readonly scale?: readonly [number, number] | undefined;
  /** What the model has already said when it gives the score. Default `'Score:'`. */
  readonly lead?: string | undefined;
  /** Probability that all scores together must have, for the model to have answered at all. Default 0.1. */
  readonly minimumMass?: number | undefined;
  /** Names the keys that quote the material. Default `'judge'`. */
  readonly seed?: string | undefined;
  /** Milliseconds a response may take. Default 60 000. */
  readonly timeoutMs?: number | undefined;
  /** Responses judged at a time. Default 8. */
  readonly concurrency?: number | undefined;
  /** Of each quoted text; longer ones lose their middle. Default 20 000. */
  readonly maximumCharacters?: number | undefined;
  /** Default {@link likelihoodTemplate}. */
  readonly template?: JudgeTemplate | undefined;
}

/**
 * A model's expected score of each response, by the probabilities it gives to the scores s of the scale, scaled to [0, 1]:
 *
 *     E = Σ_s s · p(s) / Σ_s p(s),   p(s) = π(s | prompt, lead)
 *
 * Nothing is sampled and no output is read: the same weights give the same reward, finer than whole scores, and a model too small to
 * keep to a form can judge. `null`, counted as `'unparsable'`, where the scores have less than `minimumMass` together; and where the
 * model fails or takes too long. Costs a scored row for each score of the scale.
 *
 * @throws OptionsError for bad options; ArgumentError for a template without a needed placeholder, an empty scale, or a tokenizer that
 * does not tell the scores apart.
 * @see Liu et al. 2023, G-Eval, §2, https://arxiv.org/abs/2303.16634
 */
export function likelihoodJudge<Metadata = unknown>({
  scorer,
  tokenizer,
  renderer,
  rubric,
  reference,
  show = ({ response }) => response,
  template = likelihoodTemplate,
  ...options
}: LikelihoodJudgeOptions<Metadata>): PointwiseJudge<Metadata> {
  const settings = parseOptions('likelihoodJudge', schema, options);
  const { scale, lead, seed, concurrency, maximumCharacters } = settings;
  checkTemplate('likelihoodJudge', template, {
    required: ['response'],
    optional: ['key', 'task', 'reference', 'rubric', 'minimum', 'maximum'],
  });
  checkScale('likelihoodJudge', scale);
  const { begun, scores } = scoreTokensOf(tokenizer, lead, scale);
  const session = new LikelihoodSession(scorer, scores, settings);
  const limit = pLimit(concurrency);
  const promptOf = (trajectory: Trajectory<Metadata>) => {
    const { texts, fill } = pointwiseQuestion(trajectory, { rubric, scale, reference, show });
    const key = drawKey([seed, 'likelihood', trajectory.id], texts);
    return [...renderer.render(quotingMessages(template, fill, { key, maximumCharacters })), ...begun];
  };
  return {
    reward: (trajectory, { signal }) => limit(() => session.ask(() => promptOf(trajectory), signal)),
    getStatistics: () => session.getStatistics(),
  };
}

/** Asks for the probabilities of the scores, within limits, and counts what became of it. */
class LikelihoodSession {
  readonly #scorer: TokenScorer;
  readonly #scores: readonly (readonly TokenId[])[];
  readonly #limits: { readonly timeoutMs: number; readonly minimumMass: number };
  readonly #counts = { asked: 0, calls: 0 };
  readonly #failures = { unparsable: 0, threw: 0, 'timed-out': 0 };
  #lastFailure: string | undefined;

  constructor(
    scorer: TokenScorer,
    scores: readonly (readonly TokenId[])[],
    limits: { readonly timeoutMs: number; readonly minimumMass: number },
  ) {
    this.#scorer = scorer;
    this.#scores = scores;
    this.#limits = limits;
  }

  /** The expected score after a prompt, scaled to [0, 1]; `null` after a failure. Rejects only with the signal's reason. */
  async ask(promptOf: () => readonly TokenId[], signal: AbortSignal): Promise<number | null> {
    this.#counts.asked += 1;
    signal.throwIfAborted();
    try {
      const given = await this.#probabilities(promptOf(), signal);
      const mass = given.reduce((sum, probability) => sum + probability, 0);
      // Also where a probability is no number; float32 may round a little above 1.
      if (!(mass > 0 && mass >= this.#limits.minimumMass && mass < 1.001)) {
        return this.#fail('unparsable', `the scores have a probability of ${mass} together`);
      }
      return given.reduce((sum, probability, k) => sum + k * probability, 0) / mass / (given.length - 1);
    } catch (error) {
      signal.throwIfAborted();
      return this.#fail(error instanceof TimeoutError ? 'timed-out' : 'threw', messageOf(error));
    }
  }

  getStatistics(): JudgeStatistics {
    return { ...this.#counts, failures: { ...this.#failures }, lastFailure: this.#lastFailure };
  }

  async #probabilities(prompt: readonly TokenId[], signal: AbortSignal): Promise<readonly number[]> {
    this.#counts.calls += 1;
    const controller = new AbortController();
    const requests = this.#scores.map((completion) => ({ prompt, completion }));
    const work = this.#scorer.scoreTokens(requests, { signal: controller.signal });
    const { timeoutMs } = this.#limits;
    const scored = await settleWithin(work, controller, { timeoutMs, signal });
    if (scored.length !== requests.length) {
      throw new ArgumentError(`expected ${requests.length} scored rows of the model, got ${scored.length}`);
    }
    return scored.map(({ logprobs }) => Math.exp(logprobs.reduce((sum, logprob) => sum + logprob, 0)));
  }

  #fail(cause: JudgeFailureCause, message: string): null {
    this.#failures[cause] += 1;
    this.#lastFailure = message;
    return null;
  }
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
