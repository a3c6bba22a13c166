import type { RequestError } from './request-error.ts';

/** Words of a driver for what its users can change. */
export interface RemedyWords {
  /** Option with the key, such as `token`. */
  readonly key: string;
  /** How to ask for less, as in "sample less at once". */
  readonly less: string;
  /** What to do where the server does not know what was asked for. */
  readonly missing: string;
}

const byStatus: Readonly<Record<number, (words: RemedyWords) => string>> = {
  400: () => 'correct what it names, or check that it is a server of this kind',
  401: ({ key }) => `check \`${key}\``,
  403: ({ key }) => `check \`${key}\``,
  404: ({ missing }) => missing,
  410: ({ missing }) => missing,
  413: ({ less }) => less,
  422: () => 'correct what it names, or check that it is a server of this kind',
  429: ({ less }) => `the server is busy; ${less}`,
};

function remedyOf({ failure, status = 0 }: RequestError, words: RemedyWords): string {
  if (failure === 'unreachable') return 'check that the server runs and that `url` is its address';
  if (failure === 'timed-out') return `raise \`timeoutMs\`, or ${words.less}`;
  if (failure === 'too-long') return `raise \`maxAnswerBytes\`, or ${words.less}`;
  if (status >= 500) return 'see the log of the server';
  const known = byStatus[status];
  return known?.(words) ?? 'check that `url` leads to a server of this kind, and not to a proxy before it';
}

/** The sentence that a caller sees for a failed request: what came, in the server's words, and what to do. */
export function failureSentence(error: RequestError, words: RemedyWords): string {
  // These messages say what to do.
  if (error.failure === 'untrusted' || error.failure === 'redirected') return error.message;
  const said = error.detail === undefined ? '' : ` ("${error.detail}")`;
  return `${error.message}${said}; ${error.remedy ?? remedyOf(error, words)}`;
}
