import type { EngineHost } from '@rlp/onnx/runtime';
import type { TrainingProgramOptions } from './program-protocol.ts';
import { TrainingProgram } from './training-program.ts';

/** Methods of the training program, as its caller sees them. */
export type TrainingMethods = ReturnType<typeof createTrainingProgram>;

/** Starts the training program inside an engine. */
export default function createTrainingProgram(host: EngineHost, options: TrainingProgramOptions) {
  const program = new TrainingProgram(host, options);
  return {
    forwardBackward: program.forwardBackward,
    optimStep: program.optimStep,
    score: program.score,
    readParameters: program.readParameters,
    writeParameters: program.writeParameters,
    rebase: program.rebase,
    updateReference: program.updateReference,
    publish: program.publish,
    readMerged: program.readMerged,
    save: program.save,
    restore: program.restore,
    close: program.close,
  };
}
