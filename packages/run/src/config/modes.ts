/** A part of a run that changes the weights. */
export type StageName = 'sft' | 'preference' | 'reward-model' | 'distill' | 'rl';

/** Stages of each mode, in their order. */
export const modes = {
  sft: ['sft'],
  rl: ['rl'],
  'sft+rl': ['sft', 'rl'],
  dpo: ['preference'],
  'sft+dpo': ['sft', 'preference'],
  'reward-model': ['reward-model'],
  distill: ['distill'],
  'sft+distill': ['sft', 'distill'],
  eval: [],
} as const satisfies Readonly<Record<string, readonly StageName[]>>;

/** What a run does. */
export type RunMode = keyof typeof modes;

/** Names of the modes. */
export const modeNames = Object.keys(modes) as RunMode[];

/** The options that ask for a stage, of which the first one configures it. */
export const sections = {
  sft: ['sft'],
  preference: ['preference'],
  'reward-model': ['rewardModel'],
  distill: ['distill'],
  rl: ['algorithm'],
} as const satisfies Readonly<Record<StageName, readonly string[]>>;

/** Options that imply practice if nothing else is asked for. */
const implied = ['rewards', 'environment', 'agent'] as const;

type Given = Readonly<Record<string, unknown>>;

/** Stages that a configuration asks for, in the order of the modes. */
export function stagesAskedFor(config: Given): StageName[] {
  const asked = (Object.keys(sections) as StageName[]).filter((stage) =>
    sections[stage].some((key) => config[key] !== undefined),
  );
  if (asked.length > 0) return asked;
  if (implied.some((key) => config[key] !== undefined)) return ['rl'];
  return config.data === undefined ? [] : ['sft'];
}

/** What a configuration does: its `mode`, or what its other options ask for. `undefined` if they ask for nothing that exists. */
export function modeOf(config: Given): RunMode | undefined {
  const { mode } = config;
  if (typeof mode === 'string') return modeNames.find((name) => name === mode);
  const asked = stagesAskedFor(config);
  if (asked.length === 0) return undefined;
  return modeNames.find((name) => modes[name].join() === asked.join());
}
