import * as z from 'zod';
import { described } from './described.ts';
import { ArgumentError } from './errors.ts';
import { evaluationSchema } from './evaluation.ts';
import { groupJobSchema } from './group-job.ts';
import { messageSchema } from './message.ts';
import { recordedTrajectorySchema } from './recorded-trajectory.ts';
import { rolloutEventSchema } from './rollout-event.ts';
import { rolloutBatchSchema, sampleSchema } from './sample.ts';
import { evaluateResultSchema, stepDataSchema } from './step-data.ts';
import { taskSchema } from './task.ts';
import { taskDefinitionSchema } from './task-definition.ts';
import { stepSchema, trajectoryGroupSchema, trajectorySchema } from './trajectory.ts';
import { verificationReportSchema } from './verifier.ts';

const schemas = {
  Message: messageSchema,
  Task: taskSchema,
  TaskDefinition: taskDefinitionSchema,
  Step: stepSchema,
  Trajectory: trajectorySchema,
  TrajectoryGroup: trajectoryGroupSchema,
  GroupJob: groupJobSchema,
  RecordedTrajectory: recordedTrajectorySchema,
  Sample: sampleSchema,
  RolloutBatch: rolloutBatchSchema,
  RolloutEvent: rolloutEventSchema,
  StepData: stepDataSchema,
  EvaluateResult: evaluateResultSchema,
  Evaluation: evaluationSchema,
  VerificationReport: verificationReportSchema,
};

/** Names of the records that leave the process. */
export type RecordName = keyof typeof schemas;

/** The records that {@link recordJsonSchema} describes. */
export const recordNames = Object.keys(schemas) as readonly RecordName[];

/**
 * JSON Schema (draft 2020-12) of a record as it is written to files and sent over networks, for validators in other languages.
 *
 * Rules between fields, such as one logprob per token, are not part of it. The readers of rlp check those too.
 */
export function recordJsonSchema(name: RecordName): Readonly<Record<string, unknown>> {
  if (!Object.hasOwn(schemas, name)) {
    const known = Object.keys(schemas).join(', ');
    throw new ArgumentError(`recordJsonSchema: name must be one of ${known}, got ${described(name)}`);
  }
  return { title: name, ...z.toJSONSchema(schemas[name], { io: 'input', unrepresentable: 'any' }) };
}
