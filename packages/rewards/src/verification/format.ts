import { parseOptions, type VerificationReport } from '@rlp/core';
import { z } from 'zod';
import { messageOf } from '../message-of.ts';
import { TextVerifier } from './text-verifier.ts';
import { scoreReport } from './verdict.ts';

const schema = z.strictObject({
  format: z.literal('json').default('json'),
  schema: z.union([z.record(z.string(), z.unknown()), z.boolean()]).optional(),
  envelope: z.enum(['none', 'fence']).default('fence'),
  maxLength: z.int().positive().default(1_000_000),
});

/**
 * Options of {@link FormatVerifier}: `format` (`'json'`); `schema`, a JSON Schema (draft 2020-12) the value must satisfy;
 * `envelope` (`'fence'`: one Markdown fence around the value is allowed; `'none'`); `maxLength` (1,000,000 characters).
 */
export type FormatVerifierOptions = z.input<typeof schema>;

type Validate = (value: unknown) => readonly { readonly instanceLocation: string; readonly error: string }[];

/**
 * Whether a response is JSON and, with a `schema`, the JSON that was asked for.
 *
 * Score 1 if it is; 0.3 for JSON that breaks the schema, with the first twenty reasons and their places in `details.errors`; 0
 * for what is no JSON. Schemas are checked by `@cfworker/json-schema`, which builds no code. A `pattern` of your schema is
 * run as you wrote it, and the format `url` is read as `uri`.
 */
export class FormatVerifier extends TextVerifier {
  readonly name = 'format';
  readonly #options: z.output<typeof schema>;
  #validate: Promise<Validate> | undefined;

  /** @throws `OptionsError` naming every problem. */
  constructor(options: FormatVerifierOptions = {}) {
    super();
    this.#options = parseOptions('FormatVerifier', schema, options);
  }

  override verify(_prompt: string, response: string): VerificationReport | Promise<VerificationReport> {
    const { envelope, maxLength, schema: wanted } = this.#options;
    if (response.length > maxLength) {
      return scoreReport({
        score: 0,
        message: `${response.length} characters, expected at most ${maxLength}`,
      });
    }
    let value: unknown;
    try {
      value = JSON.parse(envelope === 'fence' ? unfenced(response) : response);
    } catch (error) {
      const problem = messageOf(error);
      return scoreReport({ score: 0, details: { errors: [problem] }, message: `no JSON: ${problem}` });
    }
    if (wanted === undefined) return scoreReport({ score: 1, message: 'valid JSON' });
    this.#validate ??= validator(wanted);
    return this.#validate.then((validate) => reportOf(validate(value)));
  }
}

async function validator(wanted: Readonly<Record<string, unknown>> | boolean): Promise<Validate> {
  const { Validator } = await import('@cfworker/json-schema');
  // The library's pattern for "url", which is no format of the standard, runs in quadratic time.
  const standard = JSON.parse(JSON.stringify(wanted), (key, value: unknown) =>
    key === 'format' && value === 'url' ? 'uri' : value,
  );
  const judge = new Validator(standard, '2020-12', false);
  return (value) => judge.validate(value).errors;
}

function reportOf(errors: ReturnType<Validate>): VerificationReport {
  if (errors.length === 0) return scoreReport({ score: 1, message: 'JSON that satisfies the schema' });
  const listed = errors.slice(0, 20).map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  return scoreReport({
    score: 0.3,
    details: { errors: listed },
    message: `breaks the schema: ${listed.at(-1)}`,
  });
}

/** What stands between the first and the last line, where these are a Markdown fence; else the text. */
function unfenced(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || trimmed.length < 6) return trimmed;
  const start = trimmed.indexOf('\n');
  return start < 0 ? trimmed : trimmed.slice(start + 1, -3);
}
