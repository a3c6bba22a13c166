import { TrainingError } from '@rlp/core';
import { firstNonFinite } from '@rlp/models/decoder';

/** Error for a loss that is not finite. */
export function lossError(loss: number, precision: 'float32' | 'mixed' = 'float32'): TrainingError {
  const cause = precision === 'mixed' ? ", or try precision 'float32', because float16 ends at 65504" : '';
  return new TrainingError(
    `forwardBackward: the loss is ${loss}, expected a finite number; look for extreme values in the batch${cause}. ` +
      'Weights are unchanged',
  );
}

/** Throws a TrainingError if an element of a parameter's gradient is not finite. */
export function checkGradient(name: string, gradient: Float32Array): void {
  const index = firstNonFinite(gradient);
  if (index < 0) return;
  throw new TrainingError(
    `forwardBackward: the gradient of "${name}" is not finite (element ${index} is ${gradient[index]}); ` +
      'lower the learning rate, clip gradients, or look for extreme values in the batch',
  );
}

/** Error for a gradient with finite elements and an infinite norm. */
export function overflowError(): TrainingError {
  return new TrainingError(
    'forwardBackward: the norm of the gradient overflows; lower the weights of the loss',
  );
}
