import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server does instead of its answer. `secret` is the key that the request brought. */
type Trouble = (response: ServerResponse, secret: string) => void;

const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Trouble =>
  (response, secret) =>
    response.writeHead(status, headers).end(body.replace('SECRET', secret));

/** Ways in which a server fails. */
export const troubles = {
  'is down': (response) => response.destroy(),
  'never answers': () => undefined,
  'stalls in the middle': (response) => response.writeHead(200, { 'content-length': '100' }).write('{"a":'),
  'cuts its answer off': (response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"a":', () => response.destroy());
  },
  'answers without an end': (response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '.repeat(65_536)), 1);
    response.on('close', () => clearInterval(timer));
  },
  'answers with a page': answer(200, '<!doctype html><p>Bad gateway</p>', { 'content-type': 'text/html' }),
  'answers with half of its JSON': answer(200, '{"choices": [{"text'),
  'answers with null': answer(200, 'null'),
  'answers with a list': answer(200, '[]'),
  'answers with an error and status 200': answer(200, '{"error":{"message":"overloaded SECRET"}}'),
  'answers with nothing': answer(200, ''),
  'leads elsewhere': answer(302, '', { location: 'http://127.0.0.1:1/' }),
  'refuses the key and repeats it': answer(401, '{"detail":"bad key SECRET"}'),
  'forbids it': answer(403, '{"error":{"message":"SECRET may not"}}'),
  'does not know the path': answer(404, '{"detail":"Not Found"}'),
  'finds the body too large': answer(413, 'too large'),
  'cannot read the body': answer(422, '{"detail":[{"loc":["body"],"msg":"SECRET field required"}]}'),
  'is always busy': answer(429, '{"detail":"busy"}', { 'retry-after': '0' }),
  'is always broken': answer(500, 'Internal Server Error'),
  'is always in maintenance': answer(503, '<h1>maintenance</h1>', { 'retry-after': '0' }),
} as const satisfies Readonly<Record<string, Trouble>>;

/** Failures that pass, so that a second attempt succeeds. */
export const passing = {
  'was down': troubles['is down'],
  'was busy': answer(429, '', { 'retry-after': '0' }),
  'was broken': troubles['is always broken'],
  'cut its answer off': troubles['cuts its answer off'],
} as const satisfies Readonly<Record<string, Trouble>>;

/** A server in front of another one. What it does instead of passing requests on can change at any time. */
export async function troubledServer(target: string) {
  let trouble: Trouble | undefined;
  let left = 0;
  const listener: RequestListener = async (request, response) => {
    const { authorization, 'x-api-key': key } = request.headers;
    if (trouble !== undefined && left-- > 0) {
      request.resume();
      return trouble(response, String(key ?? authorization?.replace('Bearer ', '')));
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const given = await fetch(target + request.url, {
      method: request.method!,
      headers: {
        'content-type': 'application/json',
        ...(authorization && { authorization }),
        ...(key && { 'x-api-key': String(key) }),
      },
      ...(body.length > 0 && { body }),
    }).catch(() => undefined);
    if (given === undefined) return response.destroy();
    response.writeHead(given.status, { 'content-type': 'application/json' }).end(await given.text());
  };
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Does this from now on, or for so many requests. */
    begin(next: Trouble, times = Number.POSITIVE_INFINITY) {
      [trouble, left] = [next, times];
    },
    end() {
      trouble = undefined;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
