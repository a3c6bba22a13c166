import { execFileSync } from 'node:child_process';

/** An interpreter that has the Python package: they are the readers that our files and requests are for. */
export const python = process.env.RLP_PYTHON ?? 'python3';
export function hasModule(name: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn(`skipped: ${python} has no ${name}; set RLP_PYTHON to an interpreter that does`);
    return false;
  }
}

export const samples = [
  { task: 't1', prompt: '1+1=', response: '2', reward: 1, components: { exact: 1 } },
  { task: 't2', prompt: '1+2=', response: 'a|b\nc', reward: null, components: { short: 0.5 } },
];
export const finding = {
  rule: 'spread',
  severity: 'high',
  message: 'wide',
  evidence: {},
  iteration: 3,
} as const;
