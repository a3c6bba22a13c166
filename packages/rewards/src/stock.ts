/** Stock rewards: answers, formats, length, repetition, overlap, tool calls and code tests. */
export * from './stock/index.ts';
