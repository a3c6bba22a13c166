import { routePath } from 'hono/route';
import type { Admission } from './admission.ts';
import type { AnswerObserver } from './answer/observer.ts';
import type { ServeApp, ServeContext } from './routes.ts';
import type { ServedPolicy } from './served-policy.ts';

/** A number of Prometheus, with one value for each set of labels. */
interface Series {
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly values: ReadonlyMap<string, number>;
}

/** Counts requests and tokens, and words them as Prometheus reads them. */
export class ServeMetrics implements AnswerObserver {
  readonly #admission: Admission;
  readonly #policy: ServedPolicy;
  readonly #requests = new Map<string, number>();
  readonly #seconds = new Map<string, number>();
  #promptTokens = 0;
  #completionTokens = 0;
  #failures = 0;

  constructor(admission: Admission, policy: ServedPolicy) {
    this.#admission = admission;
    this.#policy = policy;
  }

  readonly answered: NonNullable<AnswerObserver['answered']> = (_, { promptTokens, choices }) => {
    this.#promptTokens += promptTokens.length;
    this.#completionTokens += choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  };

  readonly failed: NonNullable<AnswerObserver['failed']> = () => {
    this.#failures += 1;
  };

  /** Counts an answer, once it begins. */
  count(context: ServeContext, milliseconds: number): void {
    const route = routePath(context, -1);
    const { status } = context.res;
    add(this.#requests, `{route="${route}",status="${status}"}`, 1);
    add(this.#seconds, `{route="${route}"}`, milliseconds / 1000);
  }

  /** All numbers as text. */
  text(): string {
    const one = (value: number) => new Map([['', value]]);
    const series: Readonly<Record<string, Series>> = {
      requests_total: { help: 'Requests by route and status', type: 'counter', values: this.#requests },
      request_seconds_total: { help: 'Seconds until answers began', type: 'counter', values: this.#seconds },
      requests_running: { help: 'Requests under way', type: 'gauge', values: one(this.#admission.active) },
      requests_waiting: { help: 'Requests that wait', type: 'gauge', values: one(this.#admission.waiting) },
      prompt_tokens_total: { help: 'Tokens of prompts', type: 'counter', values: one(this.#promptTokens) },
      completion_tokens_total: {
        help: 'Sampled tokens',
        type: 'counter',
        values: one(this.#completionTokens),
      },
      failures_total: {
        help: 'Requests that failed or were left',
        type: 'counter',
        values: one(this.#failures),
      },
      policy_version: {
        help: 'Version of the weights',
        type: 'gauge',
        values: one(this.#policy.policyVersion),
      },
    };
    const lines = Object.entries(series).flatMap(([name, { help, type, values }]) => [
      `# HELP rlp_serve_${name} ${help}`,
      `# TYPE rlp_serve_${name} ${type}`,
      ...[...values].map(([labels, value]) => `rlp_serve_${name}${labels} ${value}`),
    ]);
    return `${lines.join('\n')}\n`;
  }
}

/** Adds `/metrics`. */
export function addMetricsRoute(app: ServeApp, metrics: ServeMetrics): void {
  app.get('/metrics', (context) =>
    context.body(metrics.text(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  );
}

function add(counts: Map<string, number>, labels: string, value: number): void {
  counts.set(labels, (counts.get(labels) ?? 0) + value);
}
