import { requireCorrection } from '@rlp/backprop';
import type { PreparedRun } from './prepare.ts';
import { stages } from './stages/stages.ts';

/** Checks what stages correct by LoRA, before any of them begins. @throws what `requireCorrection` throws. */
export function requireCorrections(prepared: PreparedRun): void {
  for (const name of prepared.stages) {
    const { lora } = { ...prepared.given.backend, ...stages[name].backend(prepared) };
    if (lora !== undefined && lora.adapter === undefined) requireCorrection(prepared.model.config, lora);
  }
}
