import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { coherenceEvidence } from '../model/coherence-features.ts';
import { excerpt } from '../model/excerpt.ts';
import { bytesFromBase64, type LinearModel, probability } from '../model/linear-model.ts';
import type { LetterOrder, WordOrder } from '../model/word-order.ts';
import { judgedReport, textJudgeSchema, thresholdsSchema } from '../text-judge.ts';
import {
  TextVerifier,
  type VerificationContext,
  type VerifierLimits,
  verifierLimitsSchema,
} from '../text-verifier.ts';
import { scoreReport } from '../verdict.ts';

const schema = z.strictObject({
  minWords: z.int().positive().default(12),
  expectedFailures: z.number().gt(0).lt(1).default(0.1),
  judge: textJudgeSchema.optional(),
  thresholds: thresholdsSchema,
  ...verifierLimitsSchema.shape,
});

/**
 * Options of {@link CoherenceVerifier}: `minWords` (12), below which nothing is judged; `expectedFailures` (0.1), the share of
 * responses that you expect to make no sense, for which the score is calibrated; `judge`, which replaces our model;
 * `thresholds` of the score (pass 0.7, warning 0.5); `timeoutMs` (30 000) and `concurrency` (64) of a judge's calls.
 */
export type CoherenceVerifierOptions = z.input<typeof schema>;

interface Loaded {
  readonly order: WordOrder;
  readonly letters: LetterOrder;
  readonly model: LinearModel;
}

let loaded: Loaded | undefined;

async function load(): Promise<Loaded> {
  const { coherenceWeights } = await import('../model/coherence-weights.ts');
  const { bias, dense, words, scale, information, letterScale, letterInformation } = coherenceWeights;
  loaded ??= {
    order: { words: words.split(' '), scale, information: bytesFromBase64(information) },
    letters: { scale: letterScale, information: bytesFromBase64(letterInformation) },
    model: { bias, dense },
  };
  return loaded;
}

/**
 * Whether a response is English prose that holds together, sentence by sentence: words in an order that occurs, not stuck in a
 * loop, not garbled. The score is the probability of that, from a logistic regression over word-order statistics
 * (mutual information of neighbouring word classes and of neighbouring letters), repetition and sentence shape.
 *
 * It does not follow an argument: true sentences in the wrong order pass. Fenced code is left out. What is not judged passes
 * with score 0.7 and `details.judged: false`: fewer than `minWords` words, mostly symbols, another language. An empty
 * response fails. Texts over 100,000 characters are judged by their first and last halves. Measured in
 * `docs/verification.md`.
 */
export class CoherenceVerifier extends TextVerifier {
  readonly name = 'coherence';
  readonly #options: Omit<z.output<typeof schema>, keyof VerifierLimits>;

  /** @throws `OptionsError` naming every problem. */
  constructor(options: CoherenceVerifierOptions = {}) {
    const { timeoutMs, concurrency, ...own } = parseOptions('CoherenceVerifier', schema, options);
    super({ timeoutMs, concurrency });
    this.#options = own;
  }

  override verify(
    prompt: string,
    response: string,
    context: VerificationContext,
  ): VerificationReport | Promise<VerificationReport> {
    const { judge, thresholds } = this.#options;
    if (!/\S/u.test(response)) {
      return scoreReport({ score: 0, message: 'the response is empty', thresholds });
    }
    if (judge !== undefined) {
      return judgedReport(this.name, () => judge({ prompt, response }, context), thresholds);
    }
    return loaded === undefined
      ? load().then((parts) => this.#judge(response, parts))
      : this.#judge(response, loaded);
  }

  #judge(response: string, { order, letters, model }: Loaded): VerificationReport {
    const { minWords, expectedFailures, thresholds } = this.#options;
    const prose = withoutCode(excerpt(response));
    const { features, words, commonWords } = coherenceEvidence(prose, order, letters);
    const reason = unjudged(prose, { words, commonWords }, minWords);
    if (reason !== undefined) {
      return {
        result: 'pass',
        score: 0.7,
        details: { judged: false, words },
        message: `not judged: ${reason}`,
      };
    }
    // The model was fitted on as much nonsense as sense; the odds are moved to those expected.
    const bias = model.bias + Math.log((1 - expectedFailures) / expectedFailures);
    const score = probability({ ...model, bias }, features);
    return scoreReport({
      score,
      details: { judged: true, by: 'model', words, ...features.dense },
      message: `coherent with probability ${score.toFixed(2)}`,
      thresholds,
    });
  }
}

function unjudged(
  prose: string,
  { words, commonWords }: { readonly words: number; readonly commonWords: number },
  minWords: number,
): string | undefined {
  if (words < minWords) return `${words} words are too few`;
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  const visible = prose.match(/\S/gu)?.length ?? 0;
  if (letters < visible / 2) return 'mostly symbols';
  return commonWords < 0.1 ? 'no English prose' : undefined;
}

/** The text without what stands between lines of three backticks. */
function withoutCode(text: string): string {
  let isCode = false;
  const kept = text.split('\n').filter((line) => {
    const isFence = line.trimStart().startsWith('```');
    if (isFence) isCode = !isCode;
    return !isFence && !isCode;
  });
  return kept.join('\n');
}
