import { ArgumentError, parseOptions, type State, type Task, withForeignNames } from '@rlp/core';
import * as z from 'zod';
import { BaseEnvironment } from './base-environment.ts';

const schema = withForeignNames(
  z.strictObject({
    /** Prompts of tasks without metadata. Read the tasks from `tasks`. Default none. */
    prompts: z.array(z.string().min(1)).readonly().default([]),
    /** Responses per episode. Default 1. */
    maxTurns: z.int().min(1).default(1),
  }),
  { maxTurns: 'max_steps' },
);

/** Options of {@link SimpleTextEnvironment}. */
export interface SimpleTextOptions extends z.input<typeof schema> {}

/** State of a text that grows. */
export interface TextState extends State {
  readonly prompt: string;
  /** The prompt and every response so far. */
  readonly transcript: string;
}

/**
 * A prompt and its completion. With `maxTurns` above 1, each further response continues the text so far.
 *
 * @throws OptionsError naming every problem at once.
 */
export class SimpleTextEnvironment<Metadata = unknown> extends BaseEnvironment<TextState, Metadata> {
  /** One task per prompt given, with ids `prompt-0`, `prompt-1`, …. Put them in a `taskSource`. */
  readonly tasks: readonly Task<undefined>[];
  readonly #maxTurns: number;

  constructor(options: SimpleTextOptions = {}) {
    super();
    const { prompts, maxTurns } = parseOptions('SimpleTextEnvironment', schema, options, 'SimpleTextOptions');
    this.tasks = prompts.map((prompt, index) => ({ id: `prompt-${index}`, prompt, metadata: undefined }));
    this.#maxTurns = maxTurns;
  }

  /** @throws ArgumentError for a task whose prompt is a conversation. */
  override reset({ id, prompt }: Task<Metadata>): TextState {
    if (typeof prompt !== 'string') {
      throw new ArgumentError(
        `SimpleTextEnvironment: task "${id}" has messages as its prompt, expected text: use ConversationEnvironment`,
      );
    }
    return { prompt, response: '', stepCount: 0, transcript: prompt };
  }

  override isTerminal({ stepCount }: TextState): boolean {
    return stepCount >= this.#maxTurns;
  }

  override buildPrompt({ transcript }: TextState): string {
    return transcript;
  }

  override updateState(state: TextState, response: string): TextState {
    return {
      ...state,
      response,
      stepCount: state.stepCount + 1,
      transcript: state.transcript + response,
    };
  }
}
