import { type Message, requireArguments, turnContinuation } from '@rlp/core';

import { type ChatRendererOptions, type TemplateChatRenderer, templateText } from './chat-renderer.ts';

/** What a template does with a part of a conversation. `'refused'` means that it throws. */
export type TemplateHandling = 'printed' | 'dropped' | 'refused';

/** How a conversation can be extended after an assistant's turn. */
export interface HistorySupport {
  /** With rollouts of `history: 'sampled'`: one training row, or none because the template refuses the conversation. */
  readonly sampled: 'one-row' | 'refused';
  /** With rollouts of `history: 'template'`: a template that rewrites earlier turns gives a row per turn. */
  readonly rendered: 'one-row' | 'row-per-turn' | 'refused';
  /** Why it is refused. */
  readonly reason?: string | undefined;
}

/** What a chat template supports. */
export interface ChatTemplateDescription {
  /** A system message at the beginning. */
  readonly system: TemplateHandling;
  /** Two user messages in a row. */
  readonly consecutiveUsers: TemplateHandling;
  /** Schemas of tools offered to the model. */
  readonly tools: TemplateHandling;
  /** `tool_calls` of an assistant message. */
  readonly toolCalls: TemplateHandling;
  /** Two tool calls in one assistant message. */
  readonly parallelToolCalls: TemplateHandling;
  /** Form of tool arguments that renders correctly: the option `toolArguments` of {@link chatRenderer}. */
  readonly toolArguments: 'parsed' | 'text' | 'either' | 'none';
  /** A message of the role `tool`. */
  readonly toolRole: TemplateHandling;
  readonly reasoning: {
    /** Reasoning between `<think>` and `</think>` in the content of an earlier turn. */
    readonly inHistory: 'kept' | 'stripped' | 'refused';
    /** The field `reasoning_content` of the last message. */
    readonly field: TemplateHandling;
    /** Whether the header of the assistant's turn opens a think block. */
    readonly opened: boolean;
  };
  /** Header of the assistant's turn. Empty if the template ignores `add_generation_prompt`. */
  readonly generationPrompt: string;
  /** What ends an assistant's turn. Empty if only the next message ends it. */
  readonly turnEnd: string;
  /** Whether `{% generation %}` marks the assistant's text. */
  readonly generationBlock: boolean;
  /** Whether the template prints the date and so needs a clock. */
  readonly date: boolean;
  readonly history: {
    /** The user answers. */
    readonly dialogue: HistorySupport;
    /** The user answers a response that contains reasoning. */
    readonly reasoning: HistorySupport;
    /** A tool answers a response that calls it. `rendered` compares what precedes the calls. */
    readonly tools: HistorySupport;
  };
}

/** Options of {@link describeChatTemplate}. */
export type DescribeTemplateOptions = Pick<ChatRendererOptions, 'variables'>;

/**
 * Describes what a chat template supports, by rendering small conversations.
 *
 * @param template - The template, or a renderer such as `model.chat`.
 * @throws FormatError if the template is not valid Jinja.
 */
export function describeChatTemplate(
  template: string | TemplateChatRenderer,
  options: DescribeTemplateOptions = {},
): ChatTemplateDescription {
  requireArguments('describeChatTemplate', { template: 'given', options: 'object?' }, template, options);
  const probe = new TemplateProbe(template, options);
  const generationPrompt = probe.generationPrompt();
  return {
    system: probe.handling([{ role: 'system', content: 'Marmalade' }, QUESTION], ['Marmalade', 'question']),
    consecutiveUsers: probe.handling(
      [QUESTION, { role: 'user', content: 'Marmalade' }],
      ['question', 'Marmalade'],
    ),
    tools: probe.handling([QUESTION], ['marmalade_jar'], [TOOL]),
    toolCalls: probe.handling([QUESTION, calling('spoon')], ['spoon']),
    parallelToolCalls: probe.handling([QUESTION, calling('spoon', 'knife')], ['spoon', 'knife']),
    toolArguments: probe.toolArguments(),
    toolRole: probe.handling([QUESTION, calling('spoon'), RESULT], [RESULT.content]),
    reasoning: {
      inHistory: REASONING_IN_HISTORY[probe.handling([QUESTION, THOUGHT, MORE], ['Pondering'])],
      field: probe.handling([QUESTION, REASONED], ['Pondering']),
      opened: /<think>\s*$/.test(generationPrompt),
    },
    generationPrompt,
    turnEnd: probe.turnEnd(),
    generationBlock: /\{%-?\s*generation\b/.test(probe.source),
    date: probe.isDated(),
    history: {
      dialogue: probe.history(ANSWER, [MORE]),
      reasoning: probe.history(THOUGHT, [MORE]),
      tools: probe.history(calling('spoon'), [RESULT]),
    },
  };
}

const QUESTION: Message = { role: 'user', content: 'A question' };
const ANSWER: Message = { role: 'assistant', content: 'An answer' };
const MORE: Message = { role: 'user', content: 'One more' };
const THOUGHT: Message = { role: 'assistant', content: '<think>\nPondering\n</think>\n\nAn answer' };
const REASONED = { role: 'assistant', content: 'An answer', reasoning_content: 'Pondering' } as Message;
const RESULT: Message = { role: 'tool', name: 'spoon', tool_call_id: 'abcdefgh0', content: '4711' };
const TOOL = {
  type: 'function',
  function: {
    name: 'marmalade_jar',
    description: 'Opens a jar.',
    parameters: { type: 'object', properties: { lid: { type: 'string', description: 'Which lid.' } } },
  },
};
const REASONING_IN_HISTORY = { printed: 'kept', dropped: 'stripped', refused: 'refused' } as const;
const FORMS = ['parsed', 'text'] as const;

function calling(...names: string[]): Message {
  const tool_calls = names.map(
    (name, index) =>
      ({
        id: `abcdefgh${index}`,
        type: 'function',
        function: { name, arguments: '{"lid": "Copper"}' },
      }) as const,
  );
  return { role: 'assistant', content: '', tool_calls };
}

type Rendered = { readonly text: string } | { readonly problem: string };

/** Renders conversations with one template. */
class TemplateProbe {
  readonly source: string;
  readonly #renderers: ReadonlyMap<'parsed' | 'text', TemplateChatRenderer['renderText']>;
  #readsClock = false;

  constructor(template: string | TemplateChatRenderer, options: DescribeTemplateOptions) {
    const { template: source, variables: own } =
      typeof template === 'string' ? { template, variables: {} } : template;
    this.source = source;
    const variables = { ...own, ...options.variables };
    const clock = () => {
      this.#readsClock = true;
      return new Date(0);
    };
    this.#renderers = new Map(
      FORMS.map((toolArguments) => [
        toolArguments,
        templateText(source, { variables, clock, toolArguments }),
      ]),
    );
  }

  handling(
    messages: readonly Message[],
    words: readonly string[],
    tools?: readonly unknown[],
  ): TemplateHandling {
    const rendered = this.#render(messages, 'add', tools);
    if ('problem' in rendered) return 'refused';
    return words.every((word) => rendered.text.includes(word)) ? 'printed' : 'dropped';
  }

  toolArguments(): ChatTemplateDescription['toolArguments'] {
    const [parsed, text] = FORMS.map((form) => {
      const rendered = this.#renderAs(form, [QUESTION, calling('spoon')], 'none');
      if ('problem' in rendered || !rendered.text.includes('Copper')) return false;
      return !/\\"|\[object|"\{/.test(rendered.text);
    });
    if (parsed && text) return 'either';
    return parsed ? 'parsed' : text ? 'text' : 'none';
  }

  generationPrompt(): string {
    const [open, closed] = [this.#render([QUESTION], 'add'), this.#render([QUESTION], 'none')];
    if ('problem' in open || 'problem' in closed || !open.text.startsWith(closed.text)) return '';
    return open.text.slice(closed.text.length);
  }

  turnEnd(): string {
    const continuation = this.#continuation([QUESTION, ANSWER, MORE]);
    return continuation.refusal === undefined ? continuation.turnEnd : '';
  }

  isDated(): boolean {
    this.#render([QUESTION], 'add');
    return this.#readsClock;
  }

  history(answer: Message, replies: readonly Message[]): HistorySupport {
    const conversation = [QUESTION, answer, ...replies];
    const rendered = this.#render(conversation, 'add');
    if ('problem' in rendered) return { sampled: 'refused', rendered: 'refused', reason: rendered.problem };
    const prompt = this.#render([QUESTION], 'add');
    const before = 'text' in prompt ? prompt.text + answer.content : '';
    const { refusal: reason } = this.#continuation(conversation);
    return {
      sampled: reason === undefined ? 'one-row' : 'refused',
      rendered: before !== '' && rendered.text.startsWith(before) ? 'one-row' : 'row-per-turn',
      reason,
    };
  }

  #continuation(messages: readonly Message[]) {
    return turnContinuation(
      (all, generationPrompt) => {
        const rendered = this.#render(all, generationPrompt);
        if ('problem' in rendered) throw new Error(rendered.problem);
        return rendered.text;
      },
      messages,
      1,
    );
  }

  /** With tool arguments as objects, or as text if the template refuses objects. */
  #render(
    messages: readonly Message[],
    generationPrompt: 'add' | 'none',
    tools?: readonly unknown[],
  ): Rendered {
    const parsed = this.#renderAs('parsed', messages, generationPrompt, tools);
    if ('text' in parsed) return parsed;
    const text = this.#renderAs('text', messages, generationPrompt, tools);
    return 'text' in text ? text : parsed;
  }

  #renderAs(
    form: 'parsed' | 'text',
    messages: readonly Message[],
    generationPrompt: 'add' | 'none',
    tools?: readonly unknown[],
  ): Rendered {
    try {
      return { text: this.#renderers.get(form)!(messages, { generationPrompt, ...(tools && { tools }) }) };
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }
}
