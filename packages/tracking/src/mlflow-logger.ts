import { type Metrics, type MetricsLogger, parseOptions, TimeoutError } from '@rlp/core';
import * as z from 'zod';
import { Problems } from './problems.ts';

const isFunction = (value: unknown) => typeof value === 'function';

const schema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  experiment: z.string().min(1),
  run: z.string().min(1).optional(),
  parameters: z.record(z.string().min(1), z.string()).default(() => ({})),
  token: z.string().min(1).optional(),
  fetch: z.custom<typeof fetch>(isFunction, 'must be a function').default(() => fetch),
  clock: z.custom<() => number>(isFunction, 'must be a function').default(() => () => Date.now()),
  timeoutMs: z.number().positive().default(10_000),
  attempts: z.int().min(1).default(3),
  maximumPending: z.int().min(1000).default(100_000),
  onProblem: z
    .custom<(message: string) => void>(isFunction, 'must be a function')
    .default(() => (message: string) => process.emitWarning(message)),
});

/**
 * Options of {@link MlflowLogger}.
 *
 * - `url`: of the tracking server, such as `http://127.0.0.1:5000`.
 * - `experiment`: its name; it is created where there is none. `run`: name of the run (the server makes one up).
 * - `parameters` (none): told to the run at its start, such as hyperparameters.
 * - `token`: sent as a bearer token; never logged.
 * - `fetch`, `clock` (milliseconds since 1970): default the platform's.
 * - `timeoutMs` (10 000), `attempts` (3): of each request. `maximumPending` (100 000): numbers that wait for the server; beyond
 *   it the oldest are dropped, and counted.
 * - `onProblem`: told, once, when numbers cannot be delivered, and in the end how often. Default `process.emitWarning`.
 */
export type MlflowLoggerOptions = z.input<typeof schema>;

const createdRun = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) });

interface MlflowMetric {
  readonly key: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
}

/** As many numbers, and parameters, as the server takes in one request; characters of a name. */
const [batchSize, parameterBatchSize, longestName] = [1000, 100, 250];

/**
 * Metrics to an MLflow tracking server by its REST API.
 *
 * `log` never waits: numbers queue up and are sent in batches, in order, by one request at a time. `close` sends what is left and
 * marks the run finished; where the server is gone or never answers, it gives up with the first batch that is lost.
 *
 * @see https://mlflow.org/docs/latest/rest-api.html
 */
export class MlflowLogger implements MetricsLogger {
  readonly #options: z.output<typeof schema>;
  readonly #pending: MlflowMetric[] = [];
  #runId: string | undefined;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #problems: Problems;
  #dropped = 0;

  /** @throws `OptionsError` for bad options. */
  constructor(options: MlflowLoggerOptions) {
    this.#options = parseOptions('MlflowLogger', schema, options);
    const { url, onProblem } = this.#options;
    this.#problems = new Problems(
      `MlflowLogger: metrics are not delivered to ${new URL(url).origin}`,
      onProblem,
    );
  }

  /** Numbers that could not be delivered. */
  get dropped(): number {
    return this.#dropped;
  }

  log(step: number, metrics: Metrics): void {
    if (this.#closing) {
      this.#report('it is closed', Object.keys(metrics).length);
      return;
    }
    const timestamp = Math.round(this.#options.clock());
    for (const [name, value] of Object.entries(metrics)) {
      this.#pending.push({ key: knownName(name), value, timestamp, step });
    }
    const excess = this.#pending.length - this.#options.maximumPending;
    if (excess > 0) {
      this.#pending.splice(0, excess);
      this.#report(`more than ${this.#options.maximumPending} numbers wait for the server`, excess);
    }
    this.#sending ??= this.#send();
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    await this.#sending;
    if (this.#runId !== undefined) {
      const end = { run_id: this.#runId, status: 'FINISHED', end_time: Math.round(this.#options.clock()) };
      await this.#post('runs/update', end).catch((error: unknown) => this.#report(reasonOf(error), 0));
    }
    this.#problems.conclude();
  }

  /** Sends what waits until nothing does; while it closes, until a batch is lost. */
  async #send(): Promise<void> {
    // Rows that are logged one after the other travel together.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, batchSize);
      try {
        if (this.#runId === undefined) await this.#startRun();
        await this.#post('runs/log-batch', { run_id: this.#runId, metrics: batch.map(wireMetric) });
      } catch (error) {
        const left = this.#closing ? this.#pending.splice(0) : [];
        this.#report(reasonOf(error), batch.length + left.length);
      }
    }
    this.#sending = undefined;
  }

  /** A run without its parameters is still better than none: what is wrong with them is told, and costs nothing else. */
  async #startRun(): Promise<void> {
    const { run, parameters, clock } = this.#options;
    const created = await this.#post('runs/create', {
      experiment_id: await this.#experimentId(),
      run_name: run,
      start_time: Math.round(clock()),
    });
    const { info } = createdRun.parse(created).run;
    this.#runId = info.run_id;
    const params = Object.entries(parameters).map(([key, value]) => ({ key: knownName(key), value }));
    while (params.length > 0) {
      const batch = { run_id: info.run_id, params: params.splice(0, parameterBatchSize) };
      await this.#post('runs/log-batch', batch).catch((error: unknown) =>
        this.#report(`parameters: ${reasonOf(error)}`, 0),
      );
    }
  }

  async #experimentId(): Promise<string> {
    const { experiment } = this.#options;
    const name = encodeURIComponent(experiment);
    const found = await this.#request('GET', `experiments/get-by-name?experiment_name=${name}`);
    if (found !== undefined) {
      return z.object({ experiment: z.object({ experiment_id: z.string() }) }).parse(found).experiment
        .experiment_id;
    }
    const created = await this.#post('experiments/create', { name: experiment });
    return z.object({ experiment_id: z.string() }).parse(created).experiment_id;
  }

  async #post(path: string, body: unknown): Promise<unknown> {
    const answer = await this.#request('POST', path, body);
    if (answer !== undefined) return answer;
    throw new Error(`the server does not know ${path}`);
  }

  /** @returns `undefined` for what the server does not have. */
  async #request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(method, path, body);
      } catch (error) {
        if (attempt >= this.#options.attempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** attempt));
      }
    }
  }

  async #attempt(method: 'GET' | 'POST', path: string, body: unknown): Promise<unknown> {
    const { url, token, timeoutMs } = this.#options;
    const address = `${url.replace(/\/+$/, '')}/api/2.0/mlflow/${path}`;
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
    if (!response.ok) throw new Error(`${method} ${path}: status ${response.status}: ${text.slice(0, 200)}`);
    return text === '' ? {} : JSON.parse(text);
  }

  #report(reason: string, numbers: number): void {
    this.#dropped += numbers;
    this.#problems.report(reason);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return new TimeoutError('the server took too long').message;
  }
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return error instanceof Error ? `${error.message}${cause}` : String(error);
}

/** MLflow takes letters, digits, `_-. :/`, and not too many of them. */
function knownName(name: string): string {
  return name.replace(/[^\w\-. :/]/g, '_').slice(0, longestName);
}

/** JSON has no numbers for these; MLflow reads their names. */
function wireMetric({
  value,
  ...metric
}: MlflowMetric): Omit<MlflowMetric, 'value'> & { value: number | string } {
  if (Number.isFinite(value)) return { ...metric, value };
  return { ...metric, value: Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity' };
}
