/**
 * Asks any server with OpenAI's chat completions. It takes and gives text, so it evaluates, judges and plays users. It cannot train: a chat endpoint
 * does not give the tokens that were sampled.
 */
export { type ChatAgentPolicyOptions, chatAgentPolicy } from './agent-policy.ts';
