/** `npx tsx --conditions=@rlp/source lab/measure-verifiers.ts`: prints the tables of docs/verification.md. */
import { hasData } from './verification/data.ts';
import { measure } from './verification/measure.ts';
import { tables } from './verification/tables.ts';

if (hasData) {
  for (const [title, table] of Object.entries(tables(await measure())))
    console.log(`## ${title}\n\n${table}\n`);
} else {
  console.log('measure-verifiers: skipped, no shared data beside the repository');
}
