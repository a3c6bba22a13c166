import { expect, it } from 'vitest';
import { TextStream } from './text-stream.ts';

const later = () => new Promise((resolve) => setTimeout(resolve, 1));

it('a stream waits for text that comes later, and yields what came meanwhile at once', async () => {
  const stream = new TextStream(async (onText) => {
    onText('a');
    await later();
    onText('b');
    onText('c');
    await later();
  });
  const pieces: string[] = [];
  for await (const piece of stream) pieces.push(piece);
  expect(pieces).toEqual(['a', 'bc']);
});

it('a stream throws what its producer throws, behind the text before it', async () => {
  const stream = new TextStream(async (onText) => {
    onText('a');
    await later();
    throw new Error('away');
  });
  const pieces: string[] = [];
  const reading = async () => {
    for await (const piece of stream) pieces.push(piece);
  };
  await expect(reading()).rejects.toThrow('away');
  expect(pieces).toEqual(['a']);
});
