import type { ChatRenderer, SamplingOptions, TokenId } from '@rlp/core';
import { plural } from '@rlp/core';
import { ApiError } from '../api-error.ts';
import type { ServedPolicy } from '../served-policy.ts';
import { forcedCall } from './forced-call.ts';
import type { AskedRequest } from './observer.ts';
import type { AnswerRequest, Conversation } from './request.ts';

/** Renders a conversation to the tokens that the model sees. */
export type RenderConversation = (conversation: Conversation, renderer: ChatRenderer) => readonly TokenId[];

/** Renders by the chat template of the model. */
export function renderByTemplate(
  { messages, tools, templateVariables: variables }: Conversation,
  renderer: ChatRenderer,
  generationPrompt: 'add' | 'none' = 'add',
): readonly TokenId[] {
  const options = { generationPrompt, ...(tools && { tools }), ...(variables && { variables }) };
  return renderer.render(messages, options);
}

/** What a request is completed with. */
export interface AskingOptions {
  readonly policy: ServedPolicy;
  readonly index: number;
  readonly model: string;
  readonly seed: string;
  readonly render: RenderConversation;
  readonly sampling: Partial<SamplingOptions> | undefined;
}

/**
 * The request as it goes to the sampler.
 *
 * @throws ApiError for a prompt that is empty, too long or not of this model.
 */
export function askedRequest(request: AnswerRequest, options: AskingOptions): AskedRequest {
  const { policy, index, model, seed } = options;
  const { promptTokens, ...shown } = prompted(request.prompt, options);
  requireFitting(promptTokens, policy, 1);
  const room = policy.contextLength - promptTokens.length;
  const sampling = { ...request.sampling, ...options.sampling };
  const maxTokens = Math.min(sampling.maxTokens ?? room, room);
  return {
    ...{ index, model, promptTokens, prefix: '', ...shown },
    ...{ sampling: { ...sampling, maxTokens }, count: request.count ?? 1, seed },
  };
}

type Prompted = Pick<AskedRequest, 'promptTokens' | 'messages' | 'tools'> & { readonly prefix?: string };

function prompted(prompt: AnswerRequest['prompt'], { policy, render }: AskingOptions): Prompted {
  const { tokenizer, renderer } = policy;
  if (typeof prompt === 'string') return { promptTokens: tokenizer.encode(prompt) };
  if (!('messages' in prompt)) return { promptTokens: prompt };
  if (renderer === undefined) {
    throw new ApiError(400, 'this model has no chat template, so it cannot chat; use /v1/completions');
  }
  const { messages } = prompt;
  if (messages.length === 0) throw new ApiError(400, 'expected at least one message', { param: 'messages' });
  const tools = offered(prompt);
  const promptTokens = render({ ...prompt, tools }, renderer);
  if (tools === undefined) return { promptTokens, messages };
  const shown = () => tokenizer.decode(promptTokens, { specialTokens: 'keep' });
  const prefix = forcedCall(renderer, shown, prompt.toolChoice);
  if (prefix === '') return { promptTokens, messages, tools };
  const forced = tokenizer.encode(prefix, { specialTokens: 'none' });
  return { promptTokens: [...promptTokens, ...forced], messages, tools, prefix };
}

/** Tools that the model is shown. */
function offered({ tools, toolChoice = 'auto' }: Conversation): Conversation['tools'] {
  const isNamed = typeof toolChoice === 'object';
  const known = tools?.filter((tool) => !isNamed || tool.function.name === toolChoice.name);
  if (toolChoice === 'none') return undefined;
  if (known !== undefined && known.length > 0) return known;
  if (toolChoice === 'auto') return undefined;
  const wanted = isNamed ? `the tool "${toolChoice.name}"` : 'a tool';
  throw new ApiError(400, `tool_choice: expected ${wanted} in tools, got none`, { param: 'tool_choice' });
}

/** @throws ApiError for tokens that are not of the model, or leave no room for `answer` tokens. */
export function requireFitting(promptTokens: readonly TokenId[], policy: ServedPolicy, answer: 0 | 1): void {
  const { contextLength, vocabularySize } = policy;
  if (promptTokens.length === 0) throw new ApiError(400, 'expected a prompt of at least one token, got none');
  if (promptTokens.length + answer > contextLength) {
    const room = answer === 0 ? '' : ', one of them for the answer';
    throw new ApiError(
      400,
      `the prompt has ${plural(promptTokens.length, 'token')}, and the model holds ${contextLength}${room}; shorten the prompt`,
      { code: 'context_length_exceeded', param: 'messages' },
    );
  }
  const unknown = promptTokens.find(
    (token) => !Number.isInteger(token) || token < 0 || token >= vocabularySize,
  );
  if (unknown === undefined) return;
  throw new ApiError(400, `token ${unknown} of the prompt is outside the vocabulary of ${vocabularySize}`);
}
