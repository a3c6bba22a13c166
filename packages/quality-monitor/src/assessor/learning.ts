import * as z from 'zod';
import { initial } from '../state/saved.ts';
import type { MeasuredBatch } from './batch.ts';
import type { BatchQuality } from './metrics.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import type { BatchFinding } from './pathologies.ts';
import { hasWord } from './response-judge.ts';
import { meanOf, medianOf, type RewardStatistics, type RewardWindow } from './reward-window.ts';

/** What a reward did before. */
const pastSchema = z.strictObject({
  /** Mean of its first window. */
  first: z.number(),
  /** Highest mean of a window, less two standard errors. */
  best: z.number(),
  /** Smallest and largest value. */
  least: z.number(),
  most: z.number(),
  /** Whether a window was neither saturated nor collapsed. */
  hasDiffered: z.boolean(),
  /** Whether it differed among formatted responses, and among short ones, so that it pays for more than the format. */
  paysContent: z.boolean(),
  paysShort: z.boolean(),
  /** Whether it went from below the middle to always the same value, without anything between. */
  hasJumped: z.boolean(),
});

/** Schema of the state of {@link Learning}. */
export const learningStateSchema = z.strictObject({
  rewards: z.record(z.string(), pastSchema),
  /** Highest share of formatted responses in a batch, less two standard errors. */
  formatted: z.number(),
  /** Median length of reasoning, or of plain text, smoothed over batches, and its highest value. */
  usual: z.number().nullable(),
  content: z.number(),
  /** Tasks of the last responses. */
  tasks: z.array(z.string()),
});

type State = z.output<typeof learningStateSchema>;
type Past = State['rewards'][string];

/** A reward over its window, and before. */
interface Course extends RewardStatistics {
  readonly past: Past;
  readonly isSuspicious: boolean;
}

/** Share of short thoughts that no other task has, and share of responses that a reward has to pay and not to pay. */
const [leastOwn, leastPaid] = [0.1, 0.05];
/** Below this share of a batch, worthless responses are too few to judge. */
const leastGaming = 0.1;
/** Most of the formatted share that may be lost again, and least of the longest content that has to be left. */
const [mostLost, leastContent] = [0.2, 0.25];
/** Equal values that are a jump if as many before them are below the middle. */
const jumpValues = 100;
/** Weight of a batch in the usual length. */
const smoothing = 0.2;
/** Share of its range from which a reward is at its top. */
const top = 0.9;

/**
 * Tells findings that honest learning explains as well, and lowers their severity.
 *
 * Learning raises rewards and loses nothing. So it explains no finding while another reward, the format or the content is lost.
 */
export class Learning {
  state: State = initial(learningStateSchema);
  readonly #options: ResolvedAssessorOptions;

  constructor(options: ResolvedAssessorOptions) {
    this.#options = options;
  }

  /** The findings, those that are explained with severity `low`. */
  lowered(findings: readonly BatchFinding[], batch: MeasuredBatch): BatchFinding[] {
    const courses = this.#observe(batch, new Set(findings.filter(isOfReward).map((one) => one.component)));
    return findings.map((one) =>
      this.#isExplained(one, batch, courses) ? { ...one, severity: 'low' } : one,
    );
  }

  #observe(
    { quality, rewards, windows, statistics, tasks }: MeasuredBatch,
    suspicious: ReadonlySet<unknown>,
  ): Map<string, Course> {
    const courses = new Map<string, Course>();
    const state = this.state;
    const formatted = quality.share(quality.formatted.length);
    const error = Math.sqrt((formatted * (1 - formatted)) / Math.max(1, quality.all.length));
    state.formatted = Math.max(state.formatted, formatted - 2 * error);
    const median = medianOf(quality.all.map(({ contentLength }) => contentLength));
    state.usual = state.usual === null ? median : state.usual + smoothing * (median - state.usual);
    state.content = Math.max(state.content, state.usual);
    const most = Math.min(this.#options.windowSize, this.#options.diversityWindow);
    state.tasks = [...state.tasks, ...tasks].slice(-most);
    for (const [name, course] of Object.entries(statistics)) {
      const { mean, std, min, max, samples } = course;
      const best = mean - (2 * std) / Math.sqrt(samples);
      const known = state.rewards[name] ?? {
        ...{ first: mean, best, least: min, most: max },
        ...{ hasDiffered: false, paysContent: false, paysShort: false, hasJumped: false },
      };
      const range = { least: Math.min(known.least, min), most: Math.max(known.most, max) };
      const past: Past = { ...known, best: Math.max(known.best, best), ...range };
      past.hasJumped = jumped(windows.get(name)!, past) ?? past.hasJumped;
      past.hasDiffered ||= std > 0 && !suspicious.has(name);
      const pays = (at: readonly number[]) => differ(valuesOf(rewards[name], at), (min + max) / 2);
      past.paysContent ||= pays(quality.formatted.length > 0 ? quality.formatted : [...quality.all.keys()]);
      past.paysShort ||= pays(quality.gaming);
      state.rewards[name] = past;
      courses.set(name, { ...course, past, isSuspicious: suspicious.has(name) });
    }
    return courses;
  }

  #isExplained(finding: BatchFinding, batch: MeasuredBatch, courses: ReadonlyMap<string, Course>): boolean {
    const { quality } = batch;
    if (isOfReward(finding)) return this.#isCourseExplained(finding, courses);
    switch (finding.rule) {
      case 'format_gaming':
        if (quality.share(quality.gaming.length) < leastGaming) return true;
        return (
          quality.shareOfFormatted(quality.where(({ isWorthless }) => isWorthless).length) <=
            this.#options.alertThresholds.formatGaming &&
          !this.#isShrunk(quality, quality.gaming) &&
          ownShare(batch) >= leastOwn &&
          this.#earnsAsUsual(batch, courses)
        );
      case 'degenerate_outputs': {
        const withTags = new Set(quality.formatted);
        const empty = quality.empty.filter(
          (at) => withTags.has(at) || !hasWord(batch.responses[at]!.replaceAll(/<[^<>]*>/g, '')),
        );
        const isLost = quality.share(quality.formatted.length) < this.state.formatted - mostLost;
        const isFrequent = quality.share(empty.length) >= leastGaming;
        return !isLost && !isFrequent && !this.#isShrunk(quality, quality.empty);
      }
      case 'diversity_collapse': {
        const { tasks } = this.state;
        return (finding.evidence.unique_ratio ?? 0) >= new Set(tasks).size / tasks.length / 2;
      }
      default:
        return false;
    }
  }

  /** Whether learning explains that a reward hardly differs any more. */
  #isCourseExplained({ rule, component }: BatchFinding, courses: ReadonlyMap<string, Course>): boolean {
    const course = courses.get(component!);
    if (course === undefined) return false;
    const { past, samples } = course;
    const others = [...courses].filter(([name]) => name !== component).map(([, other]) => other);
    const isTeaching = others.some((other) => teaches(other));
    if (past.least === past.most) return isTeaching;
    if (rule === 'reward_saturation_low') {
      const hasLeftBottom = course.min - past.least > (1 - top) * (past.most - past.least);
      const isLost = past.hasDiffered && !hasLeftBottom;
      return !isLost && (isTeaching || hasRisen(course) || samples < this.#options.windowSize);
    }
    const hasLost = past.hasJumped || others.some(isFallen);
    return isAtTop(course) && !hasLost && (isTeaching || hasRisen(course));
  }

  /** Whether these responses say much less than responses once did. */
  #isShrunk({ all }: BatchQuality, at: readonly number[]): boolean {
    return medianOf(at.map((index) => all[index]!.contentLength)) < leastContent * this.state.content;
  }

  /** Whether some reward pays for short work, and short responses earn at least half of what each such reward paid at best. */
  #earnsAsUsual({ quality, rewards }: MeasuredBatch, courses: ReadonlyMap<string, Course>): boolean {
    const paying = [...courses].filter(([, { past }]) => past.paysShort);
    const earned = paying.map(([name, { past, min }]) => {
      const mean = meanOf(valuesOf(rewards[name], quality.gaming));
      return mean - min >= (past.best - min) / 2;
    });
    return earned.length > 0 && earned.every(Boolean);
  }
}

/** Whether a reward still differs, be it by rare successes, or pays for content and was learned. */
function teaches(course: Course): boolean {
  const { mean, std, isSuspicious, past } = course;
  if (!isSuspicious || mean - past.least < (past.most - past.least) / 2) return std > 0;
  return course.past.paysContent && hasRisen(course) && isAtTop(course);
}

/** By two standard errors. */
function hasRisen({ mean, std, samples, past }: Course): boolean {
  return mean - past.first > (2 * std) / Math.sqrt(samples);
}

function isAtTop({ max, mean, std, past: { least, most } }: Course): boolean {
  const height = std > 0 ? max : mean;
  return height - least >= top * (most - least);
}

/** Whether over half of what a reward paid at best is lost. */
function isFallen({ mean, past: { least, best } }: Course): boolean {
  return mean - least < (best - least) / 2;
}

/** Whether a long run of the same value follows values below the middle. `undefined` if there is nothing before the run. */
function jumped(window: RewardWindow, { least, most }: Past): boolean | undefined {
  const values = window.values();
  let at = values.length - 1;
  while (at > 0 && values[at - 1] === values.at(-1)) at -= 1;
  const before = values.subarray(Math.max(0, at - jumpValues), at);
  if (before.length < jumpValues / 2) return undefined;
  return values.length - at >= jumpValues && meanOf(before) < (least + most) / 2;
}

/** Whether a finding is about the whole window of a reward. */
function isOfReward({ rule }: BatchFinding): boolean {
  return /^(reward_saturation|variance)/.test(rule);
}

/** Share of the short thoughts that occur for one task only. */
function ownShare({ quality, tasks }: MeasuredBatch): number {
  const tasksOf = new Map<string, Set<string>>();
  const thoughts = quality.gaming.map((at) => quality.all[at]!.reasoning);
  for (const [place, at] of quality.gaming.entries()) {
    const thought = thoughts[place]!;
    tasksOf.set(thought, (tasksOf.get(thought) ?? new Set()).add(tasks[at]!));
  }
  return meanOf(thoughts.map((thought) => (tasksOf.get(thought)!.size === 1 ? 1 : 0)));
}

/** Whether enough values lie on both sides of the middle. */
function differ(values: readonly number[], middle: number): boolean {
  const paid = values.filter((value) => value > middle).length / values.length;
  return paid >= leastPaid && paid <= 1 - leastPaid;
}

function valuesOf(values: readonly (number | null)[] | undefined, at: readonly number[]): number[] {
  return at.map((index) => values?.[index] ?? Number.NaN).filter((value) => Number.isFinite(value));
}
