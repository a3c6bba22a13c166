/**
 * Calls every exported function and class wrongly, one damaged argument at a time, and counts what the calls get.
 *
 * A call that fits is built from the types. Its arguments, their fields and first elements are replaced one by one: by nothing, `null`,
 * text, numbers, empty and shorter lists, other objects. The rule is an RlpError. Another error, or NaN in the result, is careless.
 *
 *     npx tsx --conditions=@rlp/source lab/wrong-calls.ts [--package NAME] [--callee NAME] [--list]
 *     npx tsx --conditions=@rlp/source lab/wrong-calls.ts --record    writes the calls of the test
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { calleesOf } from './wrong-calls/callees.ts';
import { folders } from './wrong-calls/entries.ts';
import { record, recordedFolders } from './wrong-calls/recorded.ts';
import { type Answer, isCareless, makers, sweep } from './wrong-calls/sweep.ts';

const { values } = parseArgs({
  options: {
    package: { type: 'string', default: '' },
    callee: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
});

const chosen = values.record
  ? recordedFolders
  : folders.filter((folder) => values.package === '' || folder === values.package);
const callees = await calleesOf(chosen);

// What a call starts by mistake fails at once, in an empty folder.
const folder = mkdtempSync(join(tmpdir(), 'wrong-calls-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.chdir(folder);
globalThis.fetch = () => Promise.reject(new TypeError('fetch failed'));
let current = '';
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (error) => process.stderr.write(`${current}, later: ${String(error)}\n`));
}

const classes = new Map([...callees.values()].flat().map(({ name, value }) => [name, value]));
const made = makers(classes);
if (values.record) {
  await record(callees, made);
  process.exit();
}
const table: Record<string, Record<string, number>> = {};
for (const [name, found] of callees) {
  const counts: Record<Answer, number> = { RlpError: 0, 'other error': 0, NaN: 0, accepted: 0 };
  const careless = new Set<string>();
  for (const callee of found.filter(({ name }) => name.includes(values.callee))) {
    current = `${name} ${callee.name}`;
    const { whole, wrong } = await sweep(callee, made);
    if (values.list) process.stdout.write(`\n${callee.name}(${callee.example.text}): ${whole.answer}\n`);
    for (const call of wrong) {
      counts[call.answer]++;
      if (!isCareless(call)) continue;
      careless.add(callee.name);
      if (values.list) process.stdout.write(`  ${call.damage}: ${call.answer} ${call.message}\n`);
    }
  }
  table[name] = { exported: found.length, careless: careless.size, ...counts };
}
console.table(table);
// Servers and threads that a call started may still run.
process.exit();
