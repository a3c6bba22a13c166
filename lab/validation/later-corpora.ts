import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RandomStream } from '@rlp/core';
import { type Corpus, heldOut, type Item, rows, sharedData } from './corpora.ts';

/** Corpora of the second blind measurement: a coin for each task decides what is right. */
export function laterCorpora(): Corpus[] {
  if (!existsSync(sharedData)) return [];
  return [
    made('questions', questions()),
    made('customers', customers()),
    made('people', people()),
    made('programs', programs()),
    made('pages', pages()),
  ];
}

type Text = Omit<Item, 'isRight'>;

function made(name: string, texts: readonly Text[]): Corpus {
  const long = texts.filter(({ response }) => response.trim().length > 20);
  const items = long.map((text) => ({
    ...text,
    isRight: RandomStream.named('new', name, text.task).uniform() < 0.5,
  }));
  return heldOut(name, items, 0.9);
}

function questions(): Text[] {
  const files = [
    ['', 'train'],
    ['t', 'test'],
  ] as const;
  return files.flatMap(([prefix, file]) =>
    rows(`gsm8k/${file}.jsonl`).map(({ id, question }) => ({
      task: `${prefix}${id}`,
      prompt: 'Write a word problem for a class.',
      response: String(question),
    })),
  );
}

function customers(): Text[] {
  return rows('trajectories/airline_gpt4o.jsonl').flatMap(({ task_id, trial, messages }) =>
    (messages as { role: string; content?: unknown }[]).flatMap(({ role, content }, at) => {
      if (role !== 'user' || typeof content !== 'string' || content.length <= 30) return [];
      return [
        {
          task: `${task_id}-${trial}-${at}`,
          prompt: 'You are a customer of an airline.',
          response: content,
        },
      ];
    }),
  );
}

function people(): Text[] {
  return rows('preference/hh_harmless_test.jsonl').flatMap(({ id, chosen }) =>
    String(chosen)
      .split('\n\nAssistant: ')
      .flatMap((part, at) => {
        if (at > 0 && !part.includes('\n\nHuman: ')) return [];
        const response = part.split('\n\nHuman: ').at(-1)!.trim();
        return [{ task: `${id}-${at}`, prompt: 'Ask something.', response }];
      }),
  );
}

/** Parts of the source of this repository. They change with it. */
function programs(): Text[] {
  const packages = resolve(import.meta.dirname, '../../packages');
  const files = readdirSync(packages).flatMap((name) => {
    const folder = join(packages, name, 'src');
    const inside = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
    return inside.map((file) => join(folder, file));
  });
  return files
    .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
    .sort()
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split(/\n\n(?=\S)/)
        .map((text, at) => ({
          task: `${file.slice(packages.length)}-${at}`,
          prompt: 'Write a part of a library.',
          response: text.trim(),
        })),
    )
    .filter(
      ({ response }) => response.length > 100 && response.length < 1200 && !response.startsWith('import'),
    );
}

function pages(): Text[] {
  return rows('trajectories/webshop_react.jsonl').flatMap(({ episode, steps }) =>
    (steps as { observation: unknown }[]).slice(1).map(({ observation }, at) => ({
      task: `${episode}-${at}`,
      prompt: 'Describe the page.',
      response: String(observation).slice(0, 800),
    })),
  );
}
