// The TypeScript compiler. An import would search its nine megabytes for names of exports, which takes half a second.
import { createRequire } from 'node:module';

export default createRequire(import.meta.url)('typescript');
