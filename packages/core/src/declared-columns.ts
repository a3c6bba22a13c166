import { described } from './described.ts';
import { ArgumentError } from './errors.ts';
import { requireArguments, requireFields } from './options/require-arguments.ts';
import type { TensorOps } from './tensor-ops.ts';
import type { Loss, LossInputs, LossOutput } from './training.ts';

/**
 * The columns that a loss declared. Reading any other one throws, with its name. `'name' in columns` asks for it.
 *
 * @throws ArgumentError from the read of a column that `loss.columns` does not name.
 */
export function declaredColumns<T>(
  options: Pick<Loss, 'key' | 'columns'>,
  column: (name: string) => T,
): Readonly<Record<string, T>> {
  requireArguments('declaredColumns', { column: 'function' }, column);
  requireFields('declaredColumns', { key: 'text', columns: 'texts' }, options);
  const { key, columns: declared } = options;
  const columns = Object.fromEntries(declared.map((name) => [name, column(name)]));
  return new Proxy(columns, {
    get(target, name, receiver) {
      if (typeof name === 'symbol' || name in target) return Reflect.get(target, name, receiver);
      throw new ArgumentError(
        `the loss "${key}" reads the column "${name}", which it does not declare; add it to the loss's \`columns\``,
      );
    },
  });
}

/**
 * What a loss computes.
 *
 * @throws ArgumentError with the loss's key if it returns no `tokenLosses`, or calls an operation with anything but tensors.
 */
export function computedLoss<T>(loss: Loss, ops: TensorOps<T>, inputs: LossInputs<T>): LossOutput<T> {
  requireFields('computedLoss', { key: 'text', columns: 'texts', compute: 'function' }, loss);
  let output: LossOutput<T> | undefined;
  try {
    output = loss.compute(ops, inputs);
  } catch (error) {
    throw misuse(loss, ops, inputs) ?? error;
  }
  const given: unknown = output?.tokenLosses;
  if (output !== undefined && !isPlain(given)) return output;
  throw (
    misuse(loss, ops, inputs) ??
    new ArgumentError(
      given === undefined
        ? `the loss "${loss.key}" returned no tokenLosses; return { tokenLosses }, the loss of each token`
        : `the loss "${loss.key}" returned ${described(given)} as tokenLosses, expected a tensor; compute it with ops`,
    )
  );
}

/** Operations that take numbers, with the place of the first. */
const numbersFrom: Readonly<Record<string, number>> = { constant: 0, clip: 1 };

/** The first operation of a loss that does not exist or got no tensor. Looked for only once the loss failed. */
function misuse<T>(loss: Loss, ops: TensorOps<T>, inputs: LossInputs<T>): ArgumentError | undefined {
  let [found, missing]: (ArgumentError | undefined)[] = [];
  const refuse = (problem: string): never => {
    found = new ArgumentError(`the loss "${loss.key}" ${problem}`);
    throw found;
  };
  const checking = new Proxy(ops, {
    get(target, name) {
      if (typeof Reflect.get(target, name) !== 'function') {
        missing = new ArgumentError(
          `the loss "${loss.key}" calls ops.${String(name)}, which does not exist; TensorOps of @rlp/core lists them`,
        );
        return undefined;
      }
      return (...operands: unknown[]) => {
        const tensors = operands.slice(0, numbersFrom[String(name)]);
        const wrong = tensors.findIndex(isPlain);
        if (wrong < 0) return inputs.mask;
        return refuse(
          `calls ops.${String(name)} with ${described(tensors[wrong])}, ${remedyFor(tensors[wrong])}`,
        );
      };
    },
  });
  try {
    loss.compute(checking, inputs);
  } catch (error) {
    return found ?? (error instanceof TypeError ? missing : undefined);
  }
  return undefined;
}

/** Whether a value cannot be the tensor of any backend. */
function isPlain(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean';
}

function remedyFor(operand: unknown): string {
  return operand === undefined
    ? "expected a tensor; a loss that reads entropies or values declares entropies: 'needed' or values: 'needed'"
    : `expected a tensor; write ops.constant(${String(operand)})`;
}
