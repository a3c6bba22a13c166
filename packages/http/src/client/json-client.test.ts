import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomStream } from '@rlp/core';
import { afterAll, describe, expect, it } from 'vitest';
import {
  failureSentence,
  JsonClient,
  RequestError,
  type RequestOptions,
  requestSchema,
  rootAddress,
} from '../client.ts';

const folder = mkdtempSync(join(tmpdir(), 'rlp-client-'));
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function clientOf(url: string, options: Partial<RequestOptions> = {}): JsonClient {
  const backoff = { firstMs: 1, longestMs: 60 };
  const parsed = requestSchema.parse({ url, token: 'tml-secret', backoff, ...options });
  return new JsonClient('test', parsed, () => RandomStream.named('client'));
}

/** The error of a request, without its cause. */
async function failureOf(client: JsonClient): Promise<{ failure: string; message: string; detail?: string }> {
  return client.json('/v1/x').then(
    () => expect.unreachable('answered'),
    ({ failure, message, detail }) => ({ failure, message, ...(detail !== undefined && { detail }) }),
  );
}

/** Makes a certificate that no authority signed. */
function certificate(
  name: string,
  days: number,
): { readonly key: Buffer; readonly cert: Buffer } | undefined {
  const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', `${days}`, ...subject];
  try {
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } catch {
    console.warn('skipped: certificates need openssl');
    return undefined;
  }
}

describe('a server that is not trusted', () => {
  const own = certificate('localhost', 2);

  it.skipIf(own === undefined)('is asked once, and the error says how to trust it', async () => {
    let connections = 0;
    const server = createTlsServer(own!, (_, response) => response.end('{}'));
    server.on('connection', () => connections++);
    const port = await listening(server);
    expect(await failureOf(clientOf(`https://localhost:${port}`))).toEqual({
      failure: 'untrusted',
      message:
        `https://localhost:${port}/v1/x: its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); ` +
        'name the certificate of its authority in the variable NODE_EXTRA_CA_CERTS when you start Node.js',
    });
    expect(connections).toBe(1);
  });

  it('that does not speak TLS is named as such', async () => {
    const port = await listening(createServer((_, response) => response.end('{}')));
    const { failure, message } = await failureOf(clientOf(`https://127.0.0.1:${port}`));
    expect(failure).toBe('untrusted');
    expect(message).toContain('it does not speak TLS; begin the url with http://');
  });
});

describe('a busy server', () => {
  const asking = async (headers: (now: number) => Record<string, string>) => {
    const times: number[] = [];
    const answer: RequestListener = (_, response) => {
      times.push(performance.now());
      if (times.length > 1) return response.end('{"ok":true}');
      return response.writeHead(429, headers(Date.now())).end('{"error":{"message":"busy"}}');
    };
    const port = await listening(createServer(answer));
    const longest = { backoff: { firstMs: 1, longestMs: 300 } };
    expect(await clientOf(`http://127.0.0.1:${port}`, longest).json('/v1/x')).toEqual({ ok: true });
    return times[1]! - times[0]!;
  };

  it.each([
    ['in milliseconds', () => ({ 'retry-after-ms': '150' }), 140],
    ['in seconds, at most as long as the options say', () => ({ 'retry-after': '3600' }), 290],
    [
      'by a date',
      (now: number) => ({
        date: new Date(now).toUTCString(),
        'retry-after': new Date(now + 3_600_000).toUTCString(),
      }),
      290,
    ],
  ])('is asked again when it says %s', async (_, headers, least) => {
    expect(await asking(headers)).toBeGreaterThan(least);
  });

  it.each([
    ['a date that has passed', () => ({ 'retry-after': 'Mon, 01 Jan 2024 00:00:00 GMT' })],
    ['nonsense', () => ({ 'retry-after': 'soon' })],
    ['a time below 0', () => ({ 'retry-after-ms': '-5' })],
  ])('is asked again soon if it says %s', async (_, headers) => {
    expect(await asking(headers)).toBeLessThan(250);
  });
});

describe('the address of a server', () => {
  const problemOf = (url: string) => {
    const { error } = requestSchema.extend({ url: rootAddress }).safeParse({ url });
    return error?.issues.map(({ message }) => message);
  };

  it.each([
    ['ftp://x', /must be an http or https address/],
    ['http://me:hush@x', /must hold no user and no password; send them as `token`/],
    ['http://x/?key=hush', /must be the root of the server, without a query/],
  ])('is refused before anything is asked: %s', (url, problem) => {
    expect(problemOf(url)).toEqual([expect.stringMatching(problem)]);
    expect(String(problemOf(url))).not.toContain('hush');
  });

  it('may hold an @ in its path', () => {
    expect(problemOf('http://x/a@b')).toBeUndefined();
  });
});

describe('an answer other than expected', () => {
  const words = { key: 'token', less: 'ask for less', missing: 'check `url`' };
  const sentence = (answer: unknown) =>
    failureSentence(clientOf('http://x').unexpected('choices', answer), words);

  it.each([{ error: { message: 'engine dead' } }, { error: 'engine dead' }, { detail: 'engine dead' }])(
    'is named with the reason in it: %j',
    (answer) => {
      expect(sentence(answer)).toBe(
        'http://x: expected choices, got a failure ("engine dead"); see the log of the server',
      );
    },
  );

  it('holds no secret, and names the address if it gives no reason', () => {
    expect(sentence({ error: 'bad tml-secret' })).toContain('bad [hidden]');
    for (const answer of [null, [], 7, 'text', { choices: 1 }, { error: { code: 3 } }]) {
      expect(sentence(answer)).toBe(
        'http://x: expected choices, got another body; check that `url` leads to a server of this kind, and not to a proxy before it',
      );
    }
  });
});

describe('an answer that is broken', () => {
  interface Answer {
    readonly what: string;
    readonly answer: RequestListener;
    readonly failure: string;
    readonly detail?: string;
  }
  const answers: readonly Answer[] = [
    {
      what: 'is no gzip',
      answer: (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('{"a":1}'),
      failure: 'unreachable',
    },
    {
      what: 'is cut in the middle',
      answer: (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"a":');
        setTimeout(() => response.destroy(), 10);
      },
      failure: 'unreachable',
    },
    {
      what: 'is a page',
      answer: (_, response) => response.end('<!doctype html><p>Welcome'),
      failure: 'malformed',
    },
    {
      what: 'never ends',
      answer: (_, response) => response.writeHead(200).write('{"a":"'),
      failure: 'timed-out',
    },
    {
      what: 'is 2 MB long',
      answer: (_, response) => response.end(`"${'x'.repeat(2_000_000)}"`),
      failure: 'too-long',
    },
    {
      what: 'is a page that refuses',
      answer: (_, response) => response.writeHead(403).end('<h1>No entry with tml-secret</h1>'),
      failure: 'status',
      detail: '<h1>No entry with [hidden]</h1>',
    },
    {
      what: 'repeats a header in a form of its own',
      answer: ({ headers }, response) =>
        response.writeHead(401).end(JSON.stringify({ odd: [headers['x-key']] })),
      failure: 'status',
      detail: '{"odd":["[hidden]"]}',
    },
    {
      what: 'repeats a key without the scheme before it',
      answer: ({ headers }, response) =>
        response.writeHead(401).end(JSON.stringify({ error: `bad ${headers['x-basic']?.slice(6)}` })),
      failure: 'status',
      detail: 'bad [hidden]',
    },
    {
      what: 'repeats the token',
      answer: ({ headers }, response) =>
        response.writeHead(401).end(JSON.stringify({ error: `bad ${headers.authorization}` })),
      failure: 'status',
      detail: 'bad [hidden]',
    },
  ];

  it.each(answers)('$what', async ({ answer, failure, detail }) => {
    const port = await listening(createServer(answer));
    const started = performance.now();
    const error = await failureOf(
      clientOf(`http://127.0.0.1:${port}`, {
        ...{
          timeoutMs: 200,
          attempts: 2,
          headers: { 'x-key': 'a"b\\c-secret', 'x-basic': 'Basic cTpzZWNyZXQ=' },
        },
      }),
    );
    expect(error).toMatchObject({ failure, ...(detail !== undefined && { detail }) });
    expect(error.message).not.toContain('tml-secret');
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it('is given up as soon as the whole client is', async () => {
    const controller = new AbortController();
    const port = await listening(createServer(() => controller.abort(new Error('enough'))));
    const options = requestSchema.parse({ url: `http://127.0.0.1:${port}` });
    const random = () => RandomStream.named('client');
    const client = new JsonClient('test', { ...options, signal: controller.signal }, random);
    const { signal } = new AbortController();
    await expect(client.json('/v1/x', { signal })).rejects.toThrow('enough');
    await expect(client.text('/v1/x')).rejects.toThrow('enough');
    const work = () =>
      Promise.reject(new RequestError('status', 'busy', { status: 503, retryAfterMs: 4000 }));
    const late = new AbortController();
    const busy = new JsonClient('test', { ...options, signal: late.signal }, random).repeated(work, signal);
    setTimeout(() => late.abort(new Error('over')), 20);
    const started = performance.now();
    await expect(busy).rejects.toThrow('over');
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it('is given up as soon as its caller does', async () => {
    let closed!: () => void;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = createServer((_, response) => {
      response.on('close', closed);
      response.writeHead(200).write('{"a":"');
      setTimeout(() => controller.abort(new Error('enough')), 50);
    });
    const controller = new AbortController();
    const client = clientOf(`http://127.0.0.1:${await listening(server)}`, { timeoutMs: 10_000 });
    const started = performance.now();
    await expect(client.json('/v1/x', { signal: controller.signal })).rejects.toThrow('enough');
    await gone;
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
