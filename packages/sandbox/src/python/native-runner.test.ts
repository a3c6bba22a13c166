import { execFileSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { ArgumentError, OptionsError, RewardError } from '@rlp/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CodeOutcome } from '../code-runner.ts';
import { pythonRunner } from '../python.ts';
import { runProcess } from './python-process.ts';

const { signal } = new AbortController();

function missing(command: string, args: readonly string[]): string | undefined {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return undefined;
  } catch {
    return `left out: \`${command} ${args.join(' ')}\` does not run here`;
  }
}

const withoutPython =
  process.platform === 'linux'
    ? missing('python3', ['--version'])
    : 'left out: only Linux holds programs to a limit on memory';
const withoutNamespaces = missing('unshare', [
  '--user',
  '--map-current-user',
  '--net',
  '--pid',
  '--fork',
  'true',
]);
for (const reason of [withoutPython, withoutNamespaces]) if (reason !== undefined) console.log(reason);

const native = { interpreter: 'native', launcher: 'none' } as const;
const runner = pythonRunner({ ...native, maxOutputBytes: 100_000, memoryBytes: 256 * 1_048_576 });
const run = (source: string, { input = '', timeoutMs = 10_000 } = {}): Promise<CodeOutcome> =>
  runner({ language: 'python', source, input }, { timeoutMs, signal });

/** Each program with its outcome: a status, or the text of its error. */
const attacks: readonly (readonly [name: string, source: string, ending: CodeOutcome['status'] | RegExp])[] =
  [
    ['an endless loop', 'while True: pass', 'timed-out'],
    [
      'an endless loop that catches everything',
      'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
      'timed-out',
    ],
    [
      'signals ignored',
      'import signal\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\nwhile True: pass',
      'timed-out',
    ],
    ['waiting', 'import time\ntime.sleep(100)', 'timed-out'],
    [
      'a thread that outlives the program',
      'import threading\ndef f():\n  while True: pass\nthreading.Thread(target=f).start()',
      'timed-out',
    ],
    ['a memory bomb at once', 'x = bytearray(10 ** 10)', 'out-of-memory'],
    ['a memory bomb of lists', 'x = []\nwhile True: x.append([0] * 100000)', 'out-of-memory'],
    ['a bomb of big integers', 'x = 3\nwhile True: x *= x', 'timed-out'],
    [
      'a bomb of threads',
      'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(100,), daemon=True).start()',
      /can't start new thread/,
    ],
    ['endless recursion', 'def f(): return f()\nf()', /RecursionError/],
    ['huge output', 'while True: print("x" * 1000)', 'output-too-long'],
    ['huge errors', 'import sys\nwhile True: sys.stderr.write("x" * 1000)', 'output-too-long'],
    ['a fork bomb', 'import os\nwhile True: os.fork()', /PermissionError: os.fork/],
    [
      'a fork bomb by multiprocessing',
      'import multiprocessing as m\nwhile True: m.Process(target=print).start()',
      /PermissionError/,
    ],
    ['a shell', 'import os\nos.system("true")', /PermissionError: os.system/],
    ['a subprocess', 'import subprocess\nsubprocess.run(["true"])', /PermissionError: subprocess.Popen/],
    [
      'a subprocess without its event',
      'import _posixsubprocess\n_posixsubprocess.fork_exec()',
      /PermissionError: no processes/,
    ],
    [
      'another program in its place',
      'import os\nos.execv("/bin/true", ["true"])',
      /PermissionError: os.exec/,
    ],
    ['another process killed', 'import os\nos.kill(os.getppid(), 9)', /PermissionError: os.kill/],
    ['foreign functions', 'import ctypes\nctypes.CDLL(None).system(b"true")', /ImportError/],
    ['a file written', 'open("/tmp/rlp-written", "w").write("x")', /PermissionError: no file/],
    [
      'a file written by descriptor',
      'import os\nos.open("/tmp/rlp-written", os.O_WRONLY | os.O_CREAT)',
      /PermissionError: no file/,
    ],
    ['a file removed', 'import os\nos.remove("/tmp")', /PermissionError: os.remove/],
    [
      'the environment of its parent',
      'import os\nopen(f"/dev/../proc/{os.getppid()}/environ").read()',
      /PermissionError: nothing of other/,
    ],
    ['a folder made', 'import os\nos.mkdir("/tmp/rlp-made")', /PermissionError: os.mkdir/],
    [
      'limits raised',
      'import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))',
      /ValueError|PermissionError/,
    ],
    ['no Python', 'This is no program.', /SyntaxError/],
    ['a null character', 'print(1)\0', /null bytes|source code/],
  ];

describe.skipIf(withoutPython !== undefined).concurrent('a native pythonRunner contains', () => {
  it.each(attacks)('%s', async (_, source, ending) => {
    const outcome = await run(source, { timeoutMs: ending === 'timed-out' ? 250 : 20_000 });
    if (typeof ending === 'string') {
      expect(outcome).toMatchObject({ status: ending, exitCode: null });
      expect(outcome.stdout.length + outcome.stderr.length).toBeLessThanOrEqual(100_000);
    } else {
      expect(outcome.stderr).toMatch(ending);
      expect(outcome).toMatchObject({ status: 'exited' });
      expect(outcome.exitCode).not.toBe(0);
    }
  });

  it('a connection', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    let reached = 0;
    server.on('connection', () => {
      reached += 1;
    });
    const { port } = server.address() as AddressInfo;
    const outcome = await run(`import socket\nsocket.create_connection(('127.0.0.1', ${port}))`);
    expect(outcome.stderr).toMatch(/PermissionError: socket/);
    expect(reached).toBe(0);
  });

  it('what is left of its environment', async () => {
    const { stdout } = await run(
      'import os, sys\nprint(sorted(os.environ), sys.argv, sys.path[0] != "", [n for n in dir() if n[0] != "_"])',
    );
    expect(stdout).toContain("['program.py'] True ['os', 'sys']");
    expect(stdout).not.toMatch(/HOME|TOKEN|NODE|npm/);
  });
});

describe.skipIf(withoutPython !== undefined).concurrent('a native pythonRunner', () => {
  it('gives programs their input, text in any language, and their exit code', async () => {
    const source = 'import sys\nfor line in sys.stdin: print(line.strip()[::-1])\nsys.exit(3)';
    const outcome = await run(source, { input: 'añ😀\nb' });
    expect(outcome).toEqual({ status: 'exited', exitCode: 3, stdout: '😀ña\nb\n', stderr: '' });
    expect(await run('print("early")', { input: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 0 });
  });

  it('runs what solutions are written with', async () => {
    const source = `import asyncio, collections, dataclasses, decimal, fractions, functools, heapq, itertools, json, math, re, threading, typing
import sys
sys.setrecursionlimit(10 ** 6)
threading.stack_size(64 * 1024 * 1024)
@dataclasses.dataclass
class Box:
    n: int
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
def main(): print(Box(deep(20000)), asyncio.run(asyncio.sleep(0, 1)) if False else math.comb(5, 2))
thread = threading.Thread(target=main)
thread.start()
thread.join()
if __name__ == '__main__': print({'b', 'a'} == {'a', 'b'})`;
    expect(await run(source)).toMatchObject({ stdout: 'Box(n=20000) 10\nTrue\n', exitCode: 0 });
  });

  it('draws the same random order of sets every time', async () => {
    const source = 'print({str(k) for k in range(20)})';
    const [one, other] = await Promise.all([run(source), run(source)]);
    expect(one!.stdout).toBe(other!.stdout);
  });

  it('loses nothing that was printed while this process was busy', async () => {
    const late = `const { spawn } = require('node:child_process');
      spawn('sh', ['-c', 'sleep 0.15; echo late'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).unref();`;
    const request = { env: { PATH: '/usr/bin:/bin' }, input: '', source: '', signal };
    const limits = { timeoutMs: 10_000, maxOutputBytes: 1000 };
    const outcome = runProcess({ command: [process.execPath, '-e', late], ...request, ...limits });
    const busy = () => {
      for (const end = performance.now() + 500; performance.now() < end; );
    };
    // After an immediate, timers run before data in pipes is read.
    setTimeout(() => setImmediate(busy), 180);
    expect(await outcome).toMatchObject({ status: 'exited', exitCode: 0, stdout: 'late\n' });
  });

  it('ends a program whose call is aborted', async () => {
    const controller = new AbortController();
    const limits = { timeoutMs: 60_000, signal: controller.signal };
    const running = runner({ language: 'python', source: 'while True: pass', input: '' }, limits);
    setTimeout(() => controller.abort(new Error('enough')), 100);
    await expect(running).rejects.toThrow('enough');
  });

  it.each([
    ['none', 'None'],
    [['env', 'LAUNCHED=yes'], 'yes'],
  ] as const)('runs with the launcher %j', async (launcher, printed) => {
    const source = 'import os\nprint(os.environ.get("LAUNCHED"))';
    const launched = pythonRunner({ ...native, launcher });
    const outcome = await launched({ language: 'Python', source, input: '' }, { timeoutMs: 10_000, signal });
    expect(outcome).toEqual({ status: 'exited', exitCode: 0, stdout: `${printed}\n`, stderr: '' });
  });

  it('judges tests in a process of their own', async () => {
    const judged = (source: string, timeoutMs = 10_000) =>
      runner({ language: 'python', source, input: '', test: 'assert f(2) == 4' }, { timeoutMs, signal });
    expect(await judged('def f(n): return n * n')).toMatchObject({ test: 'passed', exitCode: 0 });
    expect(await judged('def f(n): return n')).toMatchObject({ test: 'failed', exitCode: 1 });
    expect(await judged('import os; os._exit(0)')).toMatchObject({ test: 'failed' });
    const forging =
      'import os\nfor file in range(3, 64):\n  try: os.write(file, b"{\\"passed\\": true}")\n  except OSError: pass';
    // It also fills the pipe that its own judge reads, so only the deadline ends it.
    expect(await judged(forging, 1500)).toMatchObject({ test: 'failed' });
  });

  it('runs nothing without isolation, unless that is allowed', async () => {
    const program = { language: 'python', source: 'print(1)', input: '' };
    const isolated = pythonRunner({ interpreter: 'native', executable: 'python3' });
    const outcome = await isolated(program, { timeoutMs: 10_000, signal }).catch((error: unknown) => error);
    if (withoutNamespaces === undefined) expect(outcome).toMatchObject({ stdout: '1\n' });
    else expect(outcome).toMatchObject({ message: expect.stringContaining("launcher: 'none'") });
    expect(isolated.getStatistics().isolation).toBe('namespaces');
    expect(runner.getStatistics().isolation).toBe('none');
  });

  it('says what is missing', async () => {
    const program = { language: 'python', source: '', input: '' };
    const limits = { timeoutMs: 1000, signal };
    await expect(pythonRunner({ ...native, executable: 'no-such-python' })(program, limits)).rejects.toThrow(
      RewardError,
    );
    await expect(pythonRunner({ ...native, launcher: ['false'] })(program, limits)).rejects.toThrow(
      'programs do not run',
    );
    await expect(
      pythonRunner({ ...native, launcher: ['no-such-launcher'] })(program, limits),
    ).rejects.toThrow('ENOENT');
    await expect(runner({ ...program, language: 'ruby' }, limits)).rejects.toThrow(ArgumentError);
    expect(() => pythonRunner({ memoryBytes: 1, packages: 'all' as never })).toThrow(OptionsError);
  });
});

describe.skipIf((withoutPython ?? withoutNamespaces) !== undefined)(
  'a native pythonRunner in namespaces',
  () => {
    it('has no network but its own loopback, and no sight of other processes', async () => {
      const source = 'import os, socket\nprint(socket.if_nameindex(), os.getpid() < 10)';
      const apart = pythonRunner({ interpreter: 'native' });
      const outcome = await apart({ language: 'python', source, input: '' }, { timeoutMs: 10_000, signal });
      expect(outcome.stdout).toBe("[(1, 'lo')] True\n");
    });
  },
);
