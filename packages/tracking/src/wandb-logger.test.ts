import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wandbLogger } from './index.ts';
import { finding, hasModule, python, samples } from './testing/readers.ts';

/** Logs calls with the real client without a network, and reads its files by its own messages. */
const client = `
import glob, json, struct, sys
import wandb
from wandb.proto import wandb_internal_pb2
folder = sys.argv[1]
run = wandb.init(mode="offline", dir=folder, settings=wandb.Settings(silent=True))
for call in json.load(sys.stdin):
    table = lambda each: wandb.Table(**each) if isinstance(each, dict) else each
    run.log({name: table(each) for name, each in call["data"].items()}, step=call["step"])
run.finish()
wandb.teardown()
offline = folder + "/wandb/offline-run-*"
with open(glob.glob(offline + "/*.wandb")[0], "rb") as file:
    written = file.read()
history, at, piece = [], 7, b""
while at + 7 <= len(written):
    room = 32768 - at % 32768
    if room < 7:
        at += room
        continue
    _, length, kind = struct.unpack("<IHB", written[at : at + 7])
    piece += written[at + 7 : at + 7 + length]
    at += 7 + length
    if kind in (1, 4):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(piece)
        piece = b""
        items = {item.key or ".".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        history += [items] if items else []
tables = [json.load(open(path)) for path in glob.glob(offline + "/files/media/table/*.json")]
print(json.dumps({"history": history, "tables": tables}))
`;

describe('wandbLogger', () => {
  it('logs recent findings as blocks of HTML if the client has them', () => {
    const logged: unknown[] = [];
    const run = { log: (data: object) => logged.push(data) };
    const logger = wandbLogger(run, { html: (markup) => ({ markup }) });
    const note = { what: '', why: '', mitigation: ['a < b'] };
    for (let step = 0; step < 12; step++) logger.finding?.(step, { ...finding, message: '<b>', note });
    const { markup } = (logged.at(-1) as { findings: { markup: string } }).findings;
    expect(markup.split('<section>')).toHaveLength(11);
    expect(markup).toContain(
      '<section><h4>high spread, step 11</h4><p>&lt;b></p><ul><li>a &lt; b</li></ul></section>',
    );
  });

  it('logs notes, tables and findings, and raises alerts', async () => {
    const logged: unknown[] = [];
    const run = {
      log: (data: object, { step }: { step: number }) => logged.push([step, data]),
      alert: (alert: object) => logged.push(alert),
    };
    const logger = wandbLogger(run, {
      table: (columns, data) => ({ columns: columns.length, rows: data.length }),
    });
    logger.note?.(3, 'one');
    logger.samples?.(3, samples);
    logger.finding?.(3, finding);
    await logger.close();
    expect(logged).toEqual([
      [3, { notes: 'one' }],
      [3, { samples: { columns: 6, rows: 2 } }],
      [3, { findings: 'high spread: wide' }],
      { title: 'spread', text: 'wide', level: 'ERROR' },
    ]);
  });

  it.skipIf(!hasModule('wandb'))('is understood by the real client', { timeout: 90_000 }, async () => {
    const calls: object[] = [];
    const logger = wandbLogger({ log: (data, { step }) => calls.push({ data, step }) });
    logger.log(3, { 'reward/mean': 0.5 });
    logger.note?.(3, 'one');
    logger.samples?.(3, samples);
    logger.finding?.(3, finding);
    logger.log(4, { 'reward/mean': 0.75 });
    await logger.close();
    const folder = mkdtempSync(join(tmpdir(), 'wandb-'));
    const options = { encoding: 'utf8', input: JSON.stringify(calls) } as const;
    const said = execFileSync(python, ['-c', client, folder], options);
    rmSync(folder, { recursive: true });
    const { history, tables } = JSON.parse(said.trim().split('\n').at(-1)!) as {
      history: object[];
      tables: object[];
    };
    expect(history).toMatchObject([
      {
        ...{ _step: 3, 'reward/mean': 0.5, notes: 'one', findings: 'high spread: wide' },
        ...{ 'samples._type': 'table-file', 'samples.nrows': 2 },
      },
      { _step: 4, 'reward/mean': 0.75 },
    ]);
    expect(tables).toEqual([
      {
        columns: ['task', 'prompt', 'response', 'reward', 'exact', 'short'],
        data: [
          ['t1', '1+1=', '2', 1, 1, null],
          ['t2', '1+2=', 'a|b\nc', null, null, 0.5],
        ],
      },
    ]);
  });
});
