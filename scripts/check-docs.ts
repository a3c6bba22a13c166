/**
 * Fails when the documents and the code disagree. Every public symbol and every option needs a docstring. Documents name only what packages
 * export. Every `ts` block compiles, and every `ts run` block runs.
 */
import { compile } from './compiler.ts';
import { acceptance } from './documents/acceptance.ts';
import { docstrings } from './documents/docstrings.ts';
import { faultsIn, runSnippets, writeSnippets } from './documents/snippets.ts';
import { undocumentedAsBuilt } from './options/undocumented-options.ts';
import { conclude, entriesOf, packagesIn } from './workspace.ts';

const entries = packagesIn('packages').flatMap(entriesOf);
const snippets = writeSnippets();
const compilation = compile(entries.map(({ types }) => types));

const { documented, problems } = docstrings(compilation, entries);
const options = undocumentedAsBuilt(compilation);
console.log(options.counts.join('\n'));
problems.push(...options.problems, ...acceptance(compilation, entries));
const faults = faultsIn(snippets, entries);
const runnable = snippets.filter(({ use }) => use === 'run');
problems.push(...(faults.length > 0 ? faults : runSnippets(runnable)));
conclude(
  problems,
  `${documented} public symbols documented, ${snippets.length} snippets compile, ${runnable.length} of them run`,
);
