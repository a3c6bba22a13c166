import type { EngineHost } from '@rlp/onnx/runtime';
import { type DecoderBuilderOptions, decoderBuilder } from './graphs/decoder-graph.ts';
import { PolicyGraphs } from './graphs/policy-graphs.ts';
import { TrainingProgram } from './program/training-program.ts';
import type { TrainingProgramOptions } from './program-protocol.ts';

/** Model that the engine's thread builds graphs for. */
export interface ModelPlan {
  readonly decoder: DecoderBuilderOptions;
  /** Parameters that get gradients. */
  readonly trained: readonly string[];
  readonly residency: 'host' | 'device';
}

/** Methods of the training program, from the caller's side. */
export type TrainingMethods = ReturnType<typeof trainingMethods>;

/** Starts the training program inside an engine. */
export default function createTrainingProgram(
  host: EngineHost,
  { model, ...options }: TrainingProgramOptions & { readonly model: ModelPlan },
): TrainingMethods {
  const graphs = new PolicyGraphs(decoderBuilder(model.decoder), model.trained, model.residency);
  return trainingMethods(new TrainingProgram(host, options, graphs));
}

/** Methods of a training program that callers may use. */
export function trainingMethods(program: TrainingProgram) {
  return {
    forwardBackward: program.forwardBackward,
    discardGradient: program.discardGradient,
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
