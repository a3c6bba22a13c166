import { join } from 'node:path';
import { loadRun } from '@rlp/algorithms/run';
import { estimateMemory } from '@rlp/backprop';
import { RlpError } from '@rlp/core';
import { loadModel, saveModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { type ConsoleStream, compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import { additionTasks } from './addition.ts';
import { type Evaluation, evaluate } from './evaluate.ts';
import type { QuickstartOptions } from './options.ts';
import { newModel, policyOf } from './policy.ts';
import { clearRun, type Progress, readProgress, writeWhole } from './progress.ts';
import { percent, readRows, type Summary, sampleTable, throughput, writeRecord } from './record.ts';
import { imitate, imitation, practice, practise, type Run } from './stages.ts';

/** What we or the system refuse, in a line; anything else is a bug, whose stack helps. */
export function explained(error: unknown): unknown {
  if (error instanceof RlpError) return error.message;
  return error instanceof Error && 'syscall' in error ? `quickstart: ${error.message}` : error;
}

const sayTo = (stream: ConsoleStream) => (line: string) => stream.write(`${line}\n`);

/** Imitation, and what it is worth. */
async function supervise(run: Run): Promise<Progress> {
  const { options, engine, signal, stream, tasks, progress } = run;
  const say = sayTo(stream);
  const model = newModel(options.seed);
  const parameters = [...model.weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  say(`A Llama of ${(parameters / 1e6).toFixed(2)} million random weights, ${engine.threads} threads.`);
  say(estimateMemory({ config: model.config, rows: 256, length: 32 }).table);

  const policy = await policyOf(engine, model, imitation(options));
  const before = progress.before ?? (await evaluate(policy.inference, tasks.heldOut, signal));
  say(`Held-out accuracy before training: ${percent(before.accuracy)}`);
  const checkpoints = join(options.out, 'checkpoints', 'sft');
  const resume = options.resume ? await loadRun(checkpoints, policy.backend, 'sft') : undefined;
  const logger = stageLogger(run, 'sft', resume?.iteration);
  const context = { run, policy, tokenizer: model.tokenizer, logger, checkpoints, resume };
  await imitate(context).finally(() => logger.close());
  signal.throwIfAborted();
  await policy.inference.updateWeights(await policy.backend.publish({ as: 'shared' }));
  const afterSft = await evaluate(policy.inference, tasks.heldOut, signal);
  await saveModel(join(options.out, 'sft'), { ...model, weights: await policy.backend.getWeights() });
  await policy.close();
  return { ...progress, parameters, before, afterSft };
}

/** Practice, from the imitated model. */
async function reinforce(run: Run): Promise<Evaluation> {
  const { options, engine, signal, tasks } = run;
  const model = await loadModel(join(options.out, 'sft'));
  const policy = await policyOf(engine, model, practice(options));
  const checkpoints = join(options.out, 'checkpoints', 'rl');
  const resume = options.resume ? await loadRun(checkpoints, policy.backend, 'rl') : undefined;
  const logger = stageLogger(run, 'rl', resume?.iteration);
  const context = { run, policy, tokenizer: model.tokenizer, logger, checkpoints, resume };
  await practise(context).finally(() => logger.close());
  signal.throwIfAborted();
  const evaluation = await evaluate(policy.inference, tasks.heldOut, signal);
  await saveModel(join(options.out, 'checkpoint'), { ...model, weights: await policy.backend.getWeights() });
  await policy.close();
  return evaluation;
}

const metricsPath = ({ out }: QuickstartOptions, stage: 'sft' | 'rl') =>
  join(out, stage === 'sft' ? 'metrics-sft.jsonl' : 'metrics.jsonl');

function stageLogger({ options, stream }: Run, stage: 'sft' | 'rl', startedAt = 0) {
  const [label, iterations] = stage === 'sft' ? ['SFT ', options.sftUpdates] : ['GRPO', options.rlIterations];
  return compositeLogger(
    new JsonlLogger({ path: metricsPath(options, stage) }),
    consoleLogger({ label, iterations, startedAt, stream }),
  );
}

/** Both stages, from wherever an earlier run stopped; their progress and samples are told to `stream`. */
export async function quickstart(
  options: QuickstartOptions,
  { signal, stream }: Pick<Run, 'signal' | 'stream'>,
): Promise<Summary> {
  const say = sayTo(stream);
  if (!options.resume) await clearRun(options.out);
  const path = join(options.out, 'progress.json');
  let progress = await readProgress(path, options.seed);
  const start = performance.now() - 1000 * progress.seconds;
  const remember = async (found: Progress) => {
    progress = { ...found, seconds: (performance.now() - start) / 1000 };
    await writeWhole(path, JSON.stringify(progress));
  };
  await remember(progress);
  const engine = await createEngine(options.threads === undefined ? {} : { threads: options.threads });
  try {
    const tasks = additionTasks(options.seed, { heldOut: options.heldOut });
    const run = { options, engine, signal, stream, tasks };
    if (progress.afterSft === undefined) await remember(await supervise({ ...run, progress }));
    say(`Held-out accuracy after SFT: ${percent(progress.afterSft?.accuracy ?? 0)}`);
    const afterRl = await reinforce({ ...run, progress });
    await remember(progress);
    const { summary, table } = await conclude(options, progress, afterRl);
    say(`\n${table}\n`);
    return summary;
  } finally {
    if (signal.aborted) await remember(progress);
    await engine.close();
  }
}

async function conclude(
  options: QuickstartOptions,
  progress: Progress,
  afterRl: Evaluation,
): Promise<{ readonly summary: Summary; readonly table: string }> {
  const { before, afterSft, seconds, parameters = 0 } = progress;
  if (before === undefined || afterSft === undefined) throw new RlpError('quickstart: SFT was not evaluated');
  const stages = {
    sft: await readRows(metricsPath(options, 'sft')),
    rl: await readRows(metricsPath(options, 'rl')),
  };
  const speed = throughput(stages);
  const summary: Summary = {
    seed: options.seed,
    parameters,
    heldOutProblems: afterRl.responses.length,
    heldOutAccuracyBefore: before.accuracy,
    heldOutAccuracyAfterSft: afterSft.accuracy,
    heldOutAccuracyAfterRl: afterRl.accuracy,
    seconds,
    sftSteps: stages.sft.length,
    rlSteps: stages.rl.length,
    trainTokensPerSecond: speed.train,
    generateTokensPerSecond: speed.generate,
  };
  await writeRecord(options.out, summary, stages, { afterSft, afterRl });
  return { summary, table: sampleTable(afterSft, afterRl) };
}
