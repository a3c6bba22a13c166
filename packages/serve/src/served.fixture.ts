import type { Sampler } from '@rlp/core';
import { type ScriptedBackendOptions, scriptedBackend } from '@rlp/inference';
import { byteTokenizer, tokenizerChat } from '@rlp/models';
import { onTestFinished } from 'vitest';
import { type ModelServer, type ServeModelOptions, serveModel } from './index.ts';

/** A chat format with tools, as Hermes writes them. */
const chatTemplate = `{% if tools %}<|system|>Call as <tool_call>{...}</tool_call>:{% for tool in tools %} {{ tool.function.name }}{% endfor %}
{% endif %}{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}`;

/** Bytes, so that one character may be several tokens. */
export const byteChatTokenizer = byteTokenizer({ end: '<|end|>' }, { chatTemplate });

/** A policy that says what a script says. */
export function scriptedPolicy(completions: ScriptedBackendOptions['completions']) {
  const renderer = tokenizerChat(byteChatTokenizer, { origin: 'test' })!;
  return scriptedBackend({ completions, tokenizer: byteChatTokenizer, renderer });
}

/** A policy that samples in another way. */
export function sampledBy(sample: Sampler['sample']): ReturnType<typeof scriptedPolicy> {
  return new Proxy(scriptedPolicy(['a']), {
    get: (target, key) => (key === 'sample' ? sample : Reflect.get(target, key)),
  });
}

/** A server that closes when the test ends. */
export async function served(
  policy: ServeModelOptions['policy'],
  options: Partial<ServeModelOptions> = {},
): Promise<ModelServer> {
  const server = await serveModel({ policy, name: 'tiny', closeMs: 2000, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A tool that is offered to the model. */
export const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
} as const;

/** A call as the scripted model writes it. */
export const calling = (city: string, said = '') =>
  `${said}<tool_call>\n{"name": "weather", "arguments": {"city": "${city}"}}\n</tool_call>`;
