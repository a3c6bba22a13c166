import {
  isRecord,
  type RecordedTrajectory,
  type Severity,
  type Step,
  type StepTrace,
  type Trajectory,
} from '@rlp/core';

/** What the page's program reads. The generator writes it. */
export interface Payload {
  readonly rows: readonly Row[];
  readonly alerts: readonly Alert[];
  /** Trajectories per block of bodies. */
  readonly blockSize: number;
}

/** What the list shows of a trajectory. */
export interface Row {
  readonly id: string;
  readonly task: string;
  readonly iteration?: number | undefined;
  /** Groups are told apart by this: the id of the group, and the iteration if it is known. */
  readonly group?: string | undefined;
  readonly member?: number | undefined;
  readonly status: Trajectory['status'];
  readonly reason?: string | undefined;
  /** `null` if it could not be scored. Absent if it was never scored. */
  readonly reward?: number | null | undefined;
  readonly steps: number;
  readonly tokens: number;
  readonly calls: number;
  /** Messages, and labels of the log such as `rating 5`. Present for a conversation that was recorded, which has no steps. */
  readonly messages?: number | undefined;
  readonly labels?: readonly string[] | undefined;
  /** Places in `alerts` that name it. */
  readonly alerts: readonly number[];
  /** The beginning of the response, in one line. */
  readonly opening: string;
}

/** Something that a monitor noticed. */
export interface Alert {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly iteration: number;
}

/** A step as the page shows it. The prompt is left out: the conversation has it. */
export interface ShownStep extends Omit<Step, 'promptTokens' | 'observation'> {
  readonly promptLength: number;
  readonly trace?: StepTrace | undefined;
}

/** Everything that the page shows of a trajectory. */
export interface Body
  extends Omit<Trajectory, 'steps' | 'state'>,
    Pick<RecordedTrajectory, 'components' | 'failures'> {
  readonly steps: readonly ShownStep[];
}

/** A body without its messages, which the page keeps apart: a search unpacks only them. */
export type Details = Omit<Body, 'messages'>;

/** Characters of a response that the list shows. */
const openingLength = 140;
/** Labels of a recorded conversation that the list shows. */
const mostLabels = 3;

/** What the page shows of a record. */
export function shownOf(
  record: RecordedTrajectory,
  { isScored, alerts }: { readonly isScored: boolean; readonly alerts: readonly number[] },
): { readonly row: Row; readonly body: Body } {
  const { trajectory, reward, components, failures, iteration, trace } = record;
  const { steps, state: _, ...rest } = trajectory;
  const { group } = trajectory;
  const row: Row = {
    id: trajectory.id,
    task: trajectory.task.id,
    iteration,
    group: group && (iteration === undefined ? group.id : `${iteration}: ${group.id}`),
    member: group?.member,
    status: trajectory.status,
    reason: trajectory.termination?.reason,
    ...(isScored && { reward }),
    steps: steps.length,
    tokens: steps.reduce((sum, { tokens }) => sum + tokens.length, 0),
    calls: steps.reduce((sum, { toolCalls = [] }) => sum + toolCalls.length, 0),
    ...(steps.length === 0 && trajectory.status === 'completed' && recordedCounts(trajectory)),
    alerts,
    opening: trajectory.response.replace(/\s+/gu, ' ').trim().slice(0, openingLength),
  };
  const shown = steps.map((step, index) => shownStep(step, trace?.[index]));
  return { row, body: { ...rest, steps: shown, components, failures } };
}

/** What tells conversations without steps apart: their messages and calls, and what a log says of them. */
function recordedCounts({ messages, task }: Trajectory): Pick<Row, 'messages' | 'calls' | 'labels'> {
  const columns = isRecord(task.metadata) ? task.metadata.columns : undefined;
  const labels = Object.entries(isRecord(columns) ? columns : {}).flatMap(([name, value]) =>
    typeof value === 'number' || typeof value === 'boolean' ? [`${name} ${value}`] : [],
  );
  return {
    messages: messages.length,
    calls: messages.reduce((sum, { tool_calls: calls }) => sum + (calls?.length ?? 0), 0),
    labels: labels.slice(0, mostLabels),
  };
}

/** A step without what the page does not show. */
function shownStep({ promptTokens, observation: _, ...step }: Step, trace: StepTrace | undefined): ShownStep {
  const behaviorLogprobs = rounded(step.behaviorLogprobs);
  return { ...step, behaviorLogprobs, promptLength: promptTokens.length, trace: trace && shownTrace(trace) };
}

function shownTrace(trace: StepTrace): StepTrace {
  const { mask, advantages, ratios, entropies, ...rest } = trace;
  const lists = Object.entries({ mask, advantages, ratios, entropies });
  return { ...rest, ...Object.fromEntries(lists.map(([name, values]) => [name, values && rounded(values)])) };
}

/** Numbers with four digits after the point: a page shows no more. */
function rounded(values: readonly number[]): readonly number[] {
  return values.map((value) => Math.round(value * 1e4) / 1e4);
}
