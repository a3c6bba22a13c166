import {
  type ChatRenderer,
  type ToolCallFormat,
  type ToolCallFormatName,
  toolCallFormatNames,
  toolCallFormats,
} from '@rlp/core';
import { ApiError } from '../api-error.ts';
import type { ToolChoice } from './request.ts';

/** Name that a call is written with, to see where the name goes. */
const place = 'rlpname';

/**
 * How an answer that has to call a tool begins. The engine does not constrain decoding, so the prompt ends with this text.
 *
 * @param shown - The prompt as text. Templates without source are recognised by the marks in it.
 * @throws ApiError if the chat template shows no form of calls.
 */
export function forcedCall(
  renderer: ChatRenderer,
  shown: () => string,
  choice: ToolChoice | undefined,
): string {
  if (choice === undefined || choice === 'auto' || choice === 'none') return '';
  const source =
    'template' in renderer && typeof renderer.template === 'string' ? renderer.template : shown();
  const format = formatIn(source);
  if (format === undefined) {
    throw new ApiError(
      400,
      'tool_choice: the chat template of this model does not show how it calls tools, so a call cannot be forced; use "auto"',
      { param: 'tool_choice' },
    );
  }
  const written = toolCallFormats[format].write([{ name: place, arguments: {} }]);
  const at = written.indexOf(place);
  return written.slice(0, at) + (choice === 'required' ? '' : choice.name);
}

function formatIn(template: string): ToolCallFormatName | undefined {
  const marked = toolCallFormatNames.find((name) => {
    const { mark }: ToolCallFormat = toolCallFormats[name];
    return mark !== undefined && template.includes(mark);
  });
  // Templates of Llama 3 have no mark, and name the arguments "parameters".
  return marked ?? (/["']parameters["']/.test(template) ? 'llama3' : undefined);
}
