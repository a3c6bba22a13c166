/** `node scripts/runtimes/main.mjs`, and the same with Deno and Bun: the built packages work in this runtime. */
import { smoke } from './smoke.mjs';

console.log(await smoke());
