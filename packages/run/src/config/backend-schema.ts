import { onnxBackendSchema, type ScheduleOptions, scheduleKinds } from '@rlp/backprop';
import * as z from 'zod';

/** A schedule that may leave out how long the run is. */
type WithoutUpdates<Schedule> = Schedule extends { readonly updates: number }
  ? Omit<Schedule, 'updates'> & {
      /** Updates until the schedule ends. Default: the optimizer steps of the stage. */
      readonly updates?: number | undefined;
    }
  : Schedule;

/** A schedule of the learning rate. `updates` defaults to the optimizer steps of the stage. */
export type RunSchedule = WithoutUpdates<ScheduleOptions>;

/** The schedules of the backend. Their `updates` are those of the run if they are left out. */
const openSchedule = z.discriminatedUnion(
  'kind',
  scheduleKinds.map((option: z.ZodObject) =>
    'updates' in option.shape
      ? option.extend({
          /** Updates until the schedule ends. Default: the optimizer steps of the stage. */
          updates: z.int().min(1).optional(),
        })
      : option,
  ) as unknown as typeof scheduleKinds,
) as unknown as z.ZodType<RunSchedule, RunSchedule>;

/** Schema of how a stage trains: the options of `createOnnxBackend` that are not the run's own. */
export const backendSchema = onnxBackendSchema.omit({ engine: true, model: true, store: true }).extend({
  /** Learning rate before the schedule. Default 1e-5 for SFT and 1e-6 for RL. */
  learningRate: z.number().nonnegative().optional(),
  /** How the learning rate changes. `updates` defaults to the optimizer steps of the stage. Default constant. */
  schedule: openSchedule.optional(),
});

/** How a stage trains. */
export interface RunBackendOptions extends z.input<typeof backendSchema> {}
