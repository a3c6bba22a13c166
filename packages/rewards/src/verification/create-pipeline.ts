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

interface OptionsByType {
  readonly length: LengthVerifierOptions;
  readonly toxicity: ToxicityVerifierOptions;
  readonly coherence: CoherenceVerifierOptions;
  readonly factual: FactualVerifierOptions;
  readonly format: FormatVerifierOptions;
  readonly language: LanguageVerifierOptions;
  readonly repetition: RepetitionVerifierOptions;
  readonly 'safety-pattern': SafetyPatternVerifierOptions;
  readonly 'has-greeting': GreetingVerifierOptions;
  readonly 'no-empty-response': object;
  readonly 'contains-keywords': KeywordVerifierOptions;
}

/** One part of a pipeline as a record, such as `{ type: 'length', minLength: 20, maxLength: 200 }`. */
export type VerifierConfig = {
  [Type in keyof OptionsByType]: {
    /** Kind of verifier. Required. */
    readonly type: Type;
  } & OptionsByType[Type];
}[keyof OptionsByType];

/** Makes a verifier from the rest of its record. Each checks its own options. */
const creators: { [Type in keyof OptionsByType]: (options: OptionsByType[Type]) => Verifier } = {
  length: (options) => new LengthVerifier(options),
  toxicity: (options) => new ToxicityVerifier(options),
  coherence: (options) => new CoherenceVerifier(options),
  factual: (options) => new FactualVerifier(options),
  format: (options) => new FormatVerifier(options),
  language: (options) => new LanguageVerifier(options),
  repetition: (options) => new RepetitionVerifier(options),
  'safety-pattern': (options) => new SafetyPatternVerifier(options),
  'has-greeting': (options) => new GreetingVerifier(options),
  'no-empty-response': (options) => {
    parseOptions('NonEmptyVerifier', z.strictObject({}), options);
    return new NonEmptyVerifier();
  },
  'contains-keywords': (options) => new KeywordVerifier(options),
};

/**
 * A pipeline from records, as read from a file, and from your own verifiers, in their order.
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
 * The pipeline for text of any kind. It checks that a text is not empty and has at most 4,000 words, and its toxicity, coherence, facts,
 * repetition and safety patterns with their defaults.
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
  return (creators[type] as (options: object) => Verifier)(options);
}
