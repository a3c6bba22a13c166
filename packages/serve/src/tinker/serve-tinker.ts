import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { ArgumentError, callback, messageOf, parseOptions, timerMs } from '@rlp/core';
import { type HttpExchange, serveHttp } from '@rlp/http';
import * as z from 'zod';
import { ApiError, apiErrorOf } from '../api-error.ts';
import type { ModelServer } from '../serve-model.ts';
import { protobufCall } from './protobuf-call.ts';
import { protobufResult } from './protobuf-result.ts';
import { TinkerApi } from './tinker-api.ts';
import type { TinkerTrainer } from './trainer.ts';

const schema = z.strictObject({
  /** What trains and samples, from {@link onnxTinkerTrainer}. Required. */
  trainer: z.custom<TinkerTrainer>(
    (value) => typeof (value as { createPolicy?: unknown } | null)?.createPolicy === 'function',
    'must be a trainer, from onnxTinkerTrainer',
  ),
  /** Folder for checkpoints and published weights. Created if it is missing. Required. */
  directory: z.string().min(1),
  /** Address to listen on. Default `'127.0.0.1'`, this machine only. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Port to listen on. Default 0, any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Key that requests carry as `X-API-Key`, at least 16 characters. Python clients want one that begins with `tml-`. Default: a random one. */
  token: z.string().min(16).optional(),
  /** Policies that are trained at once. Default 4. */
  maxPolicies: z.int().positive().default(4),
  /** Calls under way. More are answered with 429. Default 4096. */
  maxCalls: z.int().positive().default(4096),
  /** Longest body in bytes. Default 67 108 864 (64 MiB). */
  maxBodyBytes: z.int().positive().default(67_108_864),
  /** Milliseconds that a question for a result waits before the client asks again. Default 20 000. */
  waitMs: timerMs.default(20_000),
  /** Milliseconds that a request for samples may take. Default 1 800 000. */
  callMs: timerMs.default(1_800_000),
  /** Milliseconds that a result is kept after it was asked for last. Default 600 000. */
  resultMs: timerMs.default(600_000),
  /** Milliseconds without a sign of life after which a client's policies are closed. Default 1 800 000. */
  sessionMs: timerMs.default(1_800_000),
  /** Clock in milliseconds. Default `performance.now`. */
  clock: callback<() => number>().default(() => () => performance.now()),
  /** Called with each error that a client got. Default: errors are dropped. */
  onFailure: callback<(error: unknown) => void>().default(() => () => undefined),
});

/** Options of {@link serveTinker}. */
export interface ServeTinkerOptions extends z.input<typeof schema> {}

/**
 * Serves Tinker's protocol: clients of Tinker train and sample on this machine.
 *
 * Each client trains its own low-rank correction of one model. Only text is served. Bodies are JSON, or protobuf where clients since version 0.25 send and expect it. `close` waits for calls under way.
 *
 * @throws OptionsError naming every problem at once. Rejects if the port is taken or the folder cannot be made.
 */
export async function serveTinker(options: ServeTinkerOptions): Promise<ModelServer> {
  const resolved = parseOptions('serveTinker', schema, options);
  const { directory, host, port, maxBodyBytes, onFailure } = resolved;
  await mkdir(directory, { recursive: true }).catch((cause: unknown) => {
    const problem = `the folder ${directory} for checkpoints cannot be made: ${messageOf(cause)}`;
    throw new ArgumentError(`serveTinker: ${problem}; name another one`, { cause });
  });
  // Python clients take no other keys.
  const token = resolved.token ?? `tml-${randomBytes(24).toString('hex')}`;
  const api = new TinkerApi({ ...resolved, now: () => new Date() });
  const server = await serveHttp({
    ...{ host, port, token, timeoutMs: 120_000 },
    refusalBody: ({ message }) => ({ detail: message }),
    onRefused: (_, error) => onFailure(error),
    handler: async (request, exchange) => {
      try {
        const result = await api.answer(await requestOf(request, exchange, maxBodyBytes));
        return answerTo(request.headers, result);
      } catch (error) {
        const refused = apiErrorOf(error);
        onFailure(error);
        return refusal(refused);
      }
    },
  });
  const close = async () => {
    await api.close();
    await server.close();
  };
  return { url: server.url, port: server.port, token, close, [Symbol.asyncDispose]: close };
}

async function requestOf(
  { method, headers }: Pick<Request, 'method' | 'headers'>,
  { url, signal, readBytes }: HttpExchange,
  maxBodyBytes: number,
) {
  const path = url.pathname.replace(/^\/api\/v1/, '');
  const key = headers.get('x-idempotency-key') ?? undefined;
  const sent = method === 'POST' ? await callOf(path, headers, () => readBytes(maxBodyBytes)) : {};
  return { path, body: {}, ...sent, method, key, signal };
}

async function callOf(path: string, headers: Headers, read: () => Promise<Buffer>) {
  const type = headers.get('content-type') ?? 'application/json';
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding !== 'identity')
    throw new ApiError(415, `expected a body that is not compressed, got ${encoding}; send it as it is`);
  if (type.includes('json')) {
    const text = (await read()).toString('utf8');
    return { body: text === '' ? {} : parsed(text) };
  }
  if (type.startsWith('application/x-protobuf') && path === '/forward_backward')
    return protobufCall(await read());
  throw new ApiError(
    415,
    `expected a body of application/json, got ${type}; only /forward_backward takes application/x-protobuf`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError(400, 'expected JSON, got a body that is not');
  }
}

/** A result in the encoding that the client asks for. */
function answerTo(headers: Headers, result: object): object {
  const type = 'application/x-protobuf';
  const bytes = headers.get('accept')?.includes(type) ? protobufResult(result) : undefined;
  return bytes === undefined ? result : new Response(bytes, { headers: { 'content-type': type } });
}

/** An error as Tinker's clients read it. */
function refusal({ status, message, facts }: ApiError): Response {
  const body = { detail: message, ...(status === 408 && { queue_state: 'active' }) };
  const { retryAfterSeconds } = facts;
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return Response.json(body, { status, headers });
}
