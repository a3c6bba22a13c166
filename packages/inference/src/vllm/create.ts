import { ArgumentError, parseOptions, RandomStream } from '@rlp/core';
import { JsonClient } from '@rlp/http/client';
import type * as z from 'zod';
import type { InferenceBackend } from '../backend.ts';
import { connectionOf, remoteSchema } from '../remote/options.ts';
import { startError } from '../remote/remedies.ts';
import { RemoteSampler } from '../remote/remote-sampler.ts';
import { probeVllm } from './probe.ts';
import { VllmServer } from './server.ts';

/** Options of {@link createVllmSampler}. `url` is the root of the server, as in `http://127.0.0.1:8000`. */
export interface VllmSamplerOptions extends z.input<typeof remoteSchema> {}

/**
 * A policy on a vLLM server, 0.10.2 or newer.
 *
 * Prompts and completions are sent as tokens. The route is `/inference/v1/generate` if the server was started with `--enable-scale-out`,
 * otherwise `/v1/completions`. New weights are adapters (`--enable-lora`, `VLLM_ALLOW_RUNTIME_LORA_UPDATING=1`) or checkpoints
 * (`VLLM_SERVER_DEV_MODE=1`). A few requests at the start show what the server can do. Their seeds are fixed.
 *
 * @throws OptionsError naming every problem at once. ArgumentError for a server that is unreachable, serves another model or does not
 *   return tokens.
 */
export async function createVllmSampler(options: VllmSamplerOptions): Promise<InferenceBackend> {
  const resolved = parseOptions('createVllmSampler', remoteSchema, options);
  const client = new JsonClient('createVllmSampler', connectionOf(resolved), () =>
    RandomStream.named('vllm', resolved.url),
  );
  const { tokenizer, renderer, entropies } = resolved;
  const vocabularySize = resolved.vocabularySize ?? tokenizer.vocabularySize;
  const probed = await probeVllm(client, resolved).catch((error: unknown) => {
    throw startError('createVllmSampler', error);
  });
  if (entropies === 'exact' && probed.abilities.distributions === 'none') {
    throw new ArgumentError(
      "createVllmSampler: entropies: 'exact' needs the logprobs of the whole vocabulary; start vLLM with --max-logprobs -1",
    );
  }
  const server = new VllmServer(client, { ...resolved, ...probed });
  return new RemoteSampler(server, {
    ...{ tokenizer, renderer, vocabularySize, entropies, contextLength: probed.contextLength },
    weights: { version: resolved.policyVersion, model: probed.model },
  });
}
