import { precisionProblem } from '@rlp/backprop';
import { isRecord, OptionsError } from '@rlp/core';
import { rolloutSchema } from '@rlp/rollout';
import { agentRollout } from './agent-schema.ts';
import { algorithmProblems } from './algorithm-problems.ts';
import { type GameName, gameNames } from './environment-schema.ts';
import { modeOf, modes, type RunMode, type StageName, sections, stagesAskedFor } from './modes.ts';
import { referenceProblems } from './reference-problems.ts';
import { createRunRewards } from './stock-rewards.ts';

type Given = Readonly<Record<string, unknown>>;

/** Name of the game that a configuration plays. `undefined` if it plays none. */
function gameOf({ environment }: Given): GameName | undefined {
  const name = isRecord(environment) ? environment.name : environment;
  return gameNames.find((game) => game === name);
}

/** What contradicts itself or is missing, whatever else is wrong: one line per problem. */
export function contradictions(config: Given): string[] {
  return [
    ...modeProblems(config),
    ...dataProblems(config),
    ...agentProblems(config),
    ...practiceProblems(config),
    ...algorithmProblems(config),
    ...referenceProblems(config),
    ...rewardProblems(config),
    ...precisionProblems(config),
  ];
}

function modeProblems(config: Given): string[] {
  const mode = modeOf(config);
  const asked = stagesAskedFor(config);
  if (mode === undefined) {
    if (typeof config.mode === 'string') return []; // The schema lists the modes.
    return asked.length > 0
      ? [`mode: no mode does ${asked.join(' and ')} together`]
      : ['data: is missing; give `data` to imitate it, or `data` and `algorithm` to practise on it'];
  }
  const stages: readonly StageName[] = modes[mode];
  const needless = (Object.keys(sections) as StageName[])
    .filter((stage) => !stages.includes(stage))
    .flatMap((stage) => sections[stage].filter((key) => config[key] !== undefined));
  return [
    ...needless.map((key) => `${key}: mode '${mode}' does not use it; leave it out or choose another mode`),
    ...(mode === 'eval' && config.evaluation === 'none'
      ? ["evaluation: mode 'eval' does nothing else; leave out evaluation: 'none', or choose another mode"]
      : []),
    ...(stages.includes('distill') && config.distill === undefined
      ? [
          `distill: is missing; mode '${mode}' learns from a teacher, as in distill: { teacher: 'models/large' }`,
        ]
      : []),
    ...(stages.length === 0 ? trainingOptions(config, mode) : []),
  ];
}

function trainingOptions(config: Given, mode: RunMode): string[] {
  return ['backend', 'checkpoints', 'monitor']
    .filter((key) => config[key] !== undefined)
    .map((key) => `${key}: mode '${mode}' does not train; leave it out`);
}

function dataProblems(config: Given): string[] {
  const game = gameOf(config);
  const mode = modeOf(config);
  const { data, evaluation, sft } = config;
  const problems: string[] = [];
  if (game !== undefined && data !== undefined && !Array.isArray(data)) {
    problems.push(`data: ${game} makes its own tasks; leave it out, or name them under environment.tasks`);
  }
  const isImitating = mode !== undefined && (modes[mode] as readonly string[]).includes('sft');
  const hasOwnData = isRecord(sft) && sft.data !== undefined;
  if (game !== undefined && isImitating && !hasOwnData) {
    problems.push(`sft.data: is missing; ${game} has no answers to imitate`);
  }
  const evaluated = isRecord(evaluation) ? evaluation : {};
  if (game === undefined && data === undefined && mode !== undefined) {
    const needed = mode !== 'eval' || evaluated.data === undefined;
    if (needed) problems.push('data: is missing; give a file of JSON Lines, or tasks to make');
  }
  if (evaluated.data !== undefined && evaluated.heldOut !== undefined) {
    problems.push('evaluation.heldOut: must not be given together with evaluation.data');
  }
  return problems;
}

function agentProblems({ agent, environment, algorithm, ...config }: Given): string[] {
  if (agent === undefined) return [];
  const mode = modeOf({ agent, environment, algorithm, ...config });
  const stages: readonly StageName[] = mode === undefined ? [] : modes[mode];
  const deaf = stages.find((stage) => stage === 'distill' || stage === 'reward-model');
  const rollout = isRecord(algorithm) && isRecord(algorithm.rollout) ? algorithm.rollout : {};
  const unread = Object.keys(rolloutSchema.shape).filter(
    (name) => rollout[name] !== undefined && !agentRollout.some((read) => read === name),
  );
  return [
    ...(environment === undefined ? [] : ['environment: must not be given together with agent']),
    ...(deaf === undefined ? [] : [`agent: mode '${mode}' does not run it; leave it out`]),
    ...(isRecord(algorithm) && algorithm.name === 'gigpo' && !(isRecord(agent) && 'stateKey' in agent)
      ? ['agent.stateKey: is missing; gigpo compares steps of equal states']
      : []),
    ...unread.map((name) => `algorithm.rollout.${name}: belongs to environments; leave it out for an agent`),
  ];
}

/** What a training loop would refuse once its stage begins, which may be hours later. */
function practiceProblems({ agent, environment, algorithm, distill }: Given): string[] {
  const greedy = Object.entries({ algorithm, distill }).filter(
    ([, stage]) =>
      isRecord(stage) &&
      isRecord(stage.rollout) &&
      isRecord(stage.rollout.sampling) &&
      stage.rollout.sampling.temperature === 0,
  );
  const isGigpo = isRecord(algorithm) && algorithm.name === 'gigpo' && agent === undefined;
  const namesStates =
    gameOf({ environment }) !== undefined ||
    (isRecord(environment) && typeof environment.stateKey === 'function');
  return [
    ...greedy.map(
      ([stage]) =>
        `${stage}.rollout.sampling.temperature: must be above 0, because greedy samples have no gradient`,
    ),
    ...(isGigpo && !namesStates
      ? [
          'environment: has no stateKey, and gigpo compares steps of equal states; take a game or your own environment with one, or grpo',
        ]
      : []),
  ];
}

function rewardProblems({ rewards, evaluation }: Given): string[] {
  if (rewards === undefined || typeof rewards === 'function') return needlessComponent(evaluation);
  if (!isRecord(rewards) || 'computeRewards' in rewards) return [];
  const problems: string[] = [];
  const component = isRecord(evaluation) ? evaluation.component : undefined;
  if (typeof component === 'string' && !(component in rewards)) {
    problems.push(
      `evaluation.component: expected a component of rewards (${Object.keys(rewards).join(', ')}), got "${component}"`,
    );
  }
  for (const [name, part] of Object.entries(rewards)) {
    if (isRecord(part) && (part.name === undefined) === (part.reward === undefined)) {
      problems.push(`rewards.${name}: expected either the name of a stock reward, or your own as reward`);
    } else problems.push(...partProblems(name, part));
  }
  return problems;
}

/** A reward that has no name of the user's is the only component. */
function needlessComponent(evaluation: unknown): string[] {
  if (!isRecord(evaluation) || evaluation.component === undefined) return [];
  return ['evaluation.component: names a component of rewards, and the run names none; leave it out'];
}

/** Stages take options of the run's backend, so two places may contradict each other. */
function precisionProblems({ backend, ...config }: Given): string[] {
  const own = isRecord(backend) ? backend : {};
  const ofStages = Object.entries(config).flatMap(([name, stage]) =>
    isRecord(stage) && isRecord(stage.backend) ? [[`${name}.backend`, stage.backend] as const] : [],
  );
  const problems = [['backend', {}] as const, ...ofStages].flatMap(([place, options]) => {
    const problem = precisionProblem({ ...own, ...options });
    return problem === undefined ? [] : [`${place}.precision: ${problem}`];
  });
  return problems.slice(0, 1);
}

/** Problems with the name and the parameters of one reward. */
function partProblems(name: string, part: unknown): string[] {
  try {
    createRunRewards({ [name]: part as string });
    return [];
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    const issues = error.issues.map((issue) => `rewards.${name}.${issue.replace(/^0\./, '')}`);
    // A reward that is given as text has no option `name`.
    return typeof part === 'string'
      ? issues.map((issue) => issue.replace(`rewards.${name}.name:`, `rewards.${name}:`))
      : issues;
  }
}
