import { parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { lazily } from '../../shared/lazily.ts';
import { coherenceEvidence } from '../model/coherence-features.ts';
import { withoutCode } from '../model/excerpt.ts';
import { bytesFromBase64, type LinearModel, probability } from '../model/linear-model.ts';
import type { LetterOrder, WordOrder } from '../model/word-order.ts';
import { JudgedVerifier, judgedSchema, type Verified } from '../text-judge.ts';
import { scoreReport } from '../verdict.ts';

const schema = judgedSchema.extend({
  /** Fewest words that are judged. Default 12. */
  minWords: z.int().positive().default(12),
  /** Share of responses that you expect to make no sense. The score is calibrated for it. Default 0.1. */
  expectedFailures: z.number().gt(0).lt(1).default(0.1),
});

/** Options of {@link CoherenceVerifier}. */
export interface CoherenceVerifierOptions extends z.input<typeof schema> {}

interface Parts {
  readonly order: WordOrder;
  readonly letters: LetterOrder;
  readonly model: LinearModel;
}

const withModel = lazily(async (): Promise<Parts> => {
  const { coherenceWeights } = await import('../model/coherence-weights.ts');
  const { bias, dense, words, scale, information, letterScale, letterInformation } = coherenceWeights;
  return {
    order: { words: words.split(' '), scale, information: bytesFromBase64(information) },
    letters: { scale: letterScale, information: bytesFromBase64(letterInformation) },
    model: { bias, dense },
  };
});

/**
 * Whether a response is English prose that holds together, sentence by sentence, with words in an order that occurs, not stuck in a
 * loop, not garbled. The score is the probability of that, from a logistic regression over word-order statistics
 * (mutual information of neighbouring word classes and of neighbouring letters), repetition and sentence shape.
 *
 * It does not follow an argument. True sentences in the wrong order pass. Fenced code is left out. What is not judged passes
 * with score 0.7 and `details.judged: false`: fewer than `minWords` words, mostly symbols, another language. An empty
 * response fails. Measured in `docs/verification.md`.
 */
export class CoherenceVerifier extends JudgedVerifier<z.output<typeof schema>> {
  readonly name = 'coherence';

  constructor(options: CoherenceVerifierOptions = {}) {
    super(parseOptions('CoherenceVerifier', schema, options));
  }

  override verify(...given: Verified): VerificationReport | Promise<VerificationReport> {
    return /\S/u.test(given[1])
      ? super.verify(...given)
      : scoreReport({ score: 0, message: 'the response is empty', thresholds: this.options.thresholds });
  }

  protected byModel(_prompt: string, response: string): VerificationReport | Promise<VerificationReport> {
    return withModel((parts) => this.#judge(response, parts));
  }

  #judge(response: string, { order, letters, model }: Parts): VerificationReport {
    const { minWords, expectedFailures, thresholds } = this.options;
    const prose = withoutCode(response);
    const { features, words, commonWords } = coherenceEvidence(prose, order, letters);
    const reason = unjudged(prose, { words, commonWords }, minWords);
    if (reason !== undefined) {
      const message = `not judged: ${reason}`;
      return { result: 'pass', score: 0.7, details: { judged: false, words }, message };
    }
    // The model was fitted on as much nonsense as sense. The odds are moved to those expected.
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
  if (letters < (prose.match(/\S/gu)?.length ?? 0) / 2) return 'mostly symbols';
  return commonWords < 0.1 ? 'no English prose' : undefined;
}
