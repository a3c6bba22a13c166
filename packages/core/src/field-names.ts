import * as z from 'zod';
import { sameNames } from './options/near-names.ts';

/** Refuses a field that is one of the shape in another spelling. */
function refuseOtherSpellings(shape: z.ZodRawShape) {
  const names = Object.keys(shape);
  // A default is in the record whether it was given or not.
  const hasDefault = (name: string) => z.safeParse(shape[name]!, undefined).data !== undefined;
  return (record: Readonly<Record<string, unknown>>, { addIssue }: z.core.$RefinementCtx): void => {
    for (const given in record) {
      if (given in shape || isEmpty(record[given])) continue;
      const [name] = sameNames(given, names, (one) => one);
      if (name === undefined || (record[name] !== undefined && !hasDefault(name))) continue;
      addIssue({ code: 'custom', path: [given], message: `write it as ${name}` });
    }
  };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/**
 * Schema of a record that may have fields of its own, which are kept. Other spellings of its fields are refused, such as
 * `step_outputs`: they would be ignored in silence.
 */
export function openRecord<const Shape extends z.ZodRawShape>(
  shape: Shape,
): z.ZodObject<Shape, z.core.$loose> {
  return z.looseObject(shape).superRefine(refuseOtherSpellings(shape));
}

/** The same, without the fields of its own. */
export function plainRecord<const Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape);
  return openRecord(shape).transform((record: Readonly<Record<string, unknown>>) => {
    const plain: Record<string, unknown> = {};
    for (const name of names) if (name in record) plain[name] = record[name];
    return plain;
  });
}
