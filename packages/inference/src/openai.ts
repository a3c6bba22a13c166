/**
 * Uses any server with OpenAI's chat completions. It sends and receives text, so it evaluates, judges and simulates users. It cannot train,
 * because a chat endpoint does not return the sampled tokens.
 */
export { type ChatAgentPolicyOptions, chatAgentPolicy } from './agent-policy.ts';
