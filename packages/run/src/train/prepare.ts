import { resolvePreferenceOptions } from '@rlp/algorithms/preference';
import { countParameters } from '@rlp/backprop';
import { ArgumentError, plural, type RewardComputer } from '@rlp/core';
import type { LanguageModel } from '@rlp/models';
import { requireAnswerRoom } from '@rlp/rollout';
import type { RunAgentOptions } from '../config/agent-schema.ts';
import { modeOf, modes, type RunMode, type StageName } from '../config/modes.ts';
import type { ResolvedRunConfig, RunConfig } from '../config/run-schema.ts';
import type { AnswerMetadata } from '../config/stock-rewards.ts';
import { loadRows } from './data/load-rows.ts';
import { preferenceOf } from './data/preference-of.ts';
import { areRated, ratingOf } from './data/ratings.ts';
import { placeOf, type RunRow } from './data/rows.ts';
import { countRepeats, type RunRows, splitRows, withoutRepeats } from './data/split-rows.ts';
import { createEnvironment, gameRows, isOwn, type RunEnvironment, showsMessages } from './environment.ts';
import { loadRunModel, requireModel } from './load-run-model.ts';
import { sampledContext } from './policy.ts';
import { requirePrompts } from './require-prompts.ts';
import { requireTeacher } from './require-teacher.ts';
import { createRewards } from './rewards.ts';

/** What a run works with, loaded and checked. */
export interface PreparedRun {
  readonly config: ResolvedRunConfig;
  /** The configuration as it was given: algorithms layer their own defaults under it. */
  readonly given: RunConfig;
  readonly mode: RunMode;
  readonly stages: readonly StageName[];
  /** The model without its weights. */
  readonly model: LanguageModel;
  /** Number of its weights. */
  readonly parameters: number;
  readonly rows: RunRows;
  readonly environment: RunEnvironment;
  /** What runs in place of the environment, to practise and to be measured. */
  readonly agent: RunAgentOptions<AnswerMetadata> | undefined;
  readonly rewards: RewardComputer<AnswerMetadata>;
  /** Component of the reward that says whether a response is right. `undefined`: the reward itself. */
  readonly component: string | undefined;
  /** Gives the model with its weights, once: nobody else may keep them. */
  takeModel(): LanguageModel;
  /** Closes the models that judge. */
  close(): Promise<void>;
}

/** Loads data and model. @throws whatever is wrong with them, before anything is trained. */
export async function prepareRun(
  given: RunConfig,
  config: ResolvedRunConfig,
  signal: AbortSignal | undefined,
): Promise<PreparedRun> {
  const mode = modeOf(config)!;
  const stages: readonly StageName[] = modes[mode];
  await requireModel(config, signal);
  const rows = await rowsOf(config, stages, signal);
  let loaded: LanguageModel | undefined = await loadRunModel(config, signal);
  const model = withoutWeights(loaded);
  const parameters = countParameters(loaded.config);
  const environment = await createEnvironment(config.environment, {
    hasChat: model.chat !== undefined,
    rows: [...rows.practised, ...rows.heldOut],
  });
  requireChat(given, environment, model);
  requireRoom(given, model);
  if (given.agent === undefined && !isOwn(config.environment)) {
    const asked = stages.length === 0 ? rows.heldOut : asksRows(stages) ? rows.practised : [];
    requirePrompts(asked, { environment, model, context: contextOf(given, model) });
  }
  const { computer, component, readsAnswer, requireModels, close } = createRewards(config);
  await requireModels?.(model.tokenizer);
  await requireTeacher(config.distill?.teacher, model.tokenizer, signal);
  requireFitting(rows, { given, mode, readsAnswer });
  return {
    ...{ config, given, mode, stages, model, parameters, rows, environment, component, close },
    takeModel() {
      const taken = loaded!;
      loaded = undefined;
      return taken;
    },
    agent: agentOf(given.agent),
    rewards: computer,
  };
}

function requireChat({ agent }: RunConfig, environment: RunEnvironment, { chat }: LanguageModel): void {
  if (chat !== undefined) return;
  if (agent !== undefined) {
    throw new ArgumentError(
      'agent: the model has no chat template, so the messages of an agent cannot be answered; use a model that can chat, or put a chat_template.jinja into its folder',
    );
  }
  if (!showsMessages(environment)) return;
  throw new ArgumentError(
    'environment: the model has no chat template, which messages need; use `environment: text` and rows whose prompts are text, or a model that can chat',
  );
}

/** Checks that each stage can use its rows. */
function requireFitting(
  { imitated, practised, heldOut }: RunRows,
  {
    given,
    mode,
    readsAnswer,
  }: Pick<PreparedRun, 'given' | 'mode'> & { readonly readsAnswer?: string | undefined },
): void {
  const stages: readonly StageName[] = modes[mode];
  const all = [...practised, ...heldOut];
  if (stages.includes('sft')) {
    // What is practised later is a prompt, and not a text to imitate.
    const isAlone = mode === 'sft' || given.sft?.data !== undefined;
    const isShared = given.sft?.data === undefined && evaluatesOwn(given);
    requireCompletions(imitated, isShared ? heldOut : [], isAlone ? 'accepted' : 'refused');
  }
  if (readsAnswer !== undefined && (stages.includes('rl') || mode === 'eval'))
    requireAnswers(all, readsAnswer);
  if (stages.includes('preference')) {
    const read = takesRatings(given) && areRated(practised) ? ratingOf : preferenceOf;
    requireEach(practised, evaluatesOwn(given) ? heldOut : [], read);
  }
  if (stages.includes('reward-model')) inFileOrder(all).forEach(preferenceOf);
}

/** Whether every term of the loss is over single answers. */
function takesRatings({ preference }: RunConfig): boolean {
  const { loss } = resolvePreferenceOptions({ loss: preference?.loss });
  return loss.every(({ kind }) => kind === 'kto' || kind === 'apo-zero-unpaired');
}

/** What is left to know of a model whose weights are in the engine. */
export function withoutWeights(model: LanguageModel): LanguageModel {
  return { ...model, weights: new Map() };
}

function agentOf(agent: RunConfig['agent']): PreparedRun['agent'] {
  return (typeof agent === 'function' ? { run: agent } : agent) as PreparedRun['agent'];
}

/** The rows of a run by what they are for. */
export async function rowsOf(
  config: ResolvedRunConfig,
  stages: readonly StageName[],
  signal: AbortSignal | undefined,
): Promise<RunRows> {
  const { seed, data, sft, evaluation } = config;
  const load = async (given: typeof data) => (given === undefined ? [] : loadRows(given, { seed, signal }));
  const rows = (await gameRows(config)) ?? (await load(data));
  const own = evaluation === 'none' ? [] : await load(evaluation.data);
  const shown = await load(sft?.data);
  if (stages.length === 0) {
    const tasks = own.length > 0 ? own : rows;
    return {
      imitated: [],
      practised: [],
      heldOut:
        evaluation === 'none' || evaluation.heldOut === undefined
          ? tasks
          : tasks.slice(0, evaluation.heldOut),
    };
  }
  // No response to a text of a corpus is right or wrong.
  const isCorpus = stages.join() === 'sft' && rows.some((row) => row.isCorpus);
  const heldOut = evaluation === 'none' || own.length > 0 || isCorpus ? 0 : evaluation.heldOut;
  const imitated = stages.length > 1 && shown.length === 0 ? sft?.rows : undefined;
  const split = splitRows(rows, { heldOut, imitated, seed });
  const others = withoutRepeats(shown, split.heldOut);
  const learned = shown.length > 0 ? others.train : split.imitated;
  const kept = stages.length > 1 && imitated !== undefined ? learned : learned.slice(0, sft?.rows);
  const repeated = (split.repeated ?? 0) + others.repeated;
  const evaluatedAndLearned = countRepeats(own, [...split.practised, ...kept]);
  return {
    ...split,
    imitated: kept,
    heldOut: own.length > 0 ? own : split.heldOut,
    repeated,
    evaluatedAndLearned,
  };
}

/** What the rollout would refuse once its stage begins, which may be hours later. */
function requireRoom({ algorithm, distill, sampler }: RunConfig, model: LanguageModel): void {
  const limit = sampledContext(sampler, model);
  for (const { rollout = {} } of [algorithm ?? {}, distill ?? {}])
    requireAnswerRoom('trainRun', rollout, limit);
}

/** Tokens of a prompt and its answer together. */
function contextOf({ algorithm, distill, sampler }: RunConfig, model: LanguageModel): number {
  const { contextLength } = algorithm?.rollout ?? distill?.rollout ?? {};
  return Math.min(sampledContext(sampler, model), contextLength ?? Number.POSITIVE_INFINITY);
}

const asksRows = (stages: readonly StageName[]) =>
  stages.some((stage) => stage === 'rl' || stage === 'distill');

/** Whether the rows that are held out are among the data. */
const evaluatesOwn = ({ evaluation }: RunConfig) =>
  typeof evaluation !== 'object' || evaluation.data === undefined;

/** @param heldOut - Other rows of the same data, which are only counted. */
function requireCompletions(
  imitated: readonly RunRow[],
  heldOut: readonly RunRow[],
  corpus: 'accepted' | 'refused',
): void {
  const isMissing = ({ completion, isCorpus }: RunRow) =>
    completion === undefined && !(isCorpus && corpus === 'accepted');
  if (!imitated.some(isMissing)) return;
  throw new ArgumentError(
    `sft: ${countedRows([...imitated, ...heldOut], isMissing, 'no text to imitate')}; give them an ` +
      'answer or a completion as text, name its column under data.fields.answer, or give sft.data: rows of a column text alone are imitated whole',
  );
}

function requireAnswers(rows: readonly RunRow[], component: string): void {
  const isMissing = ({ metadata: { answer }, toolCalls }: RunRow) => !answer && toolCalls === undefined;
  if (!rows.some(isMissing)) return;
  throw new ArgumentError(
    `rewards.${component}: ${countedRows(rows, isMissing, 'no answer to compare with')}; give them ` +
      'an answer as text, name its column under data.fields.answer, or choose another reward',
  );
}

/** @param heldOut - Other rows of the same file, in which the first wrong row may be. @throws what `read` throws for the first wrong row. */
function requireEach(
  practised: readonly RunRow[],
  heldOut: readonly RunRow[],
  read: (row: RunRow) => unknown,
) {
  try {
    practised.forEach(read);
  } catch {
    inFileOrder([...practised, ...heldOut]).forEach(read);
  }
}

/** The rows were dealt by chance. Those without an id of their own have their number. */
function inFileOrder(rows: readonly RunRow[]): RunRow[] {
  return rows.toSorted((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
}

/** How many rows lack something, and the first of them. */
function countedRows(rows: readonly RunRow[], isMissing: (row: RunRow) => boolean, what: string): string {
  const missing = inFileOrder(rows.filter(isMissing));
  return `${missing.length} of ${plural(rows.length, 'row')} ${missing.length === 1 ? 'has' : 'have'} ${what}, the first is ${placeOf(missing[0]!)}`;
}
