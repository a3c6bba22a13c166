import { OptionsError, parseOptions } from '@rlp/core';
import type { HttpExchange } from '@rlp/http';
import type { Context, Hono } from 'hono';
import type * as z from 'zod';
import type { Answerer } from './answer/answerer.ts';
import { ApiError } from './api-error.ts';

/** What routes find in the context of a request. */
export interface ServeEnv {
  readonly Bindings: {
    /** Absent if a request does not come over a socket. */
    readonly exchange?: HttpExchange | undefined;
  };
  readonly Variables: {
    /** Answers this request. */
    answerer: Answerer;
    readonly settings: RouteSettings;
    /** Called with each error that the client gets. Nobody reads the answer after the client has left. */
    readonly report: (error: unknown) => void;
  };
}

/** Settings that all routes share. */
export interface RouteSettings {
  /** Maximum bytes of a request. */
  readonly maxBodyBytes: number;
  /** Milliseconds that a client may leave an event of a stream unread. */
  readonly stallMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** An app that routes are added to. */
export type ServeApp = Hono<ServeEnv>;

/** The context of a request. */
export type ServeContext = Context<ServeEnv>;

/** Aborts when the client goes away. */
export function signalOf({ env, req }: ServeContext): AbortSignal {
  return env?.exchange?.signal ?? req.raw.signal;
}

/** Seconds since 1970. */
export function secondsNow(context: ServeContext): number {
  return Math.floor(context.get('settings').clock() / 1000);
}

/** Answers with JSON. */
export function answerJson(context: ServeContext, value: unknown): Response {
  return context.env?.exchange?.sendJson(200, value) ?? Response.json(value);
}

/**
 * Reads the body of a request as JSON of a schema.
 *
 * @throws ApiError 400 naming what is wrong, or 413 for a body that is too large.
 */
export async function readJson<Schema extends z.ZodType>(
  context: ServeContext,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await readText(context);
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw new ApiError(400, 'expected a body of JSON, got something else');
  }
  try {
    return parseOptions('request', schema, value);
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    const param = /^`?([\w.[\]]+)`?:/.exec(error.issues[0] ?? '')?.[1];
    throw new ApiError(400, `the request is not valid: ${error.issues.slice(0, 8).join('; ')}`, { param });
  }
}

async function readText({ env, req, get }: ServeContext): Promise<string> {
  const { maxBodyBytes } = get('settings');
  if (env?.exchange !== undefined) return env.exchange.readBody(maxBodyBytes);
  const text = await req.text();
  // UTF-16 has at most three bytes of UTF-8 in a unit.
  if (3 * text.length <= maxBodyBytes || Buffer.byteLength(text) <= maxBodyBytes) return text;
  throw new ApiError(413, `expected at most ${maxBodyBytes} bytes, got more`);
}
