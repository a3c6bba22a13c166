import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  LanguageModelV3StreamResult,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { type ChatRenderer, parseOptions, requireArguments, timerMs } from '@rlp/core';
import * as z from 'zod';
import { Admission } from '../admission.ts';
import { Answerer, type Answering } from '../answer/answerer.ts';
import type { AnswerObserver } from '../answer/observer.ts';
import type { Answer, AnswerChoice, FinishReason } from '../answer/request.ts';
import type { AgentConnection } from '../capture/capture-options.ts';
import { answererOf } from '../capture/connections.ts';
import type { ServedPolicy } from '../served-policy.ts';
import { ServedWeights } from '../weights/served-weights.ts';
import { readCall } from './prompt.ts';

const schema = z.strictObject({
  /** Renders conversations. Default: the chat format of the policy. */
  chat: z
    .custom<ChatRenderer>((value) => value !== null && typeof value === 'object' && 'render' in value)
    .optional(),
  /** Milliseconds that an answer may take. Default 600,000. */
  timeoutMs: timerMs.default(600_000),
  /** Names the random draws of calls without a seed. Default `'ai-sdk'`. */
  seed: z.string().default('ai-sdk'),
  /** Told of each call, its tokens and its answer. Default nobody. */
  observer: z.custom<AnswerObserver>((value) => value !== null && typeof value === 'object').optional(),
});

/** Options of {@link rlpProvider}. */
export interface RlpProviderOptions extends z.input<typeof schema> {}

/** Makes models of a policy: `generateText({ model: provider('policy'), … })`. */
export interface RlpProvider {
  (modelId?: string): LanguageModelV3;
  languageModel(modelId?: string): LanguageModelV3;
}

/**
 * A provider of the AI SDK that answers with a policy, without a server.
 *
 * Given the connection that `captureRollouts` passes to an agent, it answers as the connection's address does, and the calls are recorded.
 * The options are then those of the capture.
 *
 * @throws OptionsError naming every problem.
 */
export function rlpProvider(
  source: ServedPolicy | AgentConnection,
  options: RlpProviderOptions = {},
): RlpProvider {
  requireArguments('rlpProvider', { source: 'object' }, source);
  const parsed = parseOptions('rlpProvider', schema, options);
  const answerer = 'sample' in source ? newAnswerer(source, parsed) : answererOf(source);
  const languageModel = (modelId = 'policy') => new PolicyModel(answerer, modelId);
  return Object.assign((modelId?: string) => languageModel(modelId), { languageModel });
}

function newAnswerer(policy: ServedPolicy, { chat, timeoutMs, seed, observer }: z.output<typeof schema>) {
  return new Answerer({
    ...{ policy: chat ? withRenderer(policy, chat) : policy, timeoutMs, observer },
    weights: new ServedWeights({ policy, name: 'policy', otherNames: 'serve' }),
    admission: new Admission({ maxRequests: Number.MAX_SAFE_INTEGER, maxWaiting: 0 }),
    seedOf: (index) => `${seed}/${index}`,
  });
}

/** The policy with another chat format. */
function withRenderer(policy: ServedPolicy, renderer: ChatRenderer): ServedPolicy {
  const { tokenizer, contextLength, vocabularySize } = policy;
  return {
    ...{ tokenizer, contextLength, vocabularySize, renderer },
    get policyVersion() {
      return policy.policyVersion;
    },
    sample: (request) => policy.sample(request),
  };
}

class PolicyModel implements LanguageModelV3 {
  readonly specificationVersion = 'v3' as const;
  readonly provider = 'rlp';
  readonly modelId: string;
  readonly supportedUrls = {};
  readonly #answerer: Answerer;

  constructor(answerer: Answerer, modelId: string) {
    this.#answerer = answerer;
    this.modelId = modelId;
  }

  async doGenerate(options: LanguageModelV3CallOptions): Promise<LanguageModelV3GenerateResult> {
    const { request, warnings } = readCall(options, this.modelId);
    const answer = await this.#answerer.answer(request, options.abortSignal ?? new AbortController().signal);
    const choice = answer.choices[0]!;
    const text: LanguageModelV3Content[] = choice.text === '' ? [] : [{ type: 'text', text: choice.text }];
    return {
      content: [...text, ...callsOf(choice)],
      finishReason: reasonOf(choice.finish),
      usage: usageOf(answer),
      warnings,
    };
  }

  async doStream(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamResult> {
    const { request, warnings } = readCall(options, this.modelId);
    const gone = new AbortController();
    const { abortSignal } = options;
    const signal = abortSignal === undefined ? gone.signal : AbortSignal.any([abortSignal, gone.signal]);
    const answering = await this.#answerer.begin(request, { signal, pieces: 'wanted' });
    const parts = streamParts(answering);
    const stream = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => controller.enqueue({ type: 'stream-start', warnings }),
      async pull(controller) {
        try {
          const next = await parts.next();
          if (next.done === true) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          controller.enqueue({ type: 'error', error });
          controller.close();
        }
      },
      cancel: (reason) => gone.abort(reason),
    });
    return { stream };
  }
}

async function* streamParts(
  answering: Answering,
): AsyncGenerator<LanguageModelV3StreamPart, void, undefined> {
  const id = '0';
  let isOpen = false;
  for await (const piece of answering.pieces) {
    if (piece.type === 'text') {
      if (!isOpen) yield { type: 'text-start', id };
      isOpen = true;
      yield { type: 'text-delta', id, delta: piece.text };
      continue;
    }
    if (isOpen) yield { type: 'text-end', id };
    for (const call of callsOf(piece.choice)) {
      yield { type: 'tool-input-start', id: call.toolCallId, toolName: call.toolName };
      yield { type: 'tool-input-delta', id: call.toolCallId, delta: call.input };
      yield { type: 'tool-input-end', id: call.toolCallId };
      yield call;
    }
    const answer = await answering.answer;
    yield { type: 'finish', finishReason: reasonOf(piece.choice.finish), usage: usageOf(answer) };
  }
}

function callsOf({ calls }: AnswerChoice) {
  return calls.map(({ id, function: { name, arguments: input } }) => ({
    ...{ type: 'tool-call' as const, toolCallId: id, toolName: name, input },
  }));
}

function reasonOf(finish: FinishReason): LanguageModelV3FinishReason {
  return { unified: finish === 'tool_calls' ? 'tool-calls' : finish, raw: finish };
}

function usageOf({ promptTokens, choices }: Answer): LanguageModelV3Usage {
  const [prompt, sampled] = [promptTokens.length, choices[0]!.tokens.length];
  return {
    inputTokens: { total: prompt, noCache: prompt, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: sampled, text: sampled, reasoning: undefined },
  };
}
