import type { HostKernels } from '../protocol.ts';
import { type CodedNumbers, codedBlock, smallestUpper, upperCount } from './coded-numbers.ts';
import { type AdamwStep, adamwConstants, type Instance } from './kernel-exports.ts';

/** Numbers that are in float32 at a time. */
const pieceLength = 32 * codedBlock;

/** Bytes for the values, borders and first codes of a book. */
const bookBytes = 8192;

/** A moment's part of the scratch space: addresses in bytes. */
interface Place {
  readonly numbers: number;
  readonly codes: number;
  readonly values: number;
  readonly borders: number;
  readonly first: number;
}

function placeOf(moment: number): Place {
  const book = 10 * pieceLength + moment * bookBytes;
  return {
    ...{ numbers: 4 * pieceLength * moment, codes: 8 * pieceLength + pieceLength * moment },
    ...{ values: book, borders: book + 1024, first: book + 2048 },
  };
}

const places = [placeOf(0), placeOf(1)] as const;

/** AdamW in the memory of `value` and `gradient`. Moments pass through the scratch space in pieces. */
export function adamwCodedAt(
  at: Instance,
  { value, gradient, moment1, moment2 }: Parameters<HostKernels['adamwCoded']>[0],
  step: AdamwStep,
): void {
  const moments = [
    { moment: moment1, place: places[0] },
    { moment: moment2, place: places[1] },
  ];
  const bytes = new Uint8Array(at.buffer, 0, at.scratch.byteLength);
  for (const { moment, place } of moments) {
    at.scratch.set(moment.book.values, place.values / 4);
    at.scratch.set(moment.book.borders, place.borders / 4);
    bytes.set(moment.book.first, place.first);
  }
  const constants = adamwConstants(step);
  for (let start = 0; start < value.length; start += pieceLength) {
    const length = Math.min(pieceLength, value.length - start);
    for (const { moment, place } of moments) decodePiece(at, bytes, { moment, place, start, length });
    const [p, g] = [value.byteOffset + 4 * start, gradient.byteOffset + 4 * start];
    at.exports.adamw(p, g, places[0].numbers, places[1].numbers, length, ...constants);
    for (const { moment, place } of moments) encodePiece(at, bytes, { moment, place, start, length });
  }
}

interface Piece {
  readonly moment: CodedNumbers;
  readonly place: Place;
  readonly start: number;
  readonly length: number;
}

function decodePiece(
  { exports }: Instance,
  bytes: Uint8Array,
  { moment, place, start, length }: Piece,
): void {
  bytes.set(moment.codes.subarray(start, start + length), place.codes);
  for (let done = 0; done < length; done += codedBlock) {
    const count = Math.min(codedBlock, length - done);
    const scale = moment.scales[(start + done) / codedBlock]!;
    exports.decode(place.codes + done, place.numbers + 4 * done, count, place.values, scale);
  }
}

function encodePiece(
  { exports, scratch }: Instance,
  bytes: Uint8Array,
  { moment, place, start, length }: Piece,
): void {
  // The kernel takes four numbers at a time.
  const whole = Math.ceil(length / 4) * 4;
  scratch.fill(0, place.numbers / 4 + length, place.numbers / 4 + whole);
  for (let done = 0; done < length; done += codedBlock) {
    const count = Math.min(codedBlock, whole - done);
    moment.scales[(start + done) / codedBlock] = exports.encode(
      place.numbers + 4 * done,
      place.codes + done,
      count,
      place.first,
      place.borders,
      smallestUpper,
      upperCount,
    );
  }
  moment.codes.set(bytes.subarray(place.codes, place.codes + length), start);
}
