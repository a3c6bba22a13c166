import { RlpError } from '@rlp/core';

/** A request that is answered with an error. The client receives the status and the message. */
export class Refusal extends RlpError {
  override readonly name = 'Refusal';
  /** HTTP status, 400 to 599. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
