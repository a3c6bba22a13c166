import type { Completion, SampleRequest, TokenId } from '@rlp/core';
import type { ServedPolicy } from '../served-policy.ts';

/**
 * Samples as the policy does, but goes on past the model's end tokens, up to `maxTokens` or a stop of the request.
 *
 * Each continuation is a separate request with its own random stream.
 */
export function samplePastEnds(policy: ServedPolicy, request: SampleRequest): Promise<readonly Completion[]> {
  const members = Array.from({ length: request.count }, (_, member) => member);
  return Promise.all(members.map((member) => sampleOne(policy, request, member)));
}

async function sampleOne(policy: ServedPolicy, request: SampleRequest, member: number): Promise<Completion> {
  const { stopTokens = [], onToken, seed } = request;
  const parts: Completion[] = [];
  let prompt: readonly TokenId[] = request.prompt;
  let maxTokens = request.maxTokens;
  while (true) {
    const [part] = await policy.sample({
      ...{ ...request, prompt, maxTokens, count: 1, seed: `${seed}/${member}/${parts.length}` },
      ...(onToken && { onToken: (event) => onToken({ ...event, member }) }),
    });
    parts.push(part!);
    prompt = [...prompt, ...part!.tokens];
    maxTokens -= part!.tokens.length;
    const last = part!.tokens.at(-1)!;
    const isEnd = policy.tokenizer.eosIds.includes(last) && !stopTokens.includes(last);
    if (!isEnd || maxTokens <= 0) return joined(parts, isEnd ? 'length' : part!.stopReason);
  }
}

function joined(parts: readonly Completion[], stopReason: Completion['stopReason']): Completion {
  return {
    tokens: parts.flatMap(({ tokens }) => tokens),
    behaviorLogprobs: parts.flatMap(({ behaviorLogprobs }) => behaviorLogprobs),
    text: parts.map(({ text }) => text).join(''),
    stopReason,
    policyVersion: parts[0]!.policyVersion,
  };
}
