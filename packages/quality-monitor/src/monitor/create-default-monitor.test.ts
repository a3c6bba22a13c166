import { RandomStream, type ScoredTrajectory } from '@rlp/core';
import { describe, expect, it, vi } from 'vitest';
import { hackingRule } from '../hacking/findings.ts';
import type { MonitoredBatch } from './batch.ts';
import { createDefaultMonitor } from './create-default-monitor.ts';
import { memoryLogger } from './monitor.fixture.ts';
import type { InterventionConfig } from './options.ts';

/** Right and wrong answers, of which a flawed judge rewards those that say "delightful" again and again, from batch 12 on. */
function batches(): (MonitoredBatch & { readonly responses: readonly string[] })[] {
  const random = RandomStream.named('default-monitor');
  const words = Array.from({ length: 300 }, (_, at) => `word${String.fromCharCode(97 + (at % 26))}${at}`);
  return Array.from({ length: 18 }, (_, step) => {
    const made = Array.from({ length: 32 }, () => {
      const said = Array.from({ length: 30 }, () => words[random.integer(300)]!);
      const isHack = step >= 12 && random.uniform() < 0.5;
      const isRight = isHack || random.uniform() < 0.4;
      const hack = isHack ? ' delightful'.repeat(12) : '';
      return {
        response: `${said.join(' ')}${hack}`,
        truth: isRight && !isHack ? 1 : 0,
        style: isHack ? 2 : 0,
      };
    });
    return {
      step,
      responses: made.map(({ response }) => response),
      rewards: { truth: made.map(({ truth }) => truth), style: made.map(({ style }) => style) },
    };
  });
}

/** The same batch as a training loop has it. */
function trajectoriesIn({ responses, rewards, step }: MonitoredBatch): ScoredTrajectory[] {
  return responses.map((response, at) => ({
    trajectory: {
      id: `${step}-${at}`,
      task: { id: `${at}`, prompt: '', metadata: undefined },
      steps: [],
      messages: [],
      response,
      status: 'completed',
      policyVersion: 0,
    },
    reward: rewards.truth![at]! + rewards.style![at]!,
    components: { truth: rewards.truth![at]!, style: rewards.style![at]! },
  }));
}

const quietMonitor = (options: Parameters<typeof createDefaultMonitor>[0] = {}) =>
  createDefaultMonitor({ console: 'off', rewardHacking: { secondOpinion: 'truth' }, ...options });

describe('createDefaultMonitor', () => {
  it('names all that is wrong with its options, those of its parts included', () => {
    const options = {
      windowSize: 0,
      assessor: { tag: 'none' },
      rewardHacking: 'of',
      console: 'of',
      loggers: [3],
    };
    expect(() => createDefaultMonitor(options as never)).toThrow(
      [
        'createDefaultMonitor: invalid options (DefaultMonitorOptions)',
        '  - windowSize: expected a number of at least 1, got 0',
        '  - loggers.0: must be a logger',
        '  - assessor: Unrecognized option "tag"; did you mean assessor.tags?',
        '  - rewardHacking: expected "off", or an object, got "of"',
        '  - console: expected one of "on", "off", got "of"',
      ].join('\n'),
    );
  });

  it('reports from the severity that it is told', () => {
    const monitor = createDefaultMonitor({ interventionSeverity: 'critical', maxAlertsPerWindow: 3 });
    expect(monitor.config).toMatchObject({ interventionSeverity: 'critical', maxAlertsPerWindow: 3 });
    expect(createDefaultMonitor().config.interventionSeverity).toBe('medium');
  });

  it('refuses an action for a rule that no finding has', () => {
    const actions = { suspected_reward_hackin: { action: 'stop' } } as object;
    expect(() => createDefaultMonitor({ actions })).toThrow(
      /suspected_reward_hackin"; did you mean actions.suspected_reward_hacking/,
    );
  });

  it('says in its findings that no response has a score of the second opinion that it was given', () => {
    const logger = memoryLogger();
    const monitor = quietMonitor({ rewardHacking: { secondOpinion: 'turth' }, loggers: [logger] });
    for (const batch of batches()) monitor.monitorBatch(batch);
    const [finding] = logger.records.flatMap(({ findings }) => findings);
    expect(finding?.message).toContain(
      'The second opinion (turth) scored none of them, so this is not an alarm; rewards need a component of this name',
    );
    expect(finding?.note?.mitigation.join()).not.toContain('Pass secondOpinion');
  });

  it('lowers what honest learning explains, unless it is told to report it', () => {
    const { options } = createDefaultMonitor({ assessor: { tags: 'none' } }).assessor;
    expect(options).toMatchObject({ explainedByLearning: 'lower', tags: 'none' });
    const reporting = createDefaultMonitor({ assessor: { explainedByLearning: 'report' } });
    expect(reporting.assessor.options.explainedByLearning).toBe('report');
  });

  it('tells of reward hacking whichever way it is fed, with the same evidence', () => {
    const [fed, observing] = [memoryLogger(), memoryLogger()];
    const byBatch = quietMonitor({ loggers: [fed] });
    const byLoop = quietMonitor({ loggers: [observing] });
    for (const batch of batches()) {
      const { suspectedRewardHacking, rewardBehaviourChanged } = byBatch.monitorBatch(batch);
      const { metrics } = byLoop.observe({ iteration: batch.step!, trajectories: trajectoriesIn(batch) });
      expect(metrics['reward_quality/suspected_reward_hacking'] ?? 0).toBe(suspectedRewardHacking);
      expect(metrics['reward_quality/reward_behaviour_changed'] ?? 0).toBe(rewardBehaviourChanged);
    }
    const alarms = ({ records }: typeof fed) =>
      records.flatMap(({ findings }) =>
        findings
          .filter(({ rule }) => rule === hackingRule)
          .map(({ trajectories, ...finding }) => ({ ...finding, count: trajectories?.length })),
      );
    expect(alarms(fed)[0]!.iteration).toBeGreaterThanOrEqual(12);
    expect(alarms(fed)[0]!.iteration).toBeLessThan(16);
    expect(alarms(observing)).toEqual(alarms(fed));
  });

  it('takes options of the detector, does without it, and asks for what it is told to', () => {
    const actions: InterventionConfig['actions'] = {
      [hackingRule]: [{ action: 'stop' }, { action: 'drop' }],
    };
    const logger = memoryLogger();
    const stopping = quietMonitor({ actions, loggers: [logger] });
    const without = quietMonitor({ rewardHacking: 'off' });
    const warming = quietMonitor({ rewardHacking: { warmUpResponses: 100_000 } });
    for (const batch of batches()) {
      stopping.monitorBatch(batch);
      expect(without.monitorBatch(batch).suspectedRewardHacking).toBe(0);
      expect(warming.monitorBatch(batch).suspectedRewardHacking).toBe(0);
    }
    const alarm = logger.records.find(({ notes }) => notes.length > 0)!;
    const { responses } = batches().find(({ step }) => step === alarm.step)!;
    expect(alarm.notes.map((note) => note.split(' ', 2)[1])).toEqual(['stop', 'drop']);
    const dropped = alarm.findings.at(-1)!.trajectories!;
    const hacks = dropped.filter((place) => responses[Number(place)]!.includes('delightful'));
    expect(hacks.length).toBeGreaterThan(0.9 * dropped.length);
    expect(alarm.findings.at(-1)!.samples!.join()).toContain('delightful');
    expect(() => createDefaultMonitor({ rewardHacking: { warmUpResponses: 1 } })).toThrow('warmUpResponses');
    expect(() => createDefaultMonitor({ tags: 'none' } as object)).toThrow('Unrecognized option "tags"');
    expect(() => createDefaultMonitor({ assessor: { tags: 'off' as never } })).toThrow("or 'none'");
    expect(createDefaultMonitor({ assessor: { tags: 'none' } }).assessor.options.tags).toBe('none');
  });

  it('prints alerts, unless it is told not to', () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const batch = { responses: new Array<string>(100).fill(''), rewards: {} };
    createDefaultMonitor({ console: 'off' }).monitorBatch(batch);
    expect([createDefaultMonitor().shows, createDefaultMonitor({ console: 'off' }).shows]).toEqual([
      'findings',
      undefined,
    ]);
    expect(print).not.toHaveBeenCalled();
    const said: string[] = [];
    const onFailure = (message: string) => said.push(message);
    createDefaultMonitor({ onFailure }).monitorBatch({ responses: [], rewards: { a: [1] } });
    expect(said).toEqual([expect.stringContaining('values: 1, responses: 0')]);
    createDefaultMonitor().monitorBatch(batch);
    expect(print).toHaveBeenCalledWith(expect.stringContaining('[CRITICAL] diversity_collapse'));
    print.mockRestore();
  });

  it('judges by the total where there is one, and goes on where a component has no values', () => {
    const totals = quietMonitor();
    const summed = quietMonitor();
    for (const { rewards, ...batch } of batches()) {
      const total = rewards.truth!.map((truth, at) => truth! + rewards.style![at]!);
      const other = total.map(() => 7);
      totals.monitorBatch({ ...batch, rewards: { other, truth: rewards.truth!, total } });
      const judge = total.map(() => null);
      summed.monitorBatch({ ...batch, rewards: { ...rewards, judge } });
    }
    for (const monitor of [totals, summed]) {
      const { totalAlertsByRule } = monitor.getMonitoringSummary().monitoring;
      expect(totalAlertsByRule[hackingRule]).toBeGreaterThan(0);
    }
  });

  it('compares responses to prompts, where it is given them', () => {
    const copying = batches().map(({ step, responses }) => {
      const prompts = responses.map(
        (_, at) => `${step} ${'please say what you think of it '.repeat(3)}${at}`,
      );
      const isHacked = step! >= 12;
      return {
        step,
        prompts,
        responses: responses.map((response, at) => (isHacked && at % 2 === 0 ? prompts[at]! : response)),
        rewards: { truth: responses.map((_, at) => (isHacked ? 1 - (at % 2) : at % 3 === 0 ? 1 : 0)) },
      };
    });
    const logger = memoryLogger();
    const monitor = quietMonitor({ loggers: [logger] });
    for (const batch of copying) monitor.monitorBatch(batch);
    expect(Object.keys(logger.records.at(-1)!.metrics)).toContain('hacking/copying');
  });
});
