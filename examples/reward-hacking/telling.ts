import { join } from 'node:path';
import type { Weights } from '@rlp/core';
import { createEngine } from '@rlp/onnx/runtime';
import { monitorLogger, RewardQualityDashboard } from '@rlp/quality-monitor/files';
import { type ConsoleStream, compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import { type ArmName, arms, runArm } from './arm.ts';
import { imitate } from './imitate.ts';
import type { StoryOptions } from './options.ts';
import { type ArmRecord, readTold, type Told } from './progress.ts';
import { percent, recordsOf, storyOf, writeRecord } from './record.ts';
import type { Setting } from './setting.ts';
import { tableSetting } from './table.ts';
import { transformerSetting } from './transformer.ts';

/** Where the story is told, and what ends it early. */
export interface Telling {
  readonly signal: AbortSignal;
  readonly stream: ConsoleStream;
}

/** What an arm is told with. */
interface ArmTelling extends Telling {
  readonly options: StoryOptions;
  readonly setting: Setting;
  readonly imitated: Weights;
}

/**
 * All arms from the same imitated weights, from wherever an earlier process stopped.
 *
 * @throws the signal's reason when it ends the run; `--resume` then goes on with it.
 */
export async function tellStory(options: StoryOptions, { signal, stream }: Telling): Promise<Told> {
  const { seed, iterations, out } = options;
  let told = await readTold(out, options);
  const start = performance.now();
  const engine = options.quick ? undefined : await createEngine();
  try {
    const setting =
      engine === undefined ? tableSetting(seed, iterations) : transformerSetting(engine, seed, iterations);
    stream.write('Imitating a careless teacher…\n');
    const imitated = await imitate(setting, {
      checkpoints: join(out, 'imitation'),
      start: options.resume ? 'resumed' : 'anew',
      signal,
    });
    for (const name of Object.keys(arms) as ArmName[]) {
      if (told.arms[name] !== undefined) continue;
      const record = await tellArm(name, { options, setting, imitated, signal, stream });
      told = { ...told, arms: { ...told.arms, [name]: record } };
      await writeRecord(out, told);
    }
  } finally {
    await engine?.close();
  }
  conclude(told, out, stream, performance.now() - start);
  return told;
}

/** One arm, with its metrics, the monitor's logs and a report of them in a directory of its own. */
async function tellArm(
  name: ArmName,
  { options, setting, imitated, signal, stream }: ArmTelling,
): Promise<ArmRecord> {
  const directory = join(options.out, name);
  const metricsLogFile = join(directory, 'monitor-metrics.jsonl');
  const alertLogFile = join(directory, 'alerts.jsonl');
  const logger = compositeLogger(
    new JsonlLogger({ path: join(directory, 'metrics.jsonl') }),
    consoleLogger({ label: name.padEnd(9), iterations: setting.practice.iterations, stream }),
  );
  try {
    const record = await runArm(name, setting, imitated, {
      directory,
      start: options.resume ? 'resumed' : 'anew',
      loggers: [monitorLogger({ metricsLogFile, alertLogFile })],
      signal,
      onIteration: (iteration, metrics) => logger.log(iteration, metrics),
    });
    const dashboard = new RewardQualityDashboard({ metricsLogFile, alertLogFile });
    await dashboard.generateReport(join(directory, 'report.html'), { title: `Reward quality: ${name}` });
    return record;
  } finally {
    await logger.close();
  }
}

/** Each arm's end in a line. */
function conclude(told: Told, out: string, stream: ConsoleStream, milliseconds: number): void {
  for (const [name, arm] of Object.entries(storyOf(recordsOf(told)))) {
    const alarm =
      arm.alarmIteration === null
        ? 'no alarm'
        : `alarm in iteration ${arm.alarmIteration} at ${percent(arm.heldOutAtAlarm ?? 0)}`;
    const fall = arm.fellAtIteration === null ? 'never fell' : `fell in iteration ${arm.fellAtIteration}`;
    stream.write(
      `${name.padEnd(9)} held-out accuracy ${percent(arm.heldOutBefore)} before, ${percent(arm.heldOutEnd)} at the end; ${fall}; ${alarm}\n`,
    );
  }
  stream.write(
    `${(milliseconds / 1000).toFixed(0)} s. The curves: ${join(out, 'report.html')}; what the monitor saw: ${join(out, 'watched/report.html')}\n`,
  );
}
