import { TrainingError } from '@rlp/core';

/** Error for a loss that is not finite. */
export function lossError(loss: number): TrainingError {
  return new TrainingError(
    `forwardBackward: the loss is ${loss}, expected a finite number; look for extreme values in the batch. ` +
      'Weights are unchanged',
  );
}

/** Bits of the exponent, which are all set in NaN and infinite numbers only. */
const exponentBits = 0x7f800000;

/**
 * Index of the first element that is NaN or infinite, or −1. A loop over bits, because one over numbers takes twice and a callback
 * many times as long.
 */
export function firstNonFinite({ buffer, byteOffset, length }: Float32Array): number {
  const bits = new Int32Array(buffer, byteOffset, length);
  for (let index = 0; index < length; index++) {
    if ((bits[index]! & exponentBits) === exponentBits) return index;
  }
  return -1;
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
