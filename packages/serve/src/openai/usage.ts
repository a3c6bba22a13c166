import type { Answer } from '../answer/request.ts';

/** Numbers of tokens, as OpenAI names them. */
export function usageOf({ promptTokens, choices }: Pick<Answer, 'promptTokens' | 'choices'>) {
  const completion = choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  return {
    prompt_tokens: promptTokens.length,
    completion_tokens: completion,
    total_tokens: promptTokens.length + completion,
  };
}
