#!/usr/bin/env node
import { runFromProcess } from '@rlp/cli';

process.exitCode = await runFromProcess();
