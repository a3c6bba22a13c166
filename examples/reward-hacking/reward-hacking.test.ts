import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Weights } from '@rlp/core';
import { RewardQualityDashboard } from '@rlp/quality-monitor/files';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArmName, runArm } from './arm.ts';
import { reasoningWords } from './flawed-reward.ts';
import { imitate } from './imitate.ts';
import { storyOptions } from './options.ts';
import { storyPage } from './record.ts';
import { smoothed, summaryOf } from './story.ts';
import { tableSetting } from './table.ts';
import { tellStory } from './telling.ts';

const setting = tableSetting('0', 40);
let root: string;
let imitated: Weights;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rlp-reward-hacking-'));
  imitated = await imitate(setting, { checkpoints: join(root, 'imitation'), start: 'anew' });
});
afterAll(() => rm(root, { recursive: true }));

const tell = async (name: ArmName) => runArm(name, setting, imitated, { directory: join(root, name) });

describe('a table that is paid for a word', () => {
  it('games the reward; the alarm comes before held-out accuracy has fallen by 10 %', async () => {
    const record = await tell('watched');
    const { alarmIteration, fellAtIteration, heldOutAtAlarm, heldOutBestBeforeAlarm, heldOutEnd } =
      summaryOf(record);
    expect(fellAtIteration).not.toBeNull();
    expect(alarmIteration).toBeLessThan(fellAtIteration!);
    expect(heldOutAtAlarm).toBeGreaterThan(0.9 * heldOutBestBeforeAlarm!);
    expect(heldOutEnd).toBeLessThan(0.8 * heldOutBestBeforeAlarm!);
    expect(record.notes.filter((note) => note.includes('monitor, '))).toEqual([]);
    expect(storyPage(new Map([['watched', record]]))).toContain('alert-critical');
  }, 60_000);

  it('goes back and learns to add after all, where the monitor may intervene', async () => {
    const record = await tell('saved');
    const { heldOutEnd, heldOutBestBeforeAlarm, interventions } = summaryOf(record);
    expect(interventions.slice(0, 2)).toEqual([
      expect.stringContaining('went back to its last good weights'),
      expect.stringContaining('the weight of "reasoning_words" is multiplied by 0.01'),
    ]);
    expect(heldOutEnd).toBeGreaterThanOrEqual(heldOutBestBeforeAlarm!);
  }, 60_000);
});

describe('the figures', () => {
  it('are means of three iterations, and name the first that is 10 % below the best', () => {
    expect(smoothed([0, 3, 6, 9])).toEqual([0, 1.5, 3, 6]);
    const { fellAtIteration, heldOutEnd, alarmIteration } = summaryOf({
      heldOut: [0.4, 0.6, 0.6, 0.6, 0.6, 0.3, 0.3],
      keywords: [],
      alarms: [],
      notes: [],
    });
    expect([fellAtIteration, alarmIteration]).toEqual([4, null]);
    expect(heldOutEnd).toBeCloseTo(0.4);
  });

  it('come from a reward that counts a word', () => {
    expect(reasoningWords({ response: 'therefore therefore 5' } as never, {} as never)).toBe(2);
  });
});

describe('an interrupted run', () => {
  const flags = (out: string) => ['--quick', '--iterations', '4', '--out', out];

  /** Tells it in this process; aborts it when what it says matches. */
  async function tellHere(args: readonly string[], abortAt?: RegExp) {
    const options = storyOptions(args);
    if (options === 'help') throw new Error('expected flags of a run');
    const controller = new AbortController();
    let output = '';
    const stream = new Writable({
      write(text, _encoding, done) {
        output += text;
        if (abortAt?.test(output)) controller.abort(new Error('interrupted'));
        done();
      },
    });
    return tellStory(options, { signal: controller.signal, stream });
  }

  /** Tells it as a shell would, and presses Ctrl-C when the output matches. */
  async function tellInShell(args: readonly string[], interruptAt: RegExp) {
    const main = fileURLToPath(new URL('./main.ts', import.meta.url));
    const loader = ['--conditions=@rlp/source', '--import', import.meta.resolve('tsx')];
    const child = spawn(process.execPath, [...loader, main, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    let pressed = Number.NaN;
    child.stdout.on('data', (text: Buffer) => {
      output += text;
      if (!interruptAt.test(output) || !Number.isNaN(pressed)) return;
      pressed = performance.now();
      child.kill('SIGINT');
    });
    const [code] = await once(child, 'close');
    return { code, output, stoppedAfter: performance.now() - pressed };
  }

  /** All that a run leaves, but for times. */
  async function leftIn(out: string) {
    const told = JSON.parse(await readFile(join(out, 'told.json'), 'utf8'));
    const logs = await new RewardQualityDashboard({
      metricsLogFile: join(out, 'saved/monitor-metrics.jsonl'),
      alertLogFile: join(out, 'saved/alerts.jsonl'),
    }).readLogs();
    const rows = metricRowsFromJsonl(await readFile(join(out, 'saved/metrics.jsonl'), 'utf8')).map((row) => ({
      ...row,
      metrics: Object.entries(row.metrics).filter(([name]) => !name.startsWith('time/')),
    }));
    return { told, logs, rows };
  }

  it('stops soon, and resumed twice gives what it would have given', async () => {
    const [whole, parts] = [join(root, 'whole'), join(root, 'parts')];
    await tellHere(flags(whole));
    const stopped = await tellInShell(flags(parts), /honest .*1\/4/);
    expect(stopped.code).toBe(130);
    expect(stopped.output).toContain(
      `Continue with: pnpm --filter @rlp-examples/reward-hacking start ${flags(parts).join(' ')} --resume`,
    );
    console.log(`Ctrl-C stopped after ${Math.round(stopped.stoppedAfter)} ms`);
    expect(stopped.stoppedAfter).toBeLessThan(5000);
    await expect(tellHere([...flags(parts), '--resume'], /saved .*3\/4/)).rejects.toThrow('interrupted');
    await tellHere([...flags(parts), '--resume']);
    expect(await leftIn(parts)).toEqual(await leftIn(whole));
    await expect(tellHere([...flags(parts), '--resume', '--seed', '1'])).rejects.toThrow(
      'holds a run with --seed 0 --iterations 4 --quick; resume it with these',
    );
  }, 60_000);
});

describe('the options', () => {
  it('are refused in words', () => {
    expect(() => storyOptions(['--bogus'])).toThrow("Unknown option '--bogus'; --help lists the flags");
    expect(() => storyOptions(['--iterations', 'many'])).toThrow('iterations: expected a number');
  });
});
