import { expect, it } from 'vitest';
import { entriesOf, exportedBy } from './entries.ts';
import type { ExampleCall } from './examples.ts';
import { recorded, recordedFolders } from './recorded.ts';
import { isCareless, makers, sweep } from './sweep.ts';

/** What functions that nobody recorded are called with. */
const placeholders: ExampleCall = { text: "['a', 'a', 'a']", optional: [] };

/** Why functions may answer a wrong call with another error than an RlpError. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'Its arguments come from our own code or from a checkpoint.': [
    'OptionsError',
    'RandomStream',
    'RunStoppedError',
  ],
  'Its arguments are checked, but not all that lists and records inside them hold. To mend.': [
    'RolloutManager',
    'agentRollouts',
    'folderWorld',
    'lostCharacters',
    'matrixFromRows',
    'matrixRows',
    'nextPrompt',
    'parseToolCalls',
    'progressLine',
    'readTrajectories',
    'rewardModel',
    'rolloutBatch',
    'tokenSequences',
    'trajectoryFromSample',
    'transformSamples',
    'weightedRewards',
  ],
  'A part that packages share. They pass it checked values, some of them for every token.': [
    'allWithSignals',
    'base64Of',
    'bytesOf',
    'comparingGroups',
    'counted',
    'decimalDigit',
    'hashText',
    'importPeer',
    'isSilentToken',
    'isStoppedBy',
    'nearNames',
    'nodeBuiltin',
    'orAborted',
    'parseOptions',
    'parsedJson',
    'promptText',
    'readFloat',
    'requireArguments',
    'requireFields',
    'seenText',
    'seenTexts',
    'shownText',
    'terminalText',
    'trimmed',
    'visitWords',
    'withCallMarks',
    'withCause',
    'withForeignNames',
    'withMethods',
    'withPlainBlanks',
    'withSignals',
    'withinLength',
    'withoutSources',
    'withoutThoughts',
    'wordsOf',
  ],
};

/** Entries of a package. Tests of one worker share modules, and those of BullMQ replace one that must not have been loaded. */
const loadable = (folder: string) => entriesOf(folder).filter((path) => !path.endsWith('bullmq.ts'));

it('answers wrong calls with an RlpError', async () => {
  const examples = recorded();
  const exported = new Map(
    await Promise.all(
      recordedFolders.map(async (folder) => [folder, await exportedBy(loadable(folder))] as const),
    ),
  );
  const made = makers(new Map([...exported.values()].flat().map(({ name, value }) => [name, value])));
  const careless = new Set<string>();
  for (const [folder, found] of exported) {
    for (const { name, value } of found) {
      const key = `${folder} ${name}`;
      const example = examples.has(key) ? examples.get(key) : placeholders;
      if (example === undefined) continue;
      const { wrong } = await sweep({ name, value, example }, made);
      if (wrong.some(isCareless)) careless.add(name);
    }
  }
  expect([...careless].sort()).toEqual(Object.values(exceptions).flat().sort());
});
