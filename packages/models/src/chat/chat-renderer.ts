import {
  ArgumentError,
  type ChatRenderer,
  type ChatRenderOptions,
  FormatError,
  type Message,
  parseToolCalls,
  requireArguments,
  type TokenId,
  type Tokenizer,
  type ToolCallFormat,
  toolCallFormatNames,
  toolCallFormats,
} from '@rlp/core';

import { compileTemplate, type TemplateFunctions } from './limited-template.ts';
import { strftime } from './strftime.ts';
import { readJson } from './template-values.ts';

/** Options of one rendering. */
export interface TemplateRenderOptions extends ChatRenderOptions {
  /** Further variables of the template, such as `{ enable_thinking: false }`. They override all others. Default none. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** A chat renderer that runs a Jinja template. */
export interface TemplateChatRenderer extends ChatRenderer {
  render(messages: readonly Message[], options?: TemplateRenderOptions): TokenId[];
  /** The text whose tokens `render` returns. */
  renderText(messages: readonly Message[], options?: TemplateRenderOptions): string;
  /** Source of the template. */
  readonly template: string;
  /** Variables of every rendering. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Options of {@link chatRenderer}. */
export interface ChatRendererOptions {
  /** Clock for templates that print the date. Without it such a template throws, so prompts stay reproducible. Default none. */
  readonly clock?: (() => Date) | undefined;
  /** Variables of every rendering, such as `bos_token` and `eos_token`. Default none. */
  readonly variables?: Readonly<Record<string, unknown>>;
  /**
   * Form of the arguments of tool calls, which are JSON text in a message. Most templates and inference servers expect
   * objects (`'parsed'`), some expect the `'text'`. Parsed numbers are printed as Python prints them: whole ones of any
   * length, and `1.0` as `1.0`. Default `'parsed'`.
   */
  readonly toolArguments?: 'parsed' | 'text';
  /** Source of the template, for error messages. Default `'chat template'`. */
  readonly origin?: string;
}

/**
 * Compiles a Hugging Face chat template.
 *
 * Special tokens that the template writes are recognised. None are added.
 *
 * A template may come from anywhere. A rendering that takes too many steps or makes too large values is refused.
 *
 * @throws FormatError if the template is not valid Jinja. Rendering throws an ArgumentError if the template refuses the
 *   messages (`raise_exception`), or prints the date and has no clock.
 */
export function chatRenderer(
  tokenizer: Tokenizer,
  template: string,
  options: ChatRendererOptions = {},
): TemplateChatRenderer {
  requireArguments(
    'chatRenderer',
    { tokenizer: 'object', template: 'text', options: 'object?' },
    tokenizer,
    template,
    options,
  );
  const renderText = templateText(template, options);
  return {
    template,
    variables: options.variables ?? {},
    renderText,
    render: (messages, rendering) =>
      tokenizer.encode(renderText(messages, rendering), { specialTokens: 'none' }),
    ...(writesCalls(template) && { parseToolCalls: (text: string) => parseToolCalls(text) }),
  };
}

/** Whether a template knows the marks of a format of tool calls. */
function writesCalls(template: string): boolean {
  return toolCallFormatNames.some((name) => {
    const { mark }: ToolCallFormat = toolCallFormats[name];
    return mark !== undefined && template.includes(mark);
  });
}

/** Compiles a template to a function from messages to text. Throws as {@link chatRenderer} does. */
export function templateText(
  template: string,
  { clock, variables, toolArguments = 'parsed', origin = 'chat template' }: ChatRendererOptions,
): TemplateChatRenderer['renderText'] {
  const strftimeNow = (format: string) => {
    if (clock) return strftime(clock(), format);
    throw new ArgumentError('the template prints the date; pass a clock');
  };
  const render = compile(template, origin, { strftime_now: strftimeNow });
  return (messages, rendering = {}) => {
    try {
      return render({
        messages: messages.map((message) => templateMessage(message, toolArguments)),
        add_generation_prompt: rendering.generationPrompt !== 'none',
        ...(rendering.tools && { tools: rendering.tools }),
        ...variables,
        ...rendering.variables,
      });
    } catch (cause) {
      throw new ArgumentError(`${origin}: cannot render the messages (${(cause as Error).message})`, {
        cause,
      });
    }
  };
}

function compile(template: string, origin: string, functions: TemplateFunctions) {
  try {
    return compileTemplate(template, functions);
  } catch (cause) {
    const problem = `not a valid Jinja template (${(cause as Error).message})`;
    throw new FormatError(`${origin}: ${problem}; correct chat_template`, { cause });
  }
}

/** Converts a message to what templates expect: no undefined fields, and tool arguments in the requested form. */
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
    return { ...call, arguments: readJson(call.arguments) };
  } catch {
    return call;
  }
}
