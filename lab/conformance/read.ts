import * as z from 'zod';
import { type VariantCase, withoutVariants } from './definition-variants.ts';
import type { Fixture, FixtureCase } from './fixture.ts';
import { withoutAdvisoryVerdicts } from './stock-rewards.ts';

const record = z.record(z.string(), z.unknown());

const fileSchema = z.object({
  name: z.string().optional(),
  tolerance: z.object({ abs: z.number().nonnegative(), rel: z.number().nonnegative() }),
  cases: z.array(z.unknown()),
});

const caseSchema = z.object({ id: z.string(), inputs: record });

const plainCaseSchema = caseSchema.extend({
  fn: z.string(),
  params: record.nullish().transform((params) => params ?? {}),
  expected: z.unknown().refine((expected) => expected !== undefined, 'Invalid input: expected a value'),
});

const variantCaseSchema = caseSchema.extend({ variants: record });

/** What a fixture file holds: the cases that can be run, and a line for everything that is no case. */
export interface FixtureFile {
  readonly fixture: Fixture;
  readonly problems: readonly string[];
}

/**
 * Reads a fixture file. A file goes by its own name; under another, by the `name` inside it if `known` has only that one.
 *
 * @param text What is in the file.
 * @param names The name of the file without `.json`, and which names there are adapters for.
 */
export function readFixture(
  text: string,
  { file, known }: { readonly file: string; known(name: string): boolean },
): FixtureFile {
  const { content, problem } = parsed(text);
  const read = fileSchema.safeParse(content);
  if (problem !== undefined || !read.success) {
    const empty = { name: file, tolerance: { abs: 0, rel: 0 }, cases: [] };
    return { fixture: empty, problems: problem === undefined ? lines(read.error!) : [problem] };
  }
  const { name = file, tolerance, cases } = read.data;
  const problems: string[] = [];
  const readable: (FixtureCase | VariantCase)[] = [];
  for (const [index, item] of cases.entries()) {
    const isVariant = record.safeParse(item).data?.variants !== undefined;
    const readCase = (isVariant ? variantCaseSchema : plainCaseSchema).safeParse(item);
    if (readCase.success) readable.push(readCase.data as FixtureCase | VariantCase);
    else problems.push(...lines(readCase.error).map((line) => `cases[${index}].${line}`));
  }
  const named = known(name) && !known(file) ? name : file;
  const fixture = withoutVariants({ name: named, tolerance, cases: readable });
  return { fixture: withoutAdvisoryVerdicts(fixture), problems };
}

function parsed(text: string): { readonly content?: unknown; readonly problem?: string } {
  try {
    return { content: JSON.parse(text) };
  } catch (error) {
    return { problem: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function lines({ issues }: z.core.$ZodError): string[] {
  return issues.map(({ path, message }) => `${path.join('.') || 'file'}: ${message}`);
}
