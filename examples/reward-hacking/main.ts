/** A policy games a flawed reward; the monitor says so, and an intervention saves the run. Run it: pnpm start */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RlpError, type Weights } from '@rlp/core';
import { createEngine } from '@rlp/onnx/runtime';
import { RewardQualityDashboard } from '@rlp/quality-monitor/dashboard';
import { jsonlSink } from '@rlp/quality-monitor/files';
import { compositeLogger, consoleLogger, JsonlLogger } from '@rlp/tracking';
import { type ArmName, type ArmRecord, arms, runArm } from './arm.ts';
import { imitate } from './imitate.ts';
import { type StoryOptions, storyOptions, usage } from './options.ts';
import { percent, storyOf, writeRecord } from './record.ts';
import type { Setting } from './setting.ts';
import { tableSetting } from './table.ts';
import { transformerSetting } from './transformer.ts';

const say = (line: string) => console.log(line);

/** One arm, with its metrics, the monitor's logs and a report of them in a directory of its own. */
async function tell(
  name: ArmName,
  setting: Setting,
  { options, imitated, signal }: { options: StoryOptions; imitated: Weights; signal: AbortSignal },
): Promise<ArmRecord> {
  const directory = join(options.out, name);
  await rm(directory, { recursive: true, force: true });
  const metricsLogFile = join(directory, 'monitor-metrics.jsonl');
  const alertLogFile = join(directory, 'alerts.jsonl');
  const logger = compositeLogger(
    new JsonlLogger({ path: join(directory, 'metrics.jsonl') }),
    consoleLogger({ label: name.padEnd(9), iterations: setting.practice.iterations, stream: process.stdout }),
  );
  try {
    const record = await runArm(name, setting, imitated, {
      directory: join(directory, 'checkpoints'),
      sinks: [jsonlSink({ metricsLogFile, alertLogFile })],
      signal,
      onIteration: (iteration, metrics) => logger.log(iteration, metrics),
    });
    if (arms[name].monitor !== 'none') {
      const dashboard = new RewardQualityDashboard({ metricsLogFile, alertLogFile });
      await dashboard.generateReport(join(directory, 'report.html'), { title: `Reward quality: ${name}` });
    }
    return record;
  } finally {
    await logger.close();
  }
}

/** All arms from the same imitated weights. */
async function story(options: StoryOptions, signal: AbortSignal): Promise<void> {
  const { seed, iterations, out } = options;
  const start = performance.now();
  const engine = options.quick ? undefined : await createEngine();
  try {
    const setting =
      engine === undefined ? tableSetting(seed, iterations) : transformerSetting(engine, seed, iterations);
    say('Imitating a careless teacher…');
    const imitated = await imitate(setting, signal);
    const records = new Map<ArmName, ArmRecord>();
    for (const name of Object.keys(arms) as ArmName[]) {
      records.set(name, await tell(name, setting, { options, imitated, signal }));
      await writeRecord(out, seed, records);
    }
    for (const [name, arm] of Object.entries(storyOf(records))) {
      const alarm =
        arm.alarmIteration === null
          ? 'no alarm'
          : `alarm in iteration ${arm.alarmIteration} at ${percent(arm.heldOutAtAlarm ?? 0)}`;
      const fall = arm.fellAtIteration === null ? 'never fell' : `fell in iteration ${arm.fellAtIteration}`;
      say(
        `${name.padEnd(9)} held-out accuracy ${percent(arm.heldOutBefore)} before, ${percent(arm.heldOutEnd)} at the end; ${fall}; ${alarm}`,
      );
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    say(
      `${seconds} s. The curves: ${join(out, 'report.html')}; what the monitor saw: ${join(out, 'watched/report.html')}`,
    );
  } finally {
    await engine?.close();
  }
}

/** Ctrl-C once stops after the step under way, twice at once. Arms that are told are on disk. */
async function main(): Promise<void> {
  const options = storyOptions(process.argv.slice(2));
  if (options === 'help') return say(usage);
  const controller = new AbortController();
  const { signal } = controller;
  process.on('SIGINT', () =>
    signal.aborted ? process.exit(130) : controller.abort(new Error('interrupted')),
  );
  try {
    await story(options, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    say(`\nStopped. Arms that were finished are in ${options.out}.`);
    process.exitCode = 130;
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof RlpError ? error.message : error);
  process.exitCode = 1;
});
