import type { Trajectory, TrajectoryGroup } from '@rlp/core';

/** A completed answer to a task with some metadata, without steps. */
export function answering<Metadata>(
  response: string,
  metadata: Metadata,
  change: Partial<Trajectory<Metadata>> = {},
): Trajectory<Metadata> {
  return {
    id: '0/a/0',
    task: { id: 'a', prompt: '', metadata },
    steps: [],
    messages: [],
    response,
    status: 'completed',
    policyVersion: 0,
    ...change,
  };
}

/** Several answers to one task. */
export function groupAnswering<Metadata>(
  responses: readonly string[],
  metadata: Metadata,
  change: Partial<Trajectory<Metadata>> = {},
): TrajectoryGroup<Metadata> {
  const task = change.task ?? { id: 'a', prompt: '', metadata };
  const trajectories = responses.map((response, member) =>
    answering(response, metadata, { ...change, id: `0/a/${member}`, task }),
  );
  return { id: '0/a', task, trajectories };
}
