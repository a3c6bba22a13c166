import { ArgumentError } from './errors.ts';
import type { TensorOps } from './tensor-ops.ts';
import type { Loss, LossInputs, LossOutput } from './training.ts';

/**
 * The columns that a loss declared. Reading any other one throws, with its name. `'name' in columns` asks for it.
 *
 * @throws ArgumentError from the read of a column that `loss.columns` does not name.
 */
export function declaredColumns<T>(
  { key, columns: declared }: Pick<Loss, 'key' | 'columns'>,
  column: (name: string) => T,
): Readonly<Record<string, T>> {
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
 * @throws ArgumentError with the loss's key if it returns no `tokenLosses`.
 */
export function computedLoss<T>(loss: Loss, ops: TensorOps<T>, inputs: LossInputs<T>): LossOutput<T> {
  const output: LossOutput<T> | undefined = loss.compute(ops, inputs);
  if (output?.tokenLosses !== undefined) return output;
  throw new ArgumentError(
    `the loss "${loss.key}" returned no tokenLosses; return { tokenLosses }, the loss of each token`,
  );
}
