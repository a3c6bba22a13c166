import { Hono } from 'hono';
import type { Answerer } from './answer/answerer.ts';
import { addAnthropicRoutes } from './anthropic/routes.ts';
import { ApiError, apiErrorOf } from './api-error.ts';
import { errorBody } from './error-shapes.ts';
import { addMetricsRoute, type ServeMetrics } from './metrics.ts';
import { addOpenaiRoutes } from './openai/routes.ts';
import { type RouteSettings, type ServeApp, type ServeContext, type ServeEnv, signalOf } from './routes.ts';
import { addSglangRoutes } from './sglang/routes.ts';
import { addVllmRoutes } from './vllm/routes.ts';

/** What {@link serveApp} is made of. */
export interface ServeAppOptions {
  /** Answers requests: one for all, or one for each request. */
  readonly answerer: Answerer | ((context: ServeContext) => Answerer);
  readonly settings: RouteSettings;
  /** Path of a request among the routes. Default: the path of its address. */
  readonly pathOf?: ((request: Request) => string) | undefined;
  /** Counts what is answered, and answers `/metrics`. Default nobody. */
  readonly metrics?: ServeMetrics | undefined;
  /** Told of each error that is answered. Default nobody. */
  readonly onError?: ((error: unknown, status: number, request: Request) => void) | undefined;
}

/** The routes of all families. `app.fetch` answers requests without a socket. */
export function serveApp({ answerer, settings, pathOf, metrics, onError }: ServeAppOptions): ServeApp {
  const app = new Hono<ServeEnv>(pathOf && { getPath: pathOf });
  app.use(async (context, next) => {
    context.set('settings', settings);
    context.set('report', (error) => {
      if (!signalOf(context).aborted) onError?.(error, apiErrorOf(error).status, context.req.raw);
    });
    context.set('answerer', typeof answerer === 'function' ? answerer(context) : answerer);
    const begun = performance.now();
    await next();
    metrics?.count(context, performance.now() - begun);
  });
  app.onError((error, context) => failed(error, context));
  app.notFound((context) => {
    const { method, path } = context.req;
    return failed(new ApiError(404, `there is no ${method} ${path} here`), context);
  });
  if (metrics !== undefined) addMetricsRoute(app, metrics);
  addOpenaiRoutes(app);
  addAnthropicRoutes(app);
  addVllmRoutes(app);
  addSglangRoutes(app);
  return app;
}

function failed(error: unknown, context: ServeContext): Response {
  const known = apiErrorOf(error);
  const { retryAfterSeconds } = known.facts;
  context.get('report')(error);
  const headers = {
    'content-type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
  };
  return new Response(JSON.stringify(errorBody(known, context.req.path)), { status: known.status, headers });
}
