#!/usr/bin/env node
import { createFromProcess } from 'create-rlp';

process.exitCode = await createFromProcess();
