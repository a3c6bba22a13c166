import { OptionsError, type Verifier } from '@rlp/core';
import { VerificationPipeline, type VerificationPipelineOptions } from './pipeline.ts';
import type { TextVerifier } from './text-verifier.ts';
import { CoherenceVerifier } from './verifiers/coherence.ts';
import { FactualVerifier } from './verifiers/factual.ts';
import { FormatVerifier } from './verifiers/format.ts';
import { LanguageVerifier } from './verifiers/language.ts';
import { LengthVerifier } from './verifiers/length.ts';
import { RepetitionVerifier } from './verifiers/repetition.ts';
import { SafetyPatternVerifier } from './verifiers/safety-pattern.ts';
import { GreetingVerifier, KeywordVerifier, NonEmptyVerifier } from './verifiers/simple.ts';
import { ToxicityVerifier } from './verifiers/toxicity.ts';

const verifiers = {
  length: LengthVerifier,
  toxicity: ToxicityVerifier,
  coherence: CoherenceVerifier,
  factual: FactualVerifier,
  format: FormatVerifier,
  language: LanguageVerifier,
  repetition: RepetitionVerifier,
  'safety-pattern': SafetyPatternVerifier,
  'has-greeting': GreetingVerifier,
  'no-empty-response': NonEmptyVerifier,
  'contains-keywords': KeywordVerifier,
} as const;

/** One part of a pipeline as a record, such as `{ type: 'length', minLength: 20, maxLength: 200 }`. */
export type VerifierConfig = {
  [Type in keyof typeof verifiers]: {
    /** Kind of verifier. Required. */
    readonly type: Type;
  } & NonNullable<ConstructorParameters<(typeof verifiers)[Type]>[0]>;
}[keyof typeof verifiers];

/**
 * A pipeline from records, as read from a file, and from your own verifiers, in their order.
 *
 * @throws OptionsError naming every record that is wrong and all that is wrong with it.
 */
export function createCustomVerifierPipeline(
  configs: readonly (VerifierConfig | Verifier)[],
  options: Omit<VerificationPipelineOptions, 'verifiers'> = {},
): VerificationPipeline {
  const issues: string[] = [];
  const parts = configs.flatMap((config, index) => {
    try {
      return [verifierOf(config)];
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      issues.push(...error.issues.map((issue) => `configs.${index}: ${issue}`));
      return [];
    }
  });
  if (issues.length > 0) throw new OptionsError('createCustomVerifierPipeline', issues);
  return new VerificationPipeline({ ...options, verifiers: parts });
}

/**
 * The pipeline for text of any kind. It checks that a text is not empty and has at most 4,000 words, and its toxicity, coherence, facts,
 * repetition and safety patterns with their defaults. Toxicity needs the package `obscenity`.
 *
 * @throws MissingPeerError without `obscenity`. Choose verifiers for {@link createCustomVerifierPipeline} then.
 */
export function createDefaultVerifierPipeline(
  options: Omit<VerificationPipelineOptions, 'verifiers'> = {},
): VerificationPipeline {
  const parts: readonly VerifierConfig[] = [
    { type: 'length', minLength: 1, maxLength: 4000 },
    { type: 'toxicity' },
    { type: 'coherence' },
    { type: 'factual' },
    { type: 'repetition' },
    { type: 'safety-pattern' },
  ];
  return createCustomVerifierPipeline(parts, options);
}

function verifierOf(config: VerifierConfig | Verifier): Verifier {
  if (typeof config !== 'object' || config === null) {
    throw new OptionsError('createCustomVerifierPipeline', [
      `expected { type, … } or a verifier, got ${JSON.stringify(config)}`,
    ]);
  }
  if ('verifyBatch' in config) return config;
  const { type, ...options } = config;
  if (!Object.hasOwn(verifiers, type)) {
    const known = Object.keys(verifiers).join(', ');
    throw new OptionsError('createCustomVerifierPipeline', [
      `type: expected one of ${known}, got ${JSON.stringify(type)}`,
    ]);
  }
  // Each checks its own options.
  return new (verifiers[type] as new (options: object) => TextVerifier)(options);
}
