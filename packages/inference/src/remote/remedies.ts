import { ArgumentError, SamplerError } from '@rlp/core';
import { failureSentence, RequestError } from '@rlp/http/client';

const words = {
  key: 'token',
  less: 'sample less at once',
  missing: 'check `url` and `model`, and that the server was not restarted with another model',
};

/** A failed request as a `SamplerError`. Other errors stay as they are. */
export function samplerError(owner: string, error: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  return new SamplerError(`${owner}: ${failureSentence(error, words)}`, { cause: error });
}

/** A failed request of a factory as an `ArgumentError`, because its options may be wrong. Other errors stay as they are. */
export function startError(owner: string, error: unknown): unknown {
  if (!(error instanceof RequestError)) return error;
  return new ArgumentError(
    `${owner}: ${failureSentence(error, { ...words, less: 'check that the server answers at all' })}`,
    { cause: error },
  );
}
