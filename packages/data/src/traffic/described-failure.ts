import { isRecord, jsonText } from '@rlp/core';

/** Letters of a recorded error that a message shows. */
const shownLetters = 120;

/** A recorded error in a few words. */
export function describedFailure(error: unknown): string {
  const text = jsonText(isRecord(error) ? (error.message ?? error) : error);
  return JSON.stringify(text.length > shownLetters ? `${text.slice(0, shownLetters)}…` : text);
}
