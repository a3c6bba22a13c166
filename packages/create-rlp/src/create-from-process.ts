import { createProject, nextSteps } from './create-project.ts';

/**
 * Runs `npm create rlp` with the arguments of this process.
 *
 * @returns The exit code.
 */
export async function createFromProcess(): Promise<number> {
  const [directory = '.', ...others] = process.argv.slice(2);
  if (others.length > 0 || directory.startsWith('-')) {
    process.stderr.write('npm create rlp FOLDER makes a project in FOLDER, by default in this one\n');
    return directory === '--help' ? 0 : 2;
  }
  try {
    process.stdout.write(`${nextSteps(await createProject({ directory }))}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
