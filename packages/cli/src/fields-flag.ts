import type { DatasetFields } from '@rlp/data';
import { UsageError } from './usage-error.ts';

/** The flag that names columns. */
export const fieldsArg = {
  fields: {
    type: 'string',
    description: 'Columns with other names: prompt=query,answer=reply',
    valueHint: 'ROLE=COLUMN,…',
  },
} as const;

/** `prompt=query,answer=reply`. Names of roles are checked by `loadDataset`. */
export function fieldsOf(named: string | undefined): DatasetFields | undefined {
  if (named === undefined) return undefined;
  const pairs = named.split(',').map((pair) => /^([^=]+)=(.+)$/.exec(pair.trim()));
  if (pairs.some((pair) => pair === null)) {
    throw new UsageError(`--fields must be like prompt=query,answer=reply, got ${JSON.stringify(named)}`);
  }
  return Object.fromEntries(pairs.map((pair) => [pair![1], pair![2]]));
}
