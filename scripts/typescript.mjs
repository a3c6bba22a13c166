// The TypeScript compiler. An import would search its nine megabytes for names of exports, which takes half a second.
import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';

// Node 20 would spend a tenth of a check on optimising functions that run a few times; see vitest.config.ts.
if (process.version.startsWith('v20.')) setFlagsFromString('--interrupt-budget=500000');

export default createRequire(import.meta.url)('typescript');
