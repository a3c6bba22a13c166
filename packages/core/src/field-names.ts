import type * as z from 'zod';
import { sameNames } from './options/near-names.ts';

/**
 * A refinement for records that may have further fields: refuses a field whose name is one of `names` in another spelling, such as
 * `step_outputs`. It would be left out in silence.
 */
export function refuseOtherSpellings(names: readonly string[]) {
  return (record: object, { addIssue }: z.core.$RefinementCtx): void => {
    for (const given of Object.keys(record)) {
      const [name] = names.includes(given) ? [] : sameNames(given, names, (one) => one);
      if (name !== undefined) addIssue({ code: 'custom', path: [given], message: `write it as ${name}` });
    }
  };
}
