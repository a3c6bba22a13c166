import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { pageHtml } from './bundle.ts';

const file = fileURLToPath(new URL('../../runs/embed-in-an-app/index.html', import.meta.url));
await mkdir(new URL('.', `file://${file}`), { recursive: true });
await writeFile(file, await pageHtml());
console.log(`open ${file} in a browser`);
