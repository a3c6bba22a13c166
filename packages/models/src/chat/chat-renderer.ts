import { parse, Template, tokenize } from '@huggingface/jinja';
import {
  ArgumentError,
  type ChatRenderer,
  type ChatRenderOptions,
  FormatError,
  type Message,
  parseToolCalls,
  type TokenId,
  type Tokenizer,
} from '@rlp/core';

import { strftime } from './strftime.ts';

/** How a conversation is rendered by a model's own template. */
export interface TemplateRenderOptions extends ChatRenderOptions {
  /** Further variables of the template, such as `{ enable_thinking: false }`; they win over all others. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** A chat renderer that runs a Jinja template. */
export interface TemplateChatRenderer extends ChatRenderer {
  render(messages: readonly Message[], options?: TemplateRenderOptions): TokenId[];
  /** The text whose tokens `render` gives. */
  renderText(messages: readonly Message[], options?: TemplateRenderOptions): string;
  /** Source of the template. */
  readonly template: string;
}

/** Options of {@link chatRenderer}. */
export interface ChatRendererOptions {
  /** Time for templates that print today's date. Without it such a template is an error, so that prompts stay reproducible. */
  readonly clock?: () => Date;
  /** Variables of every rendering, such as `bos_token` and `eos_token`. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /**
   * Arguments of tool calls, JSON text in a message, as templates get them: `'parsed'` (default) into objects, which most
   * templates and inference servers expect, or as `'text'`.
   */
  readonly toolArguments?: 'parsed' | 'text';
  /** Where the template came from, for error messages. Default `'chat template'`. */
  readonly origin?: string;
}

/**
 * A renderer for a Hugging Face chat template.
 *
 * Special tokens that the template writes are recognised; none are added.
 *
 * @throws FormatError if the template is not valid Jinja. Rendering throws an ArgumentError if the template refuses the
 *   messages (`raise_exception`) or asks for the date and there is no clock.
 */
export function chatRenderer(
  tokenizer: Tokenizer,
  template: string,
  options: ChatRendererOptions = {},
): TemplateChatRenderer {
  const origin = options.origin ?? 'chat template';
  const compiled = compile(template, origin);
  const { clock } = options;
  const strftimeNow = (format: string) => {
    if (clock) return strftime(clock(), format);
    throw new ArgumentError("the template prints today's date; pass a clock");
  };
  const renderText = (messages: readonly Message[], rendering: TemplateRenderOptions = {}) => {
    try {
      return compiled.render({
        [CLOCKED]: strftimeNow,
        messages: messages.map((message) => templateMessage(message, options.toolArguments ?? 'parsed')),
        add_generation_prompt: rendering.generationPrompt !== 'none',
        ...(rendering.tools && { tools: rendering.tools }),
        ...options.variables,
        ...rendering.variables,
      });
    } catch (cause) {
      throw new ArgumentError(`${origin}: cannot render the messages (${(cause as Error).message})`, {
        cause,
      });
    }
  };
  return {
    template,
    renderText,
    render: (messages, rendering) =>
      tokenizer.encode(renderText(messages, rendering), { specialTokens: 'none' }),
    ...(template.includes('<tool_call>') && { parseToolCalls: (text: string) => parseToolCalls(text) }),
  };
}

/** Our name for `strftime_now`: the library's own reads the system's clock and cannot be redefined. */
const CLOCKED = 'strftime_now_by_clock';

function compile(template: string, origin: string): Template {
  try {
    const tokens = tokenize(template, { lstrip_blocks: true, trim_blocks: true });
    for (const token of tokens) {
      if (token.type === 'Identifier' && token.value === 'strftime_now') token.value = CLOCKED;
    }
    const compiled = new Template('');
    compiled.parsed = parse(tokens);
    return compiled;
  } catch (cause) {
    const problem = `not a valid Jinja template (${(cause as Error).message})`;
    throw new FormatError(`${origin}: ${problem}; correct chat_template`, { cause });
  }
}

/** A message as templates expect it: without absent fields, tool arguments as asked for. */
function templateMessage(message: Message, toolArguments: 'parsed' | 'text'): Record<string, unknown> {
  const fields = Object.entries(message).filter(([, value]) => value !== undefined);
  if (toolArguments === 'text') return Object.fromEntries(fields);
  const calls = message.tool_calls?.map((call) => ({
    ...call,
    ...(call.function && { function: withParsedArguments(call.function) }),
  }));
  return { ...Object.fromEntries(fields), ...(calls && { tool_calls: calls }) };
}

function withParsedArguments<Call extends { readonly arguments: unknown }>(call: Call): Call {
  if (typeof call.arguments !== 'string') return call;
  try {
    return { ...call, arguments: JSON.parse(call.arguments) };
  } catch {
    return call;
  }
}
