import { requireArguments } from '@rlp/core';
import { readText } from '../store/file-system.ts';
import { nodeHost } from '../store/host.ts';

/** Text of a file of `AppendFile` and of those that rotation kept, oldest first. A missing file counts as empty. */
export async function readRotated(path: string): Promise<string> {
  requireArguments('readRotated', { path: 'text' }, path);
  const { files } = nodeHost();
  const texts = [(await readText(files, path)) ?? ''];
  for (let age = 1; ; age++) {
    const text = await readText(files, `${path}.${age}`);
    if (text === undefined) return texts.join('\n');
    texts.unshift(text);
  }
}
