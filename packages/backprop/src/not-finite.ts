import { TrainingError } from '@rlp/core';

/** The error for a loss that is not finite. */
export function lossError(loss: number): TrainingError {
  return new TrainingError(
    `forwardBackward: the loss is ${loss}, expected a finite number; look for extreme values in the batch. ` +
      'Weights are unchanged',
  );
}

/** The error for a gradient that is not finite. */
export function gradientError(name: string, index: number, value: number): TrainingError {
  return new TrainingError(
    `forwardBackward: the gradient of "${name}" is not finite (element ${index} is ${value}); ` +
      'lower the learning rate, clip gradients, or look for extreme values in the batch',
  );
}

/** The error for a gradient whose elements are finite and whose norm is not. */
export function overflowError(): TrainingError {
  return new TrainingError(
    'forwardBackward: the norm of the gradient overflows; lower the weights of the loss',
  );
}
