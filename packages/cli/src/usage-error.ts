import { ArgumentError } from '@rlp/core';

/** Arguments or flags that no command takes like this. The exit code is 2. */
export class UsageError extends ArgumentError {}
