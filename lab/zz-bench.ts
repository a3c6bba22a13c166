import { loadDataset } from '@rlp/data/datasets';
import { readJsonLinesFile } from '@rlp/data/files';
const path = process.argv[2]!;
const size = 61305883;
const time = async (name: string, work: () => Promise<number>) => {
  for (let k = 0; k < 2; k++) {
    const [s, w] = [process.cpuUsage(), performance.now()];
    const n = await work();
    const d = process.cpuUsage(s);
    console.log(name, n, 'cpu', (size / (d.user + d.system)).toFixed(0), 'wall', (size / 1e3 / (performance.now() - w)).toFixed(0), 'MB/s');
  }
};
await time('batches', async () => { let n = 0; for await (const b of (await loadDataset(path)).batches()) n += b.length; return n; });
await time('rows', async () => { let n = 0; for await (const _ of await loadDataset(path)) n++; return n; });
await time('read', async () => { let n = 0; for await (const _ of (await loadDataset(path)).read()) n++; return n; });
await time('readJsonLinesFile', async () => { let n = 0; for await (const _ of readJsonLinesFile(path)) n++; return n; });
