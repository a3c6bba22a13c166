import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Called by Vitest before the first test: what tests leave in the temporary folder is removed after the last one. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'rlp-tests-'));
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
