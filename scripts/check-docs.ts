/**
 * Fails when the documents and the code disagree: a public symbol has no docstring, a document names what its package does
 * not export, a `ts` block of a document does not compile or, where it is marked `ts run`, does not run.
 */
import { compile } from './compiler.ts';
import { acceptance } from './documents/acceptance.ts';
import { docstrings } from './documents/docstrings.ts';
import { faultsIn, runSnippets, writeSnippets } from './documents/snippets.ts';
import { conclude, entriesOf, packagesIn } from './workspace.ts';

const entries = packagesIn('packages').flatMap(entriesOf);
const snippets = writeSnippets();
const compilation = compile([...entries.map(({ types }) => types), ...snippets.map(({ path }) => path)]);

const { documented, problems } = docstrings(compilation, entries);
problems.push(...acceptance(compilation, entries));
const faults = faultsIn(compilation, snippets);
const runnable = snippets.filter(({ use }) => use === 'run');
problems.push(...(faults.length > 0 ? faults : runSnippets(runnable)));
conclude(
  problems,
  `${documented} public symbols documented, ${snippets.length} snippets compile, ${runnable.length} of them run`,
);
