import type { LoggedSample } from '@rlp/core';

/** Samples as a table with task, prompt, response, reward, and one column for each named part of the rewards. */
export function sampleColumns(rows: readonly LoggedSample[]): {
  readonly columns: readonly string[];
  readonly data: readonly (readonly (string | number | null)[])[];
} {
  const parts = [...new Set(rows.flatMap(({ components }) => Object.keys(components)))].sort();
  return {
    columns: ['task', 'prompt', 'response', 'reward', ...parts],
    data: rows.map(({ task, prompt, response, reward, components }) => [
      task,
      prompt,
      response,
      reward,
      ...parts.map((part) => (Object.hasOwn(components, part) ? components[part]! : null)),
    ]),
  };
}
