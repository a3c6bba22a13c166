import { requireArguments } from '@rlp/core';
import { writeDirectory } from '@rlp/data/store';
import { type SavableAdapter, writeLoraAdapter } from '../adapter/write-adapter.ts';
import type { ModelConfig } from '../config/model-config.ts';

/**
 * Writes an adapter as a folder that PEFT and `readLoraAdapter` read, and vLLM unless it is of DoRA or has modules that were trained in
 * full. The folder appears when it is complete.
 *
 * @param config - Of the model that the adapter corrects.
 * @throws ArgumentError if the folder holds files that are not an earlier save.
 */
export async function exportAdapter(
  folder: string,
  adapter: SavableAdapter,
  config: ModelConfig,
): Promise<void> {
  requireArguments(
    'exportAdapter',
    { folder: 'text', adapter: 'object', config: 'object' },
    folder,
    adapter,
    config,
  );
  await writeDirectory(folder, (temporary) => writeLoraAdapter(temporary, adapter, config));
}
