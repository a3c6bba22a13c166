import { OptionsError, parseOptions, type Verifier } from '@rlp/core';
import * as z from 'zod';
import { VerificationPipeline, type VerificationPipelineOptions } from './pipeline.ts';
import { CoherenceVerifier, type CoherenceVerifierOptions } from './verifiers/coherence.ts';
import { FactualVerifier, type FactualVerifierOptions } from './verifiers/factual.ts';
import { FormatVerifier, type FormatVerifierOptions } from './verifiers/format.ts';
import { LanguageVerifier, type LanguageVerifierOptions } from './verifiers/language.ts';
import { LengthVerifier, type LengthVerifierOptions } from './verifiers/length.ts';
import { RepetitionVerifier, type RepetitionVerifierOptions } from './verifiers/repetition.ts';
import { SafetyPatternVerifier, type SafetyPatternVerifierOptions } from './verifiers/safety-pattern.ts';
import {
  GreetingVerifier,
  type GreetingVerifierOptions,
  KeywordVerifier,
  type KeywordVerifierOptions,
  NonEmptyVerifier,
} from './verifiers/simple.ts';
import { ToxicityVerifier, type ToxicityVerifierOptions } from './verifiers/toxicity.ts';

/** One part of a pipeline as a record, such as `{ type: 'length', minLength: 20, maxLength: 200 }`. */
export type VerifierConfig =
  | ({ readonly type: 'length' } & LengthVerifierOptions)
  | ({ readonly type: 'toxicity' } & ToxicityVerifierOptions)
  | ({ readonly type: 'coherence' } & CoherenceVerifierOptions)
  | ({ readonly type: 'factual' } & FactualVerifierOptions)
  | ({ readonly type: 'format' } & FormatVerifierOptions)
  | ({ readonly type: 'language' } & LanguageVerifierOptions)
  | ({ readonly type: 'repetition' } & RepetitionVerifierOptions)
  | ({ readonly type: 'safety-pattern' } & SafetyPatternVerifierOptions)
  | ({ readonly type: 'has-greeting' } & GreetingVerifierOptions)
  | { readonly type: 'no-empty-response' }
  | ({ readonly type: 'contains-keywords' } & KeywordVerifierOptions);

/** Makes a verifier from the rest of its record. Each checks its own options. */
const creators: Readonly<Record<VerifierConfig['type'], (options: never) => Verifier>> = {
  length: (options: LengthVerifierOptions) => new LengthVerifier(options),
  toxicity: (options: ToxicityVerifierOptions) => new ToxicityVerifier(options),
  coherence: (options: CoherenceVerifierOptions) => new CoherenceVerifier(options),
  factual: (options: FactualVerifierOptions) => new FactualVerifier(options),
  format: (options: FormatVerifierOptions) => new FormatVerifier(options),
  language: (options: LanguageVerifierOptions) => new LanguageVerifier(options),
  repetition: (options: RepetitionVerifierOptions) => new RepetitionVerifier(options),
  'safety-pattern': (options: SafetyPatternVerifierOptions) => new SafetyPatternVerifier(options),
  'has-greeting': (options: GreetingVerifierOptions) => new GreetingVerifier(options),
  'no-empty-response': (options: object) => {
    parseOptions('NonEmptyVerifier', z.strictObject({}), options);
    return new NonEmptyVerifier();
  },
  'contains-keywords': (options: KeywordVerifierOptions) => new KeywordVerifier(options),
};

/**
 * A pipeline from records, as read from a file, and from verifiers of one's own, in their order.
 *
 * @throws `OptionsError` naming every record that is wrong and all that is wrong with it.
 */
export function createCustomVerifierPipeline(
  configs: readonly (VerifierConfig | Verifier)[],
  options: Omit<VerificationPipelineOptions, 'verifiers'> = {},
): VerificationPipeline {
  const issues: string[] = [];
  const verifiers = configs.flatMap((config, index) => {
    try {
      return [verifierOf(config)];
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      issues.push(...error.issues.map((issue) => `configs.${index}: ${issue}`));
      return [];
    }
  });
  if (issues.length > 0) throw new OptionsError('createCustomVerifierPipeline', issues);
  return new VerificationPipeline({ ...options, verifiers });
}

/**
 * The pipeline for text of any kind: not empty and at most 4,000 words; toxicity, coherence, facts, repetition and safety
 * patterns with their defaults.
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
  if (!Object.hasOwn(creators, type)) {
    const known = Object.keys(creators).join(', ');
    throw new OptionsError('createCustomVerifierPipeline', [
      `type: expected one of ${known}, got ${JSON.stringify(type)}`,
    ]);
  }
  return creators[type](options as never);
}
