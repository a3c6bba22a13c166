import { parseOptions, type StopReason, type TokenId } from '@rlp/core';
import * as z from 'zod';
import { samplingFields } from './sampling/options.ts';

/** Text of one completion that has become certain. */
export interface TextEvent {
  /** Index of the prompt. */
  readonly prompt: number;
  /** Index of the completion among those of its prompt. */
  readonly member: number;
  readonly text: string;
}

/** One completion as text. */
export interface GeneratedText {
  /** Text without the end token, cut before a stop string. */
  readonly text: string;
  /** All sampled tokens. Shape: `[T]`. */
  readonly tokens: readonly TokenId[];
  /** `ln π(tokens[t] | …)` at the sampling temperature before filters. Shape: `[T]`. */
  readonly logprobs: readonly number[];
  /** The prompt as the model saw it. Shape: `[P]`. */
  readonly promptTokens: readonly TokenId[];
  readonly stopReason: StopReason;
  readonly policyVersion: number;
  /** Index of the prompt, and of the completion among those of its prompt. */
  readonly prompt: number;
  readonly member: number;
}

const schema = z.strictObject({
  ...samplingFields,
  /** Maximum tokens of a completion. Default 100. */
  maxTokens: samplingFields.maxTokens.default(100),
  /** Completions per prompt. Default 1. */
  count: z.int().positive().default(1),
  /**
   * Name of the random streams. Equal seeds give equal completions. Prompt `i` samples with seed `<seed>/<i>`.
   * Default `generate/<n>` for the module's n-th call, so each call differs and a rerun of the program repeats them.
   */
  seed: z.string().optional(),
});

/** Options of {@link InferenceModule.generate}. */
export interface GenerateOptions extends z.input<typeof schema> {
  /** Signal that stops generation. The promise rejects with its reason. Default none. */
  readonly signal?: AbortSignal | undefined;
  /** Callback for the text of each completion, in whole characters and never part of a stop string. Default none. */
  readonly onText?: ((event: TextEvent) => void) | undefined;
}

/** {@link GenerateOptions} with every default filled in. */
export type ResolvedGenerateOptions = z.output<typeof schema>;

/** Checks the data in the options and fills in defaults. @throws OptionsError naming every problem at once. */
export function resolveGenerateOptions(options: GenerateOptions): ResolvedGenerateOptions {
  const { signal: _signal, onText: _onText, ...data } = options;
  return parseOptions('generate', schema, data);
}
