import type { Agent, Dispatcher } from 'undici';
import type { Fetch, FetchBody, FetchResponse } from './client/fetch.ts';

let agent: Promise<Agent> | undefined;

/**
 * Sends requests over connections that stay open, for a third of the processor time of `fetch`. It knows no time limits of its own, where
 * Node's `fetch` ends an answer that does not begin within 300 s. In a browser it is `undefined`: the platform has its own. Needs the
 * package `undici`.
 *
 * @throws the reason of the signal, or an error whose `cause` is that of the connection.
 */
export const pooledFetch: Fetch | undefined = async (url, { method, headers, body = null, signal }) => {
  signal.throwIfAborted();
  const { origin, pathname, search, username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw new TypeError('the address holds a user or a password; send them as a header');
  }
  agent ??= import('undici').then((undici) => new undici.Agent({ headersTimeout: 0, bodyTimeout: 0 }));
  try {
    const path = pathname + search;
    return responseOf(await (await agent).request({ origin, path, method, headers, body, signal }));
  } catch (error) {
    signal.throwIfAborted();
    throw new TypeError('fetch failed', { cause: error });
  }
};

function responseOf({ statusCode, headers, body }: Dispatcher.ResponseData): FetchResponse {
  return {
    status: statusCode,
    headers: {
      get: (name) => {
        const value = headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
    },
    text: () => body.text(),
    body: readable(body),
  };
}

function readable(body: Dispatcher.ResponseData['body']): FetchBody {
  return {
    getReader() {
      const chunks = body[Symbol.asyncIterator]();
      return {
        async read() {
          const { done = false, value } = await chunks.next();
          return { done, value };
        },
        async cancel() {
          body.destroy();
        },
      };
    },
  };
}
