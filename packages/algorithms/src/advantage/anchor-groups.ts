import { ArgumentError, type NamedSchema, parseOptions, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { sequenceRatio } from './sequence-ratio.ts';

const schema = z.strictObject({
  /** `'equal'` groups equal observations. `'similar'` also groups similar texts. Default `'equal'`. */
  match: z.enum(['equal', 'similar']).default('equal'),
  /** Smallest `sequenceRatio` of similar texts, 0 to 1. Default 0.95. */
  threshold: z.number().min(0).max(1).default(0.95),
  /** `'python'` treats `1` and `true` as equal, as verl-agent hashes them. Default `'json'`. */
  scalars: z.enum(['json', 'python']).default('json'),
});

/** Options of {@link anchorGroups}. */
export interface AnchorOptions extends z.input<typeof schema> {}

/** {@link AnchorOptions} with every default filled in. */
export interface ResolvedAnchorOptions extends z.output<typeof schema> {}

/** Schema of {@link AnchorOptions}. */
export const anchorSchema: NamedSchema<AnchorOptions, ResolvedAnchorOptions> = schema;

/**
 * Numbers steps by the state they were taken in.
 *
 * Steps of one group of trajectories that saw the same observation get the same number. Never across groups. Numbered by
 * first appearance. Shape `[B]`.
 *
 * Observations are JSON values. Objects are equal whatever the order of their keys.
 *
 * @throws ArgumentError unless there is one group per observation, and for `match: 'similar'` of values that are not texts.
 * @see Feng et al. 2025 (GiGPO), §4.2, https://arxiv.org/abs/2505.10978
 */
export function anchorGroups(
  observations: readonly unknown[],
  groups: readonly unknown[],
  options: AnchorOptions = {},
): number[] {
  requireArguments('anchorGroups', { observations: 'list', groups: 'list' }, observations, groups);
  const { match, threshold, scalars } = parseOptions('anchorGroups', anchorSchema, options, 'AnchorOptions');
  if (groups.length !== observations.length) {
    throw new ArgumentError(
      `anchorGroups: groups must have ${observations.length} entries, one per observation, got ${groups.length}`,
    );
  }
  const labelers = new Map<unknown, (observation: unknown) => number>();
  let count = 0;
  const next = () => count++;
  return observations.map((observation, row) => {
    const group = groups[row];
    let labeler = labelers.get(group);
    if (labeler === undefined) {
      labeler = match === 'equal' ? equalLabeler(next, scalars) : similarLabeler(next, threshold);
      labelers.set(group, labeler);
    }
    return labeler(observation);
  });
}

type Labeler = (observation: unknown) => number;

function equalLabeler(next: () => number, scalars: 'json' | 'python'): Labeler {
  const labels = new Map<string, number>();
  return (observation) => {
    const key = canonical(observation, scalars);
    const label = labels.get(key) ?? next();
    labels.set(key, label);
    return label;
  };
}

function similarLabeler(next: () => number, threshold: number): Labeler {
  const clusters: { readonly first: string; readonly label: number }[] = [];
  return (observation) => {
    if (typeof observation !== 'string') {
      throw new ArgumentError(
        `anchorGroups: match 'similar' compares texts, got an observation of type ${typeof observation}; choose match 'equal', or give observations as text`,
      );
    }
    const cluster = clusters.find(({ first }) => sequenceRatio(observation, first) >= threshold);
    if (cluster) return cluster.label;
    const label = next();
    clusters.push({ first: observation, label });
    return label;
  };
}

/** A text that two JSON values share only when they are equal. */
function canonical(value: unknown, scalars: 'json' | 'python'): string {
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, scalars)).join()}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    if (scalars === 'python') return canonical(entries, scalars);
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry, scalars)}`).join()}}`;
  }
  if (typeof value === 'boolean' && scalars === 'python') return String(Number(value));
  return JSON.stringify(value) ?? String(value);
}
