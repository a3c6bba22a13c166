import type { IncomingMessage } from 'node:http';
import type { Fetch, FetchBody, FetchResponse } from './fetch.ts';

/** Globals that tell Node from whatever takes after it; it has a `navigator` since version 21. */
interface Platform {
  readonly navigator?: { readonly userAgent?: string };
  readonly process?: { readonly getBuiltinModule?: typeof process.getBuiltinModule };
}

/**
 * A {@link Fetch} over Node's HTTP client and the connections that its global agents keep, at a third of the processor time of the
 * platform's fetch; `undefined` where there is no Node. Nothing is asked for compressed, and a redirect is an answer as any other.
 */
export function nodeFetch(): Fetch | undefined {
  const { navigator, process: { getBuiltinModule } = {} } = globalThis as Platform;
  if (navigator !== undefined && !navigator.userAgent?.startsWith('Node.js/')) return undefined;
  const http = getBuiltinModule?.('node:http');
  const https = getBuiltinModule?.('node:https');
  if (http === undefined || https === undefined) return undefined;
  return (address, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const url = new URL(address);
      const { request } = url.protocol === 'https:' ? https : http;
      const sent = request(url, { method, headers }, (message) => resolve(new NodeResponse(message)));
      sent.on('error', reject);
      sent.on('close', () => reject(new Error('the connection was closed without an answer')));
      // Not as an option: Node would look for the end of the request with a dozen listeners.
      signal.addEventListener('abort', () => sent.destroy(), { once: true });
      sent.end(body);
    });
}

const decoder = new TextDecoder();

class NodeResponse implements FetchResponse {
  readonly status: number;
  readonly headers: FetchResponse['headers'];
  readonly body: FetchBody;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode!;
    this.headers = { get: (name) => message.headers[name]?.toString() ?? null };
    this.body = {
      getReader: () => {
        const chunks: AsyncIterator<Uint8Array, undefined> = message[Symbol.asyncIterator]();
        const read = async () => {
          const { done = false, value } = await chunks.next();
          return { done, value };
        };
        return { read, cancel: async () => void message.destroy() };
      },
    };
  }

  text(): Promise<string> {
    const chunks: Buffer[] = [];
    return new Promise((resolve, reject) => {
      this.#message.on('data', (chunk: Buffer) => void chunks.push(chunk));
      this.#message.on('end', () =>
        resolve(decoder.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))),
      );
      this.#message.on('error', reject);
    });
  }
}
