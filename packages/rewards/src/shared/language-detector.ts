import { missingPeer } from '@rlp/core';

/** Names the language of a text by its ISO 639-1 code. `undefined` if it cannot tell. */
export type LanguageDetector = (text: string) => string | undefined;

/**
 * Loads the language detector of `eld`, an optional peer: `npm install eld`. It returns `undefined` if it is not sure.
 *
 * @throws MissingPeerError if eld is not installed.
 */
export async function loadLanguageDetector(): Promise<LanguageDetector> {
  try {
    const { eld } = await import('eld/small');
    return (text) => eld.detect(text.slice(0, 10_000)).language || undefined;
  } catch (cause) {
    throw missingPeer('loadLanguageDetector', 'eld', cause);
  }
}
