import { FormatError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { filesOfSplit, folderLayout } from './folder-layout.ts';

const layoutOf = (...paths: string[]) =>
  Object.fromEntries(Array.from(folderLayout(paths), ([name, splits]) => [name, Object.fromEntries(splits)]));

describe('folderLayout', () => {
  it.each([
    ['train', ['train', 'training', 'TRAIN']],
    ['validation', ['validation', 'valid', 'val', 'dev', 'Dev']],
    ['test', ['test', 'testing', 'eval', 'evaluation', 'Eval']],
  ])('knows words for %s, in names of files and of folders', (split, words) => {
    for (const word of words) {
      for (const path of [
        `${word}.csv`,
        `my_${word}-2.csv`,
        `a.${word} set.csv`,
        `${word}/a.csv`,
        `data/${word}/a.csv`,
      ])
        expect(layoutOf(path), path).toEqual({ default: { [split]: [path] } });
    }
  });

  it.each([
    [
      'words inside of others',
      'latest.csv',
      'contraining.csv',
      'devil.csv',
      'evaluations.csv',
      'testings.csv',
    ],
    ['names without a word', 'a.csv', 'data/b.csv'],
  ])('takes all as train if no name says a split: %s', (_, ...paths) => {
    expect(layoutOf(...paths)).toEqual({ default: { train: paths.toSorted() } });
  });

  it('leaves out files without a split if others have one', () => {
    expect(layoutOf('extra.csv', 'test.csv')).toEqual({ default: { test: ['test.csv'] } });
  });

  it('takes the name before the number of a part as a split of its own', () => {
    const part = 'data/hard-00000-of-00002.parquet';
    expect(layoutOf(part)).toEqual({ default: { hard: [part] } });
    expect(layoutOf('data/hard-test-00000-of-00002.parquet')).toMatchObject({
      default: { test: [expect.any(String)] },
    });
    for (const other of [
      'hard-0000-of-0002.csv',
      'hard-000000-of-000002.csv',
      '-00000-of-00001.csv',
      'hard-00000-of-00002-b.csv',
    ])
      expect(layoutOf(other), other).toEqual({ default: { train: [other] } });
  });

  it('reads the configuration from the first folder, unless it is data or says a split', () => {
    expect(
      layoutOf(
        'main/train.csv',
        'main/test/a.csv',
        'other/sub/dev/x.csv',
        'train/b.csv',
        'data/c.csv',
        'd.csv',
      ),
    ).toEqual({
      main: { train: ['main/train.csv'], test: ['main/test/a.csv'] },
      other: { validation: ['other/sub/dev/x.csv'] },
      default: { train: ['train/b.csv'] },
    });
  });

  it('lists the files of a split sorted, whatever order they came in', () => {
    const paths = ['train-2.csv', 'train-10.csv', 'train-1.csv'];
    expect(layoutOf(...paths)).toEqual({
      default: { train: ['train-1.csv', 'train-10.csv', 'train-2.csv'] },
    });
    expect(paths).toEqual(['train-2.csv', 'train-10.csv', 'train-1.csv']);
  });

  it.each([
    'jsonl',
    'ndjson',
    'json',
    'csv',
    'tsv',
    'parquet',
    'txt',
    'JSONL',
    'csv.gz',
    'jsonl.zst',
    'Json.GZ',
  ])('knows files of rows that end with .%s', (ending) => {
    expect(layoutOf(`train.${ending}`)).toEqual({ default: { train: [`train.${ending}`] } });
  });

  it.each([
    'train.md',
    'train.csv.zip',
    'train.csv.gz.md',
    'train',
    '.train.csv',
    '_train.csv',
    '.cache/train.csv',
    '_old/train.csv',
    'dataset_info.json',
    'dataset_infos.json',
    'dataset_dict.json',
    'state.json',
    'package.json',
    'package-lock.json',
    'config.json',
    'metadata.csv',
    'Requirements.txt',
    'main/state.json',
  ])('leaves out %s, which is not rows', (path) => {
    expect(layoutOf(path)).toEqual({});
  });

  it.each(['my_state.json', 'state_2.json', 'a.config.json'])(
    'reads %s, which only looks like a description',
    (path) => {
      expect(layoutOf(path)).toEqual({ default: { train: [path] } });
    },
  );
});

describe('filesOfSplit', () => {
  const chosen = (paths: readonly string[], choice = {}) =>
    filesOfSplit(folderLayout(paths), choice, 'folder');

  it('takes the only split, or train', () => {
    expect(chosen(['dev.csv'])).toEqual(['dev.csv']);
    expect(chosen(['dev.csv', 'train.csv'])).toEqual(['train.csv']);
    expect(chosen(['dev.csv', 'train.csv'], { split: 'validation' })).toEqual(['dev.csv']);
  });

  it('takes the only configuration, or the files that are in none', () => {
    expect(chosen(['main/train.csv'])).toEqual(['main/train.csv']);
    expect(chosen(['main/train.csv', 'train.csv'])).toEqual(['train.csv']);
    expect(chosen(['main/train.csv', 'train.csv'], { config: 'main' })).toEqual(['main/train.csv']);
  });

  it.each<[string[], object, string]>([
    [
      [],
      {},
      'expected files of rows (.jsonl, .json, .csv, .tsv, .txt or .parquet, also with .gz), got none; save the data as one of them',
    ],
    [
      ['a/train.csv', 'b/train.csv'],
      {},
      "expected one of the configurations a, b, none was named; pass config: 'a'",
    ],
    [['a/train.csv'], { config: 'c' }, `expected one of the configurations a, got "c"; pass config: 'a'`],
    [
      ['dev.csv', 'test.csv'],
      {},
      "expected one of the splits validation, test, none was named; pass split: 'validation'",
    ],
    [
      ['dev.csv'],
      { split: 'train' },
      `expected one of the splits validation, got "train"; pass split: 'validation'`,
    ],
  ])('says what there is: %j, %j', (paths, choice, problem) => {
    expect(() => chosen(paths, choice)).toThrow(new FormatError(`folder: ${problem}`));
  });
});
