import { basename } from 'node:path';
import type { StoreHost } from '@rlp/data/store';
import { crashTable } from '@rlp/data/testing';
import { expect, it } from 'vitest';
import { writeSafetensorsOn } from './write.ts';

const path = '/m/model.safetensors';

const weights = (version: number) =>
  new Map(['a', 'b', 'c'].map((name) => [name, { shape: [4], data: new Float32Array(4).fill(version) }]));

async function read(host: StoreHost, file: string): Promise<Uint8Array | undefined> {
  const opened = await host.files.open(file, 'r').catch(() => undefined);
  if (opened === undefined) return undefined;
  const buffer = new Uint8Array(4096);
  const { bytesRead } = await opened.read(buffer, 0, buffer.length, null);
  await opened.close();
  return buffer.subarray(0, bytesRead);
}

/** Versions of the tensors in a file, all of which are filled with theirs. */
function versionsIn(bytes: Uint8Array): number[] {
  const start = 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  return [...new Float32Array(bytes.slice(start).buffer)];
}

/** As transformers reads a folder: one file if there is one, else the shards that the index names. */
async function load(host: StoreHost): Promise<number | undefined> {
  const single = await read(host, path);
  const index = await read(host, `${path}.index.json`);
  let versions: number[] = [];
  if (single !== undefined) versions = versionsIn(single);
  else if (index !== undefined) {
    const { weight_map: map } = JSON.parse(new TextDecoder().decode(index)) as {
      weight_map: Record<string, string>;
    };
    for (const shard of new Set(Object.values(map))) {
      const bytes = await read(host, `/m/${basename(shard)}`);
      if (bytes === undefined) throw new Error(`${shard} is missing`);
      versions.push(...versionsIn(bytes));
    }
  }
  if (versions.length === 0) return undefined;
  if (versions.length !== 12 || new Set(versions).size > 1) throw new Error(`mixed: ${versions}`);
  return versions[0];
}

async function makeFolder({ files }: StoreHost): Promise<void> {
  await files.mkdir('/m');
  const root = await files.open('/', 'r');
  await root.sync();
  await root.close();
}

it.each([
  ['shards over shards', () => 16],
  ['shards over one file, and back', (version: number) => (version % 2 === 1 ? 1000 : 16)],
] as const)('%s: no crash point mixes the tensors of two saves', async (name, shardBytes) => {
  const { points, problems } = await crashTable(
    {
      name,
      before: 1,
      saves: 2,
      save: async (host, version) => {
        if (version === 1) await makeFolder(host);
        await writeSafetensorsOn(host, path, weights(version), { maxShardBytes: shardBytes(version) });
      },
      load,
    },
    'distinct',
  );
  console.log(`${name}: ${Object.values(points).reduce((a, b) => a + b)} points`);
  expect(problems).toEqual([]);
});
