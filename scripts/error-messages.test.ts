import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesIn } from './workspace.ts';

const sources = filesIn('packages', '.ts').filter(
  (path) => path.includes('/src/') && !/\.(test|fixture)\.ts$|[\\/]testing[\\/.]/.test(path),
);

/** An error of the packages with a message that is written in place. */
const thrown =
  /new (ArgumentError|FormatError|EngineError|SamplerError|TrainingError|EnvironmentError|RewardError)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)\s*[,)]/g;

/** What is expected, or what to do. */
const helpful =
  /expected|\b(?:must|needs?|only|at most|at least|known|fetch|install|give|use|replace|commit|pass|correct|put|delete|make)\b|;/i;

/** Passes on another error, or a text that is made elsewhere. */
const passedOn =
  /\$\{[^}]*(?:message|cause|error|problem|why|reason|note|remedy|describe|lines|known|hint|stderr|result)/i;

/** Errors that end up in another message. */
const parts = /[\\/](?:score-groups|engine-fleet)\.ts: /;

/** Messages that tools give a policy, which has no options to change. */
const toPolicies = /[\\/]env[\\/]src[\\/](?:stock|worlds[\\/]folder)[\\/]/;

it('messages of errors say what was expected or what to do', () => {
  const messages = sources
    .filter((path) => !toPolicies.test(path))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(thrown)].map(([, kind, single, double, template]) => ({
        place: `${path}: ${kind}`,
        text: single ?? double ?? template ?? '',
      })),
    );
  expect(messages.length).toBeGreaterThan(300);
  const silent = messages.filter(
    ({ place, text }) => !helpful.test(text) && !passedOn.test(text) && !parts.test(place),
  );
  expect(silent.map(({ place, text }) => `${place}: ${text}`)).toEqual([]);
});
