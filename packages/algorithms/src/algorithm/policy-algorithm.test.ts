import { OptionsError } from '@rlp/core';
import { describe, expect, it, vi } from 'vitest';
import { algorithmSetup } from '../loop/bandit.fixture.ts';
import { GRPOAlgorithm } from './grpo.ts';
import { PPOAlgorithm } from './ppo.ts';

describe('an algorithm', () => {
  it('trains, reports progress and logs', async () => {
    const seen: number[] = [];
    const logged: number[] = [];
    const logger = { log: (step: number) => void logged.push(step), close: async () => undefined };
    const setup = { ...algorithmSetup('grpo'), logger };
    const algorithm = new GRPOAlgorithm(setup, { rollout: { sampling: { maxTokens: 1 } } });
    const console = vi.spyOn(globalThis.console, 'info');
    const { history, state } = await algorithm.train({
      iterations: 3,
      progressBar: { update: ({ done }) => void seen.push(done), stop: () => void seen.push(-1) },
    });
    // A bar takes the place of lines.
    expect(console).not.toHaveBeenCalled();
    console.mockRestore();
    expect(seen).toEqual([1, 2, 3, -1]);
    expect(logged).toEqual([0, 1, 2]);
    for await (const { iteration } of algorithm.run({ iterations: 4, resume: state })) {
      expect(logged).toEqual([0, 1, 2, iteration]);
    }
    expect(history).toHaveLength(3);
    expect(state).toEqual({ iteration: 3, taskCursor: 24 });
  });

  it.each([undefined, null, 'grpo', 5])('is told by name that %j has no parts', (given) => {
    expect(() => new GRPOAlgorithm(given as never)).toThrow(OptionsError);
  });

  it('ends when its signal fires, and refuses what is not a signal', async () => {
    const stop = new AbortController();
    const algorithm = new GRPOAlgorithm(algorithmSetup('stopped'), {
      rollout: { sampling: { maxTokens: 1 } },
    });
    let iterations = 0;
    for await (const _ of algorithm.run({ iterations: 5, signal: stop.signal }))
      if (++iterations === 2) stop.abort(new Error('enough'));
    expect(iterations).toBe(2);
    await expect(algorithm.train({ signal: {} as never, print: 'none' })).rejects.toThrow(
      'signal: must be an AbortSignal',
    );
  });

  it('goes on with a note when nothing could be rewarded, if asked to', async () => {
    const setup = algorithmSetup('unscored');
    const rewards: typeof setup.rewards = {
      computeRewards: async ({ trajectories }) =>
        trajectories.map((trajectory) => ({ trajectory, reward: null, components: {} })),
    };
    const shown: (readonly string[])[] = [];
    const algorithm = new GRPOAlgorithm(
      { ...setup, rewards },
      {
        tasksPerIteration: 2,
        rollout: { sampling: { maxTokens: 1 } },
        failureBudget: { whenSpent: 'continue' },
      },
    );
    const { notes } = await algorithm.train({
      iterations: 3,
      progressBar: { update: (progress) => void shown.push(progress.notes), stop: () => undefined },
    });
    const note = '16 of 16 finished trajectories got no reward: the reward was null';
    expect(notes).toContain(`${note} (3 times)`);
    expect(shown).toEqual(Array(3).fill(expect.arrayContaining([note])));
  });

  it('names the option that says how long it trains', async () => {
    const algorithm = new GRPOAlgorithm(algorithmSetup('none'));
    const wrong =
      /GRPOAlgorithm: invalid options \((Train|Run)Options\)\n.*iterations: expected a number of at least 1, got 0/;
    await expect(algorithm.train({ iterations: 0 })).rejects.toThrow(wrong);
    await expect(algorithm.run({ iterations: 0 }).next()).rejects.toThrow(wrong);
  });

  it('trains once at a time', async () => {
    const algorithm = new GRPOAlgorithm(algorithmSetup('twice'), { rollout: { sampling: { maxTokens: 1 } } });
    const first = algorithm.train({ iterations: 1 });
    await expect(algorithm.train({ iterations: 1 })).rejects.toThrow(
      'GRPOAlgorithm: an earlier call of train is not over',
    );
    const { state } = await first;
    expect((await algorithm.train({ iterations: 2, resume: state })).history).toHaveLength(1);
  });

  it('refuses at once what it cannot work with', () => {
    const setup = algorithmSetup('refused');
    expect(() => new GRPOAlgorithm(setup, { surprise: 1 } as never)).toThrow(
      'Unrecognized option "surprise"',
    );
    const { backend, sampler, ...rest } = setup;
    expect(() => new GRPOAlgorithm(rest as never)).toThrow(
      /dependencies\.backend: must be a training backend;.*\n.*dependencies\.sampler: must be a sampler;/,
    );
    const given = { ...setup, tasks: setup.tasks.take(3), rewards: () => 1 };
    expect(() => new GRPOAlgorithm(given as never)).toThrow(
      /tasks: must be a task source; taskSource\(tasks\) .*\n.*rewards: must be a reward computer; rewardFunctions/,
    );
  });

  it('names misspelt dependencies and options in one error', () => {
    const given = { ...algorithmSetup('spelt'), loger: { log: () => undefined }, advantages: () => [] };
    const options = { presett: 'verl', advantage: { scal: 'none' }, logger: {} };
    expect(() => new GRPOAlgorithm(given as never, options as never)).toThrow(
      [
        'GRPOAlgorithm: invalid options (GrpoOptions)',
        '  - advantage: Unrecognized option "scal"; did you mean advantage.scale?',
        '  - dependencies: Unrecognized option "loger"; did you mean dependencies.logger?',
        '  - dependencies: Unrecognized option "advantages"; it belongs outside dependencies',
        '  - Unrecognized option "presett"; did you mean preset?',
        '  - Unrecognized option "logger"; did you mean dependencies.logger?',
      ].join('\n'),
    );
  });

  it('refuses unknown presets and iterations among its options', () => {
    const wrong = { preset: 'verll', iterations: 3 };
    expect(() => new GRPOAlgorithm(algorithmSetup('preset'), wrong as never)).toThrow(
      /iterations: is not an option here; pass it to train.*\n.*preset: .*did you mean 'verl'\?/,
    );
  });

  it.each([
    ['num_generations', 'in rlp this is rollout.groupSize'],
    ['max_completion_length', 'in rlp this is rollout.sampling.maxTokens'],
    ['temperature', 'in rlp this is rollout.sampling.temperature'],
    ['num_iterations', 'in rlp this is epochs'],
    ['model', 'it is an option of OnnxBackendOptions'],
    ['eval_steps', 'call evaluate of @rlp/run/evaluate on held-out tasks between the reports'],
    ['beta', 'in rlp this is loss.klCoefficient'],
    ['epsilon_high', 'in rlp this is loss.clipHigh'],
    ['loss_type', 'in rlp this is loss.surrogate and aggregation'],
    ['scale_rewards', 'in rlp this is advantage.scale'],
    ['vespo_k_pos', 'in rlp this is loss.gammaPositive.power'],
    ['entropy_target', 'in rlp this is entropyControl.target'],
    ['ref_model_mixup_alpha', 'in rlp this is referenceUpdate.decay'],
    ['rollout_is_batch_normalize', 'in rlp this is correctionNormalization'],
    ['groups_per_batch', 'in rlp this is tasksPerIteration'],
    ['clip_high', 'did you mean loss.clipHigh?'],
    ['groupsize', 'did you mean rollout.groupSize?'],
  ])('says what %s is called here', (name, expected) => {
    expect(() => new GRPOAlgorithm(algorithmSetup('names'), { [name]: 1 })).toThrow(
      `GRPOAlgorithm: invalid options (GrpoOptions)\n  - Unrecognized option "${name}"; ${expected}`,
    );
  });

  it('names the interface of the dependencies if only they are missing, and the way without an environment', () => {
    expect(() => new GRPOAlgorithm({} as never)).toThrow(
      /invalid options \(AlgorithmDependencies\)\n[\s\S]*dependencies\.environment: .*\n[\s\S]*pass `rollouts`, a collector/,
    );
    const { environment: _, ...others } = algorithmSetup('collected');
    expect(() => new GRPOAlgorithm({ ...others, rollouts: 3 } as never)).toThrow(/\(CollectedDependencies\)/);
    expect(() => new PPOAlgorithm({} as never)).toThrow(/\(PpoDependencies\)\n[\s\S]*dependencies\.critic: /);
  });

  it('names problems of the rollout with all others', () => {
    const wrong = { epochs: 0, rollout: { groupSize: 0 } };
    expect(() => new GRPOAlgorithm(algorithmSetup('all'), wrong)).toThrow(
      /epochs: .*[\s\S]*rollout\.groupSize: /,
    );
  });

  it('refuses groups of one', () => {
    expect(() => new GRPOAlgorithm(algorithmSetup('one'), { rollout: { groupSize: 1 } })).toThrow(
      'rollout.groupSize: must be at least 2',
    );
  });
});
