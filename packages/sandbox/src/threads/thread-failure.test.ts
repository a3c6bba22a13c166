import { expect, it } from 'vitest';
import { threadFailure } from './thread-failure.ts';

const program = new URL('file:///app/sandbox.worker.js');

it.each([
  ['no memory', 'no memory'],
  [
    'Cannot find module /app/sandbox.worker.js',
    'Cannot find module /app/sandbox.worker.js; if you bundle your server, mark @rlp/* as external',
  ],
  [
    'Unknown file extension ".ts" for /app/worker.ts',
    'Unknown file extension ".ts" for /app/worker.ts; use Node 22.18 or later, start this program with node --import tsx, or build the module to JavaScript',
  ],
])('says what to do: %s', (message, said) => {
  expect(threadFailure(new Error(message), program)).toBe(said);
});
