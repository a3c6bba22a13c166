/** Verifiers of text, pipelines of them, and the gate before a reward. */
export * from './verification/index.ts';
