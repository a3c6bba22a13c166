import * as z from 'zod';
import { sameNames, typingErrors } from './options/near-names.ts';

/** Refuses a field that is one of the shape in another spelling, or one letter away from one that was not given. */
function refuseOtherSpellings(shape: z.ZodRawShape) {
  const known = new Set(Object.keys(shape));
  return (record: Readonly<Record<string, unknown>>, { addIssue }: z.core.$RefinementCtx): void => {
    for (const given in record) {
      if (known.has(given)) continue;
      const message = problemOf(given, shape, record);
      if (message !== undefined) addIssue({ code: 'custom', path: [given], message });
    }
  };
}

function problemOf(
  given: string,
  shape: z.ZodRawShape,
  record: Readonly<Record<string, unknown>>,
): string | undefined {
  const names = Object.keys(shape);
  const [same] = sameNames(given, names, (name) => name);
  if (same !== undefined) return `write it as ${same}`;
  // The record has its defaults already.
  const isDefault = (name: string) =>
    JSON.stringify(record[name]) === JSON.stringify(z.safeParse(shape[name]!, undefined).data);
  const [near] = typingErrors(given, names).filter(isDefault);
  return near && `did you mean ${near}? A field of your own needs a name that is less alike`;
}

/**
 * Schema of a record that may have fields of its own, which are kept. Other spellings of its fields are refused, such as
 * `step_outputs` or `stepOutput`: they would be ignored in silence.
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
