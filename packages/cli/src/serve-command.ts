import { basename, resolve } from 'node:path';
import { messageOf, onAbort } from '@rlp/core';
import { createEngine } from '@rlp/onnx/runtime';
import { serveModel } from '@rlp/serve';
import { onnxTinkerTrainer, serveTinker } from '@rlp/serve/tinker';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { countOf, given, numberOf, threadsOf } from './numbers.ts';
import { loadPolicy, startPolicy } from './open-policy.ts';
import { UsageError } from './usage-error.ts';

/** Variable that holds the token, so that it is not in the list of processes. */
const tokenVariable = 'RLP_SERVE_TOKEN';

/** `rlp serve`. */
export const serveCommand = defineCommand({
  meta: { name: 'serve', description: 'Serve a model to clients of OpenAI, Anthropic, vLLM and SGLang' },
  args: {
    model: { type: 'positional', description: 'Model folder, or folder of a run', required: true },
    port: { type: 'string', description: 'Port. Default: any free one', valueHint: 'N' },
    host: { type: 'string', description: 'Address to listen on', default: '127.0.0.1', valueHint: 'HOST' },
    token: {
      type: 'string',
      description: `Token of requests. Default: $${tokenVariable}, else a random one`,
      valueHint: 'TEXT',
    },
    name: {
      type: 'string',
      description: 'Name of the model in requests. Default: its folder',
      valueHint: 'NAME',
    },
    adapter: {
      type: 'string',
      description: 'Folders of adapters, as NAME=DIR or DIR, separated by commas',
      valueHint: 'DIR',
    },
    'any-name': { type: 'boolean', description: 'Answer requests for other models with this one' },
    requests: { type: 'string', description: 'Requests answered at once. Default 64', valueHint: 'N' },
    waiting: { type: 'string', description: 'Requests that may wait. Default 256', valueHint: 'N' },
    timeout: { type: 'string', description: 'Seconds that an answer may take. Default 600', valueHint: 'S' },
    threads: { type: 'string', description: 'Threads of the engine. Default: one per core', valueHint: 'N' },
    seed: { type: 'string', description: 'Names the draws of requests without a seed', valueHint: 'TEXT' },
    tinker: {
      type: 'string',
      description: 'Serve training to clients of Tinker instead, with checkpoints in this folder',
      valueHint: 'DIR',
    },
  },
  async run({ args, data }) {
    const { print, printError, signal, engine } = data as CliContext;
    if (args.tinker !== undefined) return await serveTraining(args, data as CliContext);
    const seconds = numberOf('timeout', args.timeout, { least: 0.001, most: 2_147_483 });
    const options = given({
      port: numberOf('port', args.port, { least: 0, most: 65_535, kind: 'integer' }),
      token: tokenOf(args.token),
      maxRequests: countOf('requests', args.requests),
      maxWaiting: countOf('waiting', args.waiting),
      timeoutMs: seconds === undefined ? undefined : seconds * 1000,
      seed: args.seed,
    });
    const threads = threadsOf(args.threads);
    const name = args.name ?? basename(resolve(args.model));
    const adapters = adaptersOf(args.adapter, name);
    const loaded = await loadPolicy(args.model);
    const { folder } = loaded;
    await using policy = await startPolicy(loaded, { threads, engine, earlier: 'used' });
    await using server = await serveModel({
      ...options,
      ...{ policy: policy.inference.backend, name, folder, host: args.host, adapters },
      otherNames: args['any-name'] === true ? 'serve' : 'refuse',
      onError: (error, status) => {
        if (status >= 500) printError(`${status} ${messageOf(error)}`);
      },
    });
    print(`OPENAI_BASE_URL=${server.url}/v1 OPENAI_API_KEY=${server.token}`);
    const about = loaded.model.chat === undefined ? ' It has no chat template: use /v1/completions.' : '';
    printError(`Serving ${name} at ${server.url}.${about} Ctrl-C finishes what is under way and ends it.`);
    await untilStopped(signal, printError);
    await server.close();
  },
});

interface TrainingArgs {
  readonly [name: string]: unknown;
  readonly model: string;
  readonly host: string;
  readonly tinker?: string | undefined;
  readonly port?: string | undefined;
  readonly token?: string | undefined;
  readonly name?: string | undefined;
  readonly threads?: string | undefined;
}

/** Flags that mean nothing to clients that train. */
const answeringFlags = ['adapter', 'any-name', 'requests', 'waiting', 'timeout', 'seed'] as const;

/** Serves the routes of Tinker, over which clients train corrections of the model. */
async function serveTraining(
  args: TrainingArgs,
  { print, printError, signal, engine }: CliContext,
): Promise<void> {
  const other = answeringFlags.find((flag) => args[flag] !== undefined);
  if (other !== undefined) {
    throw new UsageError(`rlp serve: --${other} has no effect with --tinker; leave one of them out`);
  }
  const options = given({
    port: numberOf('port', args.port, { least: 0, most: 65_535, kind: 'integer' }),
    token: tokenOf(args.token),
  });
  const threads = threadsOf(args.threads);
  const { model } = await loadPolicy(args.model);
  const modelName = args.name ?? basename(resolve(args.model));
  const started = await createEngine({ ...engine, ...given({ threads }) });
  await using _ = { [Symbol.asyncDispose]: () => started.close() };
  const trainer = onnxTinkerTrainer({ engine: started, model, modelName });
  await using server = await serveTinker({
    ...options,
    ...{ trainer, directory: args.tinker!, host: args.host },
    onFailure: (error) => printError(messageOf(error)),
  });
  print(`TINKER_BASE_URL=${server.url} TINKER_API_KEY=${server.token}`);
  printError(`Clients of Tinker train ${modelName} at ${server.url}. Ctrl-C ends it.`);
  await untilStopped(signal, printError);
  await server.close();
}

async function untilStopped(
  signal: AbortSignal | undefined,
  printError: (line: string) => void,
): Promise<void> {
  if (signal !== undefined) await new Promise<void>((resolve) => onAbort(signal, resolve));
  printError('Finishing what is under way.');
}

/** The token of the flag or of the variable. */
function tokenOf(flag: string | undefined): string | undefined {
  const token = flag ?? process.env[tokenVariable];
  if (token === undefined || token.length >= 16) return token;
  const source = flag === undefined ? `$${tokenVariable}` : '--token';
  throw new UsageError(`${source} must have at least 16 characters, got ${token.length}`);
}

/** Folders by name. A folder without a name has its own. */
function adaptersOf(text: string | undefined, model: string): Record<string, string> {
  const parts = (text ?? '').split(',').filter((part) => part !== '');
  const entries = parts.map((part): [string, string] => {
    const at = part.indexOf('=');
    const path = part.slice(at + 1);
    const name = at < 0 ? basename(resolve(path)) : part.slice(0, at);
    if (name === '' || path === '')
      throw new UsageError(`--adapter: expected NAME=DIR or DIR, got "${part}"`);
    return [name, path];
  });
  const names = [model, ...entries.map(([name]) => name)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new UsageError(
      `--adapter: expected names that differ from each other and from the model's, got "${twice}" twice`,
    );
  return Object.fromEntries(entries);
}
