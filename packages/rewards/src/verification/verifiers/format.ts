import { messageOf, parsedJson, parseOptions, type VerificationReport } from '@rlp/core';
import * as z from 'zod';
import { type JsonCheck, jsonSchemaCheck } from '../../shared/json-schema.ts';
import { withoutFence } from '../../shared/text.ts';
import { TextVerifier, type VerificationContext } from '../text-verifier.ts';
import { scoreReport } from '../verdict.ts';

const schema = z.strictObject({
  /** Format of the response. Default `'json'`. */
  format: z.literal('json').default('json'),
  /** JSON Schema of the value: draft 2020-12, unless its `$schema` names another. Default: any JSON passes. */
  schema: z.union([z.record(z.string(), z.unknown()), z.boolean()]).optional(),
  /** Whether a Markdown fence may surround the value. Default `'fence'`. */
  envelope: z.enum(['none', 'fence']).default('fence'),
  /** Most characters of a response. Default 1 000 000. */
  maxLength: z.int().positive().default(1_000_000),
});

/** Options of {@link FormatVerifier}. */
export interface FormatVerifierOptions extends z.input<typeof schema> {}

/**
 * Whether a response is JSON and, with a `schema`, the JSON that was asked for.
 *
 * Score 1 if it is; 0.3 for JSON that breaks the schema, with the first twenty reasons and their places in `details.errors`; 0
 * for anything else. Schemas are checked by `@cfworker/json-schema`, which builds no code. A `pattern` of your schema is
 * run as you wrote it, `uniqueItems` compares every pair (give `maxItems` with it), and the format `url` is read as `uri`.
 */
export class FormatVerifier extends TextVerifier {
  readonly name = 'format';
  readonly #options: z.output<typeof schema>;
  readonly #check: JsonCheck | undefined;

  /** @throws OptionsError naming every problem, those of the schema included. */
  constructor(options: FormatVerifierOptions = {}) {
    super();
    this.#options = parseOptions('FormatVerifier', schema, options);
    const { schema: wanted } = this.#options;
    this.#check = wanted === undefined ? undefined : jsonSchemaCheck('FormatVerifier', wanted, 'all');
  }

  override verify(
    _prompt: string,
    _plain: string,
    { original: response }: VerificationContext,
  ): VerificationReport {
    const { envelope, maxLength } = this.#options;
    if (response.length > maxLength) {
      return scoreReport({
        score: 0,
        message: `${response.length} characters, expected at most ${maxLength}`,
      });
    }
    let value: unknown;
    try {
      value = parsedJson(envelope === 'fence' ? withoutFence(response) : response);
    } catch (error) {
      const problem = messageOf(error);
      return scoreReport({ score: 0, details: { errors: [problem] }, message: `no JSON: ${problem}` });
    }
    if (this.#check === undefined) return scoreReport({ score: 1, message: 'valid JSON' });
    const errors = this.#check(value).slice(0, 20);
    if (errors.length === 0) return scoreReport({ score: 1, message: 'JSON that satisfies the schema' });
    return scoreReport({ score: 0.3, details: { errors }, message: `breaks the schema: ${errors.at(-1)}` });
  }
}
