import {
  callback,
  Failures,
  type Finding,
  type LoggedSample,
  type Metrics,
  type MetricsLogger,
  parseOptions,
} from '@rlp/core';
import * as z from 'zod';
import { MlflowClient, reasonOf } from './mlflow-client.ts';
import { sampleColumns } from './sample-columns.ts';

const schema = z.strictObject({
  /** Address of the tracking server, such as `http://127.0.0.1:5000`. Required. */
  url: z.url({ protocol: /^https?$/ }),
  /** Name of the experiment. It is created if it is missing. Required. */
  experiment: z.string().min(1),
  /** Name of the run. By default the server makes one up. */
  run: z.string().min(1).optional(),
  /** Parameters of the run, such as hyperparameters. Default none. */
  parameters: z.record(z.string().min(1), z.string()).default(() => ({})),
  /** Bearer token. It is never logged. Default none. */
  token: z.string().min(1).optional(),
  /** Sends the requests. Default is the platform's `fetch`. */
  fetch: callback<typeof fetch>().default(() => fetch),
  /** Returns milliseconds since 1970. Default `Date.now`. */
  clock: callback<() => number>().default(() => () => Date.now()),
  /** Maximum duration of one request, in milliseconds. Default 10000. */
  timeoutMs: z.number().positive().default(10_000),
  /** Maximum attempts per request. Default 3. */
  attempts: z.int().min(1).default(3),
  /** Maximum numbers that wait for the server. Beyond it the oldest are dropped and counted. Default 100000. */
  maximumPending: z.int().min(1000).default(100_000),
  /** Receives the first delivery problem, and the total at the end. Default `process.emitWarning`. */
  onProblem: callback<(message: string) => void>().default(
    () => (message: string) => process.emitWarning(message),
  ),
});

/** Options of {@link MlflowLogger}. */
export interface MlflowLoggerOptions extends z.input<typeof schema> {}

const createdRun = z.object({
  run: z.object({ info: z.object({ run_id: z.string(), artifact_uri: z.string().optional() }) }),
});

interface MlflowMetric {
  readonly key: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
}

interface MlflowTag {
  readonly key: string;
  readonly value: string;
}

/** Limits of the server. Entries of all kinds, parameters and tags per request, characters of a name and of a tag. */
const [batchSize, parameterBatchSize, tagBatchSize, longestName, longestTag] = [1000, 100, 100, 250, 5000];

/** Rows that the table of samples has at most. */
const longestTable = 200;

/** The server's own tag for tables among a run's artifacts. */
const tableTag = { key: 'mlflow.loggedArtifacts', value: '[{"path":"samples.json","type":"table"}]' };

/**
 * Logs to an MLflow tracking server by its REST API. Notes and findings become tags of the run. The newest 200 samples
 * are its table `samples.json`, if the server takes artifacts.
 *
 * `log` never waits. Numbers queue up and are sent in order, in batches, one request at a time. `close` sends the rest and
 * marks the run finished. If the server does not answer, it gives up after the first lost batch.
 *
 * @see https://mlflow.org/docs/latest/rest-api.html
 */
export class MlflowLogger implements MetricsLogger {
  readonly #options: z.output<typeof schema>;
  readonly #client: MlflowClient;
  readonly #pending: MlflowMetric[] = [];
  readonly #tags: MlflowTag[] = [];
  #tagsMade = 0;
  #table: (LoggedSample & { readonly step: number })[] = [];
  #tableState: 'sent' | 'waiting' | 'refused' = 'sent';
  #artifacts: string | undefined;
  #runId: string | undefined;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #failures: Failures;
  #dropped = 0;

  /** @throws OptionsError for bad options. */
  constructor(options: MlflowLoggerOptions) {
    this.#options = parseOptions('MlflowLogger', schema, options);
    this.#client = new MlflowClient(this.#options);
    this.#failures = new Failures(this.#options.onProblem);
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

  note(step: number, text: string): void {
    this.#tag('note', step, text);
  }

  finding(step: number, { rule, severity, message }: Finding): void {
    this.#tag('finding', step, `${severity} ${rule}: ${message}`);
  }

  samples(step: number, rows: readonly LoggedSample[]): void {
    if (this.#closing || rows.length === 0 || this.#tableState === 'refused') return;
    this.#table = [...this.#table, ...rows.map((row) => ({ ...row, step }))].slice(-longestTable);
    this.#tableState = 'waiting';
    this.#sending ??= this.#send();
  }

  #tag(kind: string, step: number, text: string): void {
    if (this.#closing) {
      this.#report('it is closed', 0);
      return;
    }
    const key = `${kind}/${String(step).padStart(8, '0')}.${this.#tagsMade++}`;
    this.#tags.push({ key, value: text.slice(0, longestTag) });
    if (this.#tags.length > this.#options.maximumPending) this.#tags.shift();
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
      await this.#client
        .post('mlflow/runs/update', end)
        .catch((error: unknown) => this.#report(reasonOf(error), 0));
    }
    this.#failures.conclude();
  }

  /** Sends batches until the queue is empty. While closing, it stops at the first lost batch. */
  async #send(): Promise<void> {
    // Rows that are logged one after the other travel together.
    await Promise.resolve();
    while (this.#pending.length + this.#tags.length > 0 || this.#tableState === 'waiting') {
      const tags = this.#tags.splice(0, tagBatchSize);
      const batch = this.#pending.splice(0, batchSize - tags.length);
      try {
        if (this.#runId === undefined) await this.#startRun();
        const logged = { metrics: batch.map(wireMetric), ...(tags.length > 0 && { tags }) };
        if (batch.length + tags.length > 0) {
          await this.#client.post('mlflow/runs/log-batch', { run_id: this.#runId, ...logged });
        }
        if (this.#tableState === 'waiting') await this.#sendTable();
      } catch (error) {
        const left = this.#closing ? this.#giveUp() : [];
        this.#report(reasonOf(error), batch.length + left.length);
      }
    }
    this.#sending = undefined;
  }

  /** Empties the queue and returns the number of dropped values. */
  #giveUp(): readonly MlflowMetric[] {
    this.#tags.length = 0;
    this.#tableState = 'sent';
    return this.#pending.splice(0);
  }

  /** A table that the server does not take is not sent again. */
  async #sendTable(): Promise<void> {
    const { columns, data } = sampleColumns(this.#table);
    const table = {
      columns: ['step', ...columns],
      data: data.map((row, at) => [this.#table[at]!.step, ...row]),
    };
    this.#tableState = 'sent';
    try {
      if (this.#artifacts === undefined) throw new Error('the server keeps artifacts elsewhere');
      const path = `mlflow-artifacts/artifacts/${this.#artifacts}/samples.json`;
      if ((await this.#client.request('PUT', path, table)) === undefined)
        throw new Error('it takes no artifacts');
      await this.#client.post('mlflow/runs/set-tag', { run_id: this.#runId, ...tableTag });
    } catch (error) {
      this.#tableState = 'refused';
      this.#report(`samples: ${reasonOf(error)}`, 0);
    }
  }

  /** Sends the parameters. A refused parameter is reported and the run goes on. */
  async #startRun(): Promise<void> {
    const { run, parameters, clock } = this.#options;
    const created = await this.#client.post('mlflow/runs/create', {
      experiment_id: await this.#experimentId(),
      run_name: run,
      start_time: Math.round(clock()),
    });
    const { info } = createdRun.parse(created).run;
    this.#runId = info.run_id;
    this.#artifacts = /^mlflow-artifacts:\/+(.+)$/.exec(info.artifact_uri ?? '')?.[1];
    const params = Object.entries(parameters).map(([key, value]) => ({ key: knownName(key), value }));
    while (params.length > 0) {
      const batch = { run_id: info.run_id, params: params.splice(0, parameterBatchSize) };
      await this.#client
        .post('mlflow/runs/log-batch', batch)
        .catch((error: unknown) => this.#report(`parameters: ${reasonOf(error)}`, 0));
    }
  }

  async #experimentId(): Promise<string> {
    const found = await this.#foundExperiment();
    if (found !== undefined) return found;
    const { experiment: name } = this.#options;
    try {
      const created = await this.#client.post('mlflow/experiments/create', { name });
      return z.object({ experiment_id: z.string() }).parse(created).experiment_id;
    } catch (error) {
      // Another process made it in between, or an attempt whose answer came too late.
      const made = await this.#foundExperiment();
      if (made !== undefined) return made;
      throw error;
    }
  }

  async #foundExperiment(): Promise<string | undefined> {
    const name = encodeURIComponent(this.#options.experiment);
    const found = await this.#client.request('GET', `mlflow/experiments/get-by-name?experiment_name=${name}`);
    if (found === undefined) return undefined;
    return z.object({ experiment: z.object({ experiment_id: z.string() }) }).parse(found).experiment
      .experiment_id;
  }

  #report(reason: string, numbers: number): void {
    this.#dropped += numbers;
    const { origin } = new URL(this.#options.url);
    this.#failures.report(`MlflowLogger: metrics are not delivered to ${origin}`, reason);
  }
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
