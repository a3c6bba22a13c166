/** A provider of the AI SDK whose model is your policy, in this process. Needs the package `ai` 6, or another reader of its model interface. */

export { type RlpProvider, type RlpProviderOptions, rlpProvider } from './ai-sdk/provider.ts';
