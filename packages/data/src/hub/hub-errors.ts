import { ArgumentError, messageOf, NetworkError, RlpError, rootCause } from '@rlp/core';
import type { HubRepository } from './hub-cache.ts';
import type { ResolvedHubOptions } from './hub-options.ts';

/** The status of an answer of the hub that is an error. */
function statusOf(error: unknown): number | undefined {
  const status = (error as { readonly statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

/** Whether trying again may help: no answer, a cut download, or a hub that is busy. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RlpError) return error.name === 'TimeoutError';
  const status = statusOf(error);
  return status === undefined
    ? codeOf(error) === undefined || isNetwork(error)
    : status === 429 || status >= 500;
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException | null)?.code;

/** Errors of `fetch` have the system's code in their cause. Those of files have a path. */
function isNetwork(error: unknown): boolean {
  return (
    error instanceof TypeError || (error instanceof Error && !('path' in error) && !('syscall' in error))
  );
}

const gatedRemedy = (page: string, hasToken: boolean) =>
  `accept its terms at ${page}, and ${hasToken ? 'use a token of that account in HF_TOKEN' : 'set HF_TOKEN to a token of that account'}`;

const refusedRemedy = (page: string, hasToken: boolean) =>
  hasToken
    ? `accept its terms at ${page}, or use a token that may read it`
    : `correct the name, or set HF_TOKEN to a token that may read it; if it is gated, accept its terms at ${page} first`;

/**
 * Says what happened and what to do, in one sentence.
 *
 * @param code - What the hub's header `X-Error-Code` called the refusal.
 */
export function hubError(
  error: unknown,
  repository: HubRepository,
  options: ResolvedHubOptions,
  code?: string,
): unknown {
  if (error instanceof RlpError && error.name !== 'TimeoutError') return error;
  const { type, name } = repository;
  const what = `the ${type} ${name} of ${options.url}`;
  const page = `${options.url}/${type === 'dataset' ? 'datasets/' : ''}${name}`;
  const status = statusOf(error);
  if (status === 401 || status === 403) {
    const hasToken = options.accessToken !== undefined;
    const [problem, remedy] =
      code === 'GatedRepo'
        ? ['is gated', gatedRemedy(page, hasToken)]
        : status === 401 && hasToken
          ? ['does not exist, or the token is not valid', 'correct the name or HF_TOKEN']
          : ['does not exist, or is private or gated', refusedRemedy(page, hasToken)];
    return new ArgumentError(`${what} ${problem} (HTTP ${status}): ${remedy}`, { cause: error });
  }
  if (status === 404) {
    return new ArgumentError(
      `${what} does not exist, or has no revision "${options.revision}" (HTTP 404): correct the name, or pass a path that exists`,
      { cause: error },
    );
  }
  if (codeOf(error) === 'ENOSPC' || codeOf(error) === 'EDQUOT') {
    return new RlpError(
      `no space left for ${what} in ${options.cacheDirectory}: free some, or set HF_HUB_CACHE to another disk; the download then goes on where it stopped`,
      { cause: error },
    );
  }
  if (status === undefined && 'path' in Object(error)) return error;
  const cause = rootCause(error);
  const failure = status === undefined ? messageOf(cause) : `HTTP ${status}`;
  return new NetworkError(
    `${what} cannot be read: ${failure}; check the network and try again, and the download goes on where it stopped; if it is in the cache, pass use: 'cache' (HF_HUB_OFFLINE=1)`,
    { cause: error },
  );
}
