import { ArgumentError, parseOptions, RandomStream } from '@rlp/core';
import { JsonClient } from '@rlp/http/client';
import * as z from 'zod';
import type { InferenceBackend } from '../backend.ts';
import { connectionOf, remoteSchema } from '../remote/options.ts';
import { startError } from '../remote/remedies.ts';
import { RemoteSampler } from '../remote/remote-sampler.ts';
import { SglangServer } from './server.ts';

const schema = remoteSchema.omit({ entropies: true }).extend({
  /** Maximum tokens of a prompt and its completion together. Default: the server's setting. */
  contextLength: z.int().positive().optional(),
});

/** Options of {@link createSglangSampler}. `url` is the root of the server, as in `http://127.0.0.1:30000`. */
export interface SglangSamplerOptions extends z.input<typeof schema> {}

const infoSchema = z.looseObject({ model_path: z.string() });
const limitsSchema = z.looseObject({ context_length: z.int().positive().nullish() });

/**
 * A policy on an SGLang server, through `/generate`.
 *
 * New weights are adapters (`--enable-lora`) or checkpoints. Equal seeds give equal draws only with `--enable-deterministic-inference`.
 *
 * @throws OptionsError naming every problem at once. ArgumentError for a server that is unreachable or serves another model.
 */
export async function createSglangSampler(options: SglangSamplerOptions): Promise<InferenceBackend> {
  const resolved = parseOptions('createSglangSampler', schema, options);
  const random = () => RandomStream.named('sglang', resolved.url);
  const client = new JsonClient('createSglangSampler', connectionOf(resolved), random);
  const { tokenizer, renderer, policyVersion: version } = resolved;
  try {
    const answer = await client.json('/get_model_info');
    const info = infoSchema.safeParse(answer).data;
    if (info === undefined) throw client.unexpected('model_path of SGLang', answer);
    const model = info.model_path;
    if (resolved.model !== undefined && resolved.model !== model) {
      throw new ArgumentError(
        `createSglangSampler: expected the model "${resolved.model}" at ${client.place}, got ${model}`,
      );
    }
    const contextLength = resolved.contextLength ?? (await contextOf(client));
    const vocabularySize = resolved.vocabularySize ?? tokenizer.vocabularySize;
    const server = new SglangServer(client, { ...resolved, root: model });
    const weights = { version, model: '' };
    await server.probe(tokenizer.bosId ?? tokenizer.encode('a')[0] ?? 0, weights);
    return new RemoteSampler(server, {
      ...{ tokenizer, renderer, vocabularySize, contextLength, weights, entropies: 'unknown' },
    });
  } catch (error) {
    throw startError('createSglangSampler', error);
  }
}

async function contextOf(client: JsonClient): Promise<number> {
  const { data } = limitsSchema.safeParse(await client.json('/get_server_info'));
  if (data?.context_length) return data.context_length;
  throw new ArgumentError(
    `createSglangSampler: ${client.place} does not say its context length; set contextLength`,
  );
}
