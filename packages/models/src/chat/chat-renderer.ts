import { Template } from '@huggingface/jinja';
import {
  ArgumentError,
  type ChatRenderer,
  type ChatRenderOptions,
  FormatError,
  type Message,
  type TokenId,
  type Tokenizer,
} from '@rlp/core';

import { strftime } from './strftime.ts';

/** How a conversation is rendered by a model's own template. */
export interface TemplateRenderOptions extends ChatRenderOptions {
  /** Further variables of the template, such as `{ enable_thinking: false }`. */
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
  /** Where the template came from, for error messages. Default `'chat template'`. */
  readonly origin?: string;
}

/**
 * A renderer for a Hugging Face chat template.
 *
 * Arguments of tool calls are JSON text in a message and an object in templates: they are parsed before rendering.
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
        ...options.variables,
        ...rendering.variables,
        strftime_now: strftimeNow,
        messages: messages.map(templateMessage),
        add_generation_prompt: rendering.generationPrompt !== 'none',
        ...(rendering.tools && { tools: rendering.tools }),
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
  };
}

function compile(template: string, origin: string): Template {
  try {
    return new Template(template);
  } catch (cause) {
    const problem = `not a valid Jinja template (${(cause as Error).message})`;
    throw new FormatError(`${origin}: ${problem}; correct chat_template`, { cause });
  }
}

/** A message as templates expect it: without absent fields, tool arguments as objects. */
function templateMessage(message: Message): Record<string, unknown> {
  const fields = Object.entries(message).filter(([, value]) => value !== undefined);
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
