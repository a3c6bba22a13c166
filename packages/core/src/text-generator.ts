import type { Message } from './message.ts';
import { requireFields } from './options/require-arguments.ts';
import type { Sampler, SamplingOptions } from './sampler.ts';
import type { ChatRenderer } from './tokenizer.ts';

/** How one text is generated. */
export interface TextGenerationOptions {
  /** Differs from call to call. A model that samples by it gives equal texts for equal seeds. */
  readonly seed: string;
  /** Ends the call. */
  readonly signal: AbortSignal;
}

/**
 * A model that answers a conversation with text: all that a judge or a simulated user needs. Any HTTP client fits, and
 * {@link samplerGenerator} makes one of a `Sampler`. It may reject. It should once `signal` aborts.
 */
export type TextGenerator = (messages: readonly Message[], options: TextGenerationOptions) => Promise<string>;

/** What {@link samplerGenerator} is made of. */
export interface SamplerGeneratorOptions extends SamplingOptions {
  /** Samples the answer. Required. */
  readonly sampler: Sampler;
  /** The chat format of the sampler's model. */
  readonly renderer: ChatRenderer;
}

/** A {@link TextGenerator} that renders the conversation and samples one completion of it. */
export function samplerGenerator(options: SamplerGeneratorOptions): TextGenerator {
  requireFields('samplerGenerator', { sampler: 'object', renderer: 'object', maxTokens: 'number' }, options);
  const { sampler, renderer, ...sampling } = options;
  return async (messages, { seed, signal }) => {
    const prompt = renderer.render(messages);
    const [completion] = await sampler.sample({ ...sampling, prompt, count: 1, seed, signal });
    return completion!.text;
  };
}
