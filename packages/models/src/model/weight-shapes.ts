import { ArgumentError, requireArguments, requireFields, type Weights } from '@rlp/core';
import { elementCount } from '@rlp/onnx';

const mostReported = 10;

/**
 * Checks that weights have exactly these names, shapes and sizes.
 *
 * @param owner - Begins the error message.
 * @throws ArgumentError naming up to ten problems.
 */
export function checkWeightShapes(
  owner: string,
  specs: readonly { readonly name: string; readonly shape: readonly number[] }[],
  weights: Weights,
): void {
  requireArguments(
    'checkWeightShapes',
    { owner: 'text', specs: 'objects', weights: 'object' },
    owner,
    specs,
    weights,
  );
  requireFields(owner, { get: 'function', keys: 'function' }, weights);
  const problems: string[] = [];
  const known = new Set(specs.map(({ name }) => name));
  for (const name of weights.keys()) {
    if (!known.has(name)) problems.push(`"${name}" is not a weight of this model`);
  }
  for (const { name, shape } of specs) {
    const tensor = weights.get(name);
    const size = elementCount(shape);
    if (!tensor) problems.push(`"${name}" is missing`);
    else if (tensor.shape.join() !== shape.join()) {
      problems.push(`"${name}" has shape [${tensor.shape}], expected [${shape}]`);
    } else if (tensor.copyTo === undefined && tensor.data.length !== size) {
      problems.push(`"${name}" has ${tensor.data.length} values, expected ${size}`);
    }
  }
  if (problems.length === 0) return;
  const lines = problems.slice(0, mostReported).map((problem) => `  - ${problem}`);
  if (problems.length > mostReported) lines.push(`  - and ${problems.length - mostReported} more`);
  throw new ArgumentError(`${owner}: weights do not match the model\n${lines.join('\n')}`);
}
