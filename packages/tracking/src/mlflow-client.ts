import { TimeoutError } from '@rlp/core';

/** How requests to a tracking server are made. */
export interface MlflowClientOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
  readonly attempts: number;
}

type Method = 'GET' | 'POST' | 'PUT';

/** JSON requests to an MLflow server, each tried a few times. Paths are below `/api/2.0/`. */
export class MlflowClient {
  readonly #options: MlflowClientOptions;

  constructor(options: MlflowClientOptions) {
    this.#options = options;
  }

  /** @throws Error if the server rejects the request or lacks the route. */
  async post(path: string, body: unknown): Promise<unknown> {
    const answer = await this.request('POST', path, body);
    if (answer !== undefined) return answer;
    throw new Error(`the server does not know ${path}`);
  }

  /** @returns `undefined` for what the server does not have. */
  async request(method: Method, path: string, body?: unknown): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(method, path, body);
      } catch (error) {
        if (attempt >= this.#options.attempts || error instanceof RejectedRequest) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt));
      }
    }
  }

  async #attempt(method: Method, path: string, body: unknown): Promise<unknown> {
    const { url, token, timeoutMs } = this.#options;
    const address = `${url.replace(/\/+$/, '')}/api/2.0/${path}`;
    const response = await this.#options.fetch(address, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    if (response.status === 404) return undefined;
    if (!response.ok) {
      const problem = `${method} ${path}: status ${response.status}: ${text.slice(0, 200)}`;
      throw isFinal(response.status) ? new RejectedRequest(problem) : new Error(problem);
    }
    return text === '' ? {} : JSON.parse(text);
  }
}

/** A request that the server will reject again. */
class RejectedRequest extends Error {
  override readonly name = 'RejectedRequest';
}

/** Whether the same request would get the same answer. */
function isFinal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Why a request failed, with the cause that `fetch` hides. */
export function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new TimeoutError('the server took too long').message;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return error instanceof Error ? `${error.message}${cause}` : String(error);
}
