import { tagName } from '@rlp/answers';
import { seenText } from '@rlp/answers/text';
import { parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { countMatches, occurrencesOf } from '../../shared/text.ts';
import { isVisible } from '../../shared/visible-text.ts';

const schema = z.strictObject({
  /** Tags to count. Required. */
  tags: z.array(tagName).min(1).readonly(),
  /** Reward of each tag. Default 0.25. */
  rewardPerTag: z.number().positive().default(0.25),
  /** Whether a tag must close as often as it opens. Default `'balanced'`. */
  pairs: z.enum(['balanced', 'any']).default('balanced'),
});

/** Options of {@link tagCount}. */
export interface TagCountOptions extends z.input<typeof schema> {}

/**
 * Adds a reward for each tag that occurs, up to 1. Where pairs must be balanced, takes as much for each that is not, down to 0.
 * Opening tags may carry attributes.
 *
 * @see https://github.com/fw-ai-external/reward-kit `tag_count_reward`
 */
export function tagCount<Metadata = unknown>(options: TagCountOptions): RewardFunction<Metadata> {
  const { tags, rewardPerTag, pairs } = parseOptions('tagCount', schema, options);
  return ({ response }) => {
    let [found, mismatched] = [0, 0];
    // Every tag in it ends, so that no search reaches far.
    const ended = response.slice(0, response.lastIndexOf('>') + 1);
    for (const tag of new Set(tags)) {
      const opening = countMatches(ended, new RegExp(`<${tag}[^>]*>`, 'g'));
      const closing = occurrencesOf(response, `</${tag}>`);
      if (pairs === 'any') found += opening > 0 || closing > 0 ? 1 : 0;
      else if (opening !== closing) mismatched += 1;
      else if (opening > 0) found += 1;
    }
    const reward = Math.min(1, found * rewardPerTag);
    return mismatched === 0 ? reward : Math.max(0, reward - mismatched * rewardPerTag);
  };
}

const stepsSchema = z
  .strictObject({
    /** Least number of steps. Default 3. */
    minimum: z.int().positive().default(3),
    /** Number of steps that earns 1. Default: `minimum`. */
    maximum: z.int().positive().optional(),
  })
  .refine(({ minimum, maximum = minimum }) => maximum >= minimum, {
    path: ['maximum'],
    message: 'must be at least minimum',
  });

/** Options of {@link reasoningSteps}. */
export interface ReasoningStepsOptions extends z.input<typeof stepsSchema> {}

/** What begins a step: its number, a line of a list that is not the first line, or a word. */
const marker = new RegExp(
  [
    '^[^\\S\\n]*\\d+\\.(?:\\s|$)',
    '(?<=\\n)[^\\S\\n]*[-*](?:\\s|$)',
    'Step\\s{1,9}\\d+[:.](?:\\s|$)',
    '\\b(?:First|Second|Third|Fourth|Fifth|Next|Then|Finally)[,:]',
    "\\b(?:Let's|I will|To solve this|To begin)[,:]",
  ].join('|'),
  'gm',
);
/** What two steps may differ in and say the same. */
const numbering = /\bstep (?:number )?\d+|[^\p{L}\p{N}]+/giu;

/** Steps that say something that no step before them said. Linear. */
function countSteps(text: string): number {
  const [, ...steps] = text.split(marker).map((step) => (isVisible(step, 'reasoning') ? step : ''));
  const said = steps.map((step) => step.toLowerCase().replace(numbering, ' ').trim());
  return new Set(said.filter((step) => step !== '')).size;
}

/**
 * How many steps a response shows ("Step 1:", numbered lines, bulleted lines after the first, "First,", "Then,"…) against a minimum. A step
 * counts if it says something that no earlier step said:
 *
 *     min(1, steps / minimum),   or with a maximum:   (steps − minimum + 1) / (maximum − minimum + 1), in [0, 1]
 *
 * @see https://github.com/fw-ai-external/reward-kit `reasoning_steps_reward`
 */
export function reasoningSteps<Metadata = unknown>(
  options: ReasoningStepsOptions = {},
): RewardFunction<Metadata> {
  const { minimum, maximum } = parseOptions('reasoningSteps', stepsSchema, options);
  return ({ response }) => {
    const steps = countSteps(seenText(response));
    if (steps === 0) return 0;
    if (maximum === undefined) return Math.min(1, steps / minimum);
    return Math.min(1, Math.max(0, (steps - minimum + 1) / (maximum - minimum + 1)));
  };
}
