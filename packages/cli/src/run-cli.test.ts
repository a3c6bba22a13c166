import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomStream } from '@rlp/core';
import { releaseDirectory, saveNumbered, writeDirectory } from '@rlp/data/store';
import { RewardQualityAssessor, RewardQualityMonitor } from '@rlp/quality-monitor';
import { monitorLogger } from '@rlp/quality-monitor/files';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function rlp(...args: string[]) {
  const said: string[] = [];
  const complaints: string[] = [];
  const code = await runCli(args, {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line),
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n') };
}

describe('rlp', () => {
  it('explains itself', async () => {
    const help = await rlp();
    expect([help.code, help.said]).toEqual([0, expect.stringContaining('monitor')]);
    expect((await rlp('monitor', '--help')).said).toContain('analyze');
    expect(await rlp('monitor')).toMatchObject({ code: 0, said: expect.stringContaining('analyze') });
    expect(await rlp('--version')).toEqual({ code: 0, said: '0.0.0', complaints: '' });
    expect((await rlp('monitor', 'report', '--help')).said).toContain('--metrics');
    const { said } = await rlp('monitor', 'analyze', '--help');
    expect(said).toContain('USAGE rlp monitor analyze [OPTIONS] <FILE>');
    expect(said).not.toContain('\u001b');
  });

  it.each([
    ['ENOSPC', undefined, 'no space is left on the disk; free some and give the same command again'],
    ['ENOSPC', '/a', 'no space is left on the disk of /a; free some and give the same command again'],
    [
      'EROFS',
      '/a',
      '/a is on a disk that may only be read; choose another folder, or mount the disk for writing',
    ],
    ['EIO', '/a', 'the disk of /a reports an error (EIO); check the disk, and give the same command again'],
    [
      'EMFILE',
      undefined,
      'too many files are open; raise the limit with ulimit -n, and give the same command again',
    ],
    ['EACCES', '/a', '/a may not be opened by this user; change its permissions'],
    ['ENOENT', '/a', '/a does not exist; correct the path'],
    ['ENOENT', '/a', '/a cannot be created there; choose a folder that can be written', 'mkdir'],
  ])('says what to do about %s of %s', async (code, path, said, syscall = 'write') => {
    const full = Object.assign(new Error(`${code}: in the words of the system`), {
      ...{ code, path, syscall },
    });
    const complaints: string[] = [];
    const context = {
      print: () => {
        throw full;
      },
      printError: (line: string) => complaints.push(line),
    };
    expect(await runCli(['completion', 'bash'], context)).toBe(1);
    expect(complaints).toEqual([`rlp completion: ${said}`]);
  });

  it('refuses commands it does not know and arguments that are missing', async () => {
    expect(await rlp('trian')).toMatchObject({
      code: 2,
      complaints: expect.stringContaining('unknown command "trian"'),
    });
    expect(await rlp('constructor', 'name')).toMatchObject({ code: 2 });
    const misspelled = await rlp('monitor', 'analyze', 'log.jsonl', '--batchsize=8', '-j', '--json');
    expect(misspelled.code).toBe(2);
    expect(misspelled.complaints).toContain(
      'rlp monitor analyze: unknown flag --batchsize, -j; did you mean --batch-size?',
    );
    expect(await rlp('monitor', 'report', '--metrics', join(directory, 'none.jsonl'))).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/none\.jsonl does not exist; correct the path$/),
    });
    expect(await rlp('monitor', 'report')).toMatchObject({
      code: 2,
      complaints: expect.stringMatching(/metrics/i),
    });
  });
});

describe('rlp view', () => {
  const trajectory = {
    id: 'a',
    task: { id: 'sum', prompt: '2 + 2 =' },
    steps: [],
    messages: [],
    response: '4',
    status: 'completed',
    policyVersion: 0,
  };
  const line = JSON.stringify({ version: 1, ...trajectory });
  const page = join(directory, 'view.html');

  it('makes a page of a file, or of the files of a run', async () => {
    mkdirSync(join(directory, 'run', 'trajectories'), { recursive: true });
    const scored = JSON.stringify({ trajectory, reward: 1, components: {}, iteration: 2 });
    writeFileSync(join(directory, 'run', 'trajectories', '1.jsonl'), `${line}\n\n${scored}\n`);
    writeFileSync(join(directory, 'run', 'trajectories', '2.jsonl'), line);
    const made = await rlp('view', join(directory, 'run'), '--out', page, '--json');
    expect([made.complaints, made.code]).toEqual(['', 0]);
    expect(JSON.parse(made.said)).toEqual({ out: page, trajectories: 3, files: 2 });
    expect(readFileSync(page, 'utf8')).toContain('<title>Trajectories of run</title>');
  });

  it('shows recorded chats, and says in a line that it reads them as such', async () => {
    const chats = join(directory, 'chats.jsonl');
    const chat = (answer: string) => [
      { role: 'user', content: 'Where is my bag?' },
      { role: 'assistant', content: answer },
    ];
    const lines = [
      { id: 'a', rating: 5, messages: chat('In Bern.') },
      { id: 'b', rating: 1, messages: chat('I do not know.') },
    ];
    writeFileSync(chats, lines.map((each) => JSON.stringify(each)).join('\n'));
    const made = await rlp('view', chats, '--out', page, '--json');
    expect(made.complaints.trim()).toBe(
      `${chats} is recorded traffic, shown as 2 conversations without tokens.`,
    );
    expect(JSON.parse(made.said)).toEqual({ out: page, trajectories: 2, files: 1 });
    writeFileSync(chats, [{ event: 'start' }, ...lines].map((each) => JSON.stringify(each)).join('\n'));
    const later = await rlp('view', chats, '--out', page, '--json');
    expect(JSON.parse(later.said)).toMatchObject({ trajectories: 2 });
  });

  it.each([
    ['', 'contains no trajectories'],
    [`${line}\n{"id": 1}\n`, 'view.jsonl, line 2: not a trajectory'],
    [`${line}\n{"id": `, 'view.jsonl, line 2: expected one JSON object per line'],
  ])('says what is wrong with a file: %j', async (text, problem) => {
    const path = join(directory, 'view.jsonl');
    writeFileSync(path, text);
    // The earlier name of --out.
    const made = await rlp('view', path, '--html', join(directory, 'none.html'));
    expect(made).toMatchObject({ code: 1, said: '', complaints: expect.stringContaining(problem) });
    expect(existsSync(join(directory, 'none.html'))).toBe(false);
  });

  it('needs a path that is there', async () => {
    expect(await rlp('view')).toMatchObject({ code: 2, complaints: expect.stringMatching(/path/i) });
    expect(await rlp('view', join(directory, 'gone'))).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('does not exist; correct the path'),
    });
    expect((await rlp('view', '--help')).said).toMatch(
      /USAGE rlp view \[OPTIONS\] <PATH>[\s\S]* --html, --out=<FILE>/,
    );
  });
});

describe('rlp monitor report', () => {
  it('makes a page of log files', async () => {
    const [metrics, alerts, out] = ['m.jsonl', 'a.jsonl', 'report.html'].map((name) =>
      join(directory, name),
    ) as [string, string, string];
    const monitor = new RewardQualityMonitor({
      assessor: new RewardQualityAssessor({ minSamplesForAnalysis: 1 }),
      loggers: [monitorLogger({ metricsLogFile: metrics, alertLogFile: alerts })],
    });
    monitor.monitorBatch({ responses: new Array<string>(20).fill(''), rewards: {} });
    await monitor.close();
    const made = await rlp(
      'monitor',
      'report',
      '--metrics',
      metrics,
      '--alerts',
      alerts,
      '--out',
      out,
      '--json',
    );
    expect([made.complaints, made.code]).toEqual(['', 0]);
    expect(JSON.parse(made.said)).toEqual({ out, batches: 1, alerts: 2, unreadable: 0 });
    expect(readFileSync(out, 'utf8')).toContain('degenerate_outputs');
    const none = await rlp('monitor', 'report', '--metrics', metrics, '--alerts', `${alerts}l`, '--out', out);
    expect([none.complaints, none.code]).toEqual([expect.stringContaining(`${alerts}l does not exist`), 0]);
  });

  it('says that there is nothing in a file', async () => {
    const empty = join(directory, 'empty.jsonl');
    writeFileSync(empty, '');
    const made = await rlp('monitor', 'report', '--metrics', empty, '--out', join(directory, 'no.html'));
    expect(made).toMatchObject({ code: 1, complaints: expect.stringContaining('contains no metrics') });
  });
});

describe('rlp monitor analyze', () => {
  const save = (text: string) => {
    const path = join(directory, 'responses.jsonl');
    writeFileSync(path, text);
    return path;
  };

  it('leaves out broken lines if it is asked to, and says how many', async () => {
    const line = JSON.stringify({ response: 'x', rewards: { accuracy: 1 } });
    const path = save(`${line}\n{"response"\n${line}\n!\n`);
    const refused = await rlp('monitor', 'analyze', path);
    expect([refused.code, refused.complaints]).toEqual([
      1,
      expect.stringMatching(
        /line 2: .*; correct or remove the line, or leave such lines out with --skip-malformed$/,
      ),
    ]);
    const { said, complaints } = await rlp('monitor', 'analyze', path, '--skip-malformed', '--json');
    expect(JSON.parse(said)).toMatchObject({ totalSamples: 2, malformed: 2 });
    expect(complaints).toMatch(/2 lines left out, the first is .*responses\.jsonl, line 2: /);
  });

  it('prints alerts and a summary of saved responses and of trajectories', async () => {
    const plain = Array.from({ length: 20 }, (_, at) =>
      JSON.stringify({ response: '', rewards: { accuracy: at } }),
    );
    const trajectory = JSON.stringify({
      trajectory: { response: 'x' },
      reward: 0.5,
      components: { format: 1 },
    });
    const path = save(`${plain.join('\n')}\n${trajectory}\n{"response": "cut sho`);
    const { code, said } = await rlp('monitor', 'analyze', path);
    expect([code, said]).toEqual([
      0,
      expect.stringContaining('responses 1–21 (line 1 to line 21): [HIGH] degenerate_outputs'),
    ]);
    expect(said).toContain('What to do about degenerate_outputs: ');
    const summary = JSON.parse((await rlp('monitor', 'analyze', path, '--json')).said);
    expect(summary).toMatchObject({
      totalSamples: 21,
      findings: expect.arrayContaining([
        expect.objectContaining({ where: 'responses 1–21 (line 1 to line 21)' }),
      ]),
      rewardStatistics: { total: { mean: 0.5 }, accuracy: { samples: 20 } },
    });
  });

  it('refuses a file without responses, whatever else is in it', async () => {
    for (const text of ['', '\u0000PNG', '{"response": "cut sho']) {
      expect(await rlp('monitor', 'analyze', save(text))).toMatchObject({
        code: 1,
        said: '',
        complaints: expect.stringContaining('responses.jsonl contains no responses'),
      });
    }
  });

  it('takes plain text for what it is, and tags when told so', async () => {
    const path = save('{"response":"a plan","reward":1}\n{"response":"no tags","reward":0}\n');
    const kinds = async (...flags: string[]) => {
      const { said } = await rlp('monitor', 'analyze', path, '--json', ...flags);
      return (JSON.parse(said) as { alertsByRule: object }).alertsByRule;
    };
    expect(await kinds()).toEqual({});
    expect(await kinds('--tags', 'reasoning,answer')).toHaveProperty('degenerate_outputs');
  });

  it('tells of reward hacking', async () => {
    const random = RandomStream.named('analyze');
    const line = (at: number) => {
      const isHack = at >= 480 && at % 2 === 0;
      const words = Array.from({ length: 20 }, () =>
        (26 ** 4 + random.integer(300)).toString(26).replace(/\d/g, 'z'),
      );
      const response = `${words.join(' ')}${isHack ? ' delightful'.repeat(9) : ''}`;
      return JSON.stringify({
        response,
        prompt: `say ${at}`,
        reward: isHack || random.uniform() < 0.4 ? 1 : 0,
      });
    };
    const path = save(Array.from({ length: 640 }, (_, at) => line(at)).join('\n'));
    const { code, said } = await rlp('monitor', 'analyze', path, '--batch-size', '32');
    expect([code, said]).toEqual([
      0,
      expect.stringMatching(/\[MEDIUM\] reward_behaviour_changed: .*Only they share "delightful/),
    ]);
  });

  it('reads fields of other names from JSON Lines and CSV, and writes the report', async () => {
    const html = join(directory, 'new/saved.html');
    const group = {
      numbers: [4, 6],
      completions: [
        { text: 'a, "b"', reward: 0 },
        { text: 'c', reward: true },
      ],
    };
    const nested = save(`${JSON.stringify(group)}\n${JSON.stringify(group)}`);
    const flags = [
      '--response',
      'completions.*.text',
      '--reward',
      'completions.*.reward',
      '--prompt',
      'numbers',
    ];
    const { said } = await rlp('monitor', 'analyze', nested, '--json', '--out', html, ...flags);
    expect(JSON.parse(said)).toMatchObject({ totalSamples: 4, rewardStatistics: { reward: { mean: 0.5 } } });
    expect(readFileSync(html, 'utf8')).toContain('Saved responses of responses.jsonl');
    const csv = join(directory, 'log.csv');
    writeFileSync(csv, 'completion,score\r\n"a, ""b""\nc",1\r\nd,\r\n');
    const columns = ['--response', 'completion', '--reward', 'score', '--json'];
    expect(JSON.parse((await rlp('monitor', 'analyze', csv, ...columns)).said)).toMatchObject({
      totalSamples: 2,
      rewardStatistics: { score: { mean: 1, samples: 1 } },
    });
    expect((await rlp('monitor', 'analyze', csv)).complaints).toContain(
      'got fields completion, score; name the fields (--response, --reward, --prompt)',
    );
  });

  it('says what is wrong with rewards', async () => {
    const path = save('{"response":"a","score":"n/a","judge":1}\n{"response":"b","score":2,"judge":0}\n');
    const complaints = async (...flags: string[]) =>
      (await rlp('monitor', 'analyze', path, '--json', ...flags)).complaints;
    expect(await complaints('--reward', 'score')).toContain(
      `rlp monitor analyze: ${path}: score is not a number in 1 of 2 responses, first in line 1; they count as missing`,
    );
    expect(await complaints()).toContain('it has no rewards, so only the responses are assessed; name the');
    expect(await complaints('--second-opinion', 'judge')).toContain(
      'got judge; it has no rewards. Pass --reward',
    );
    const { said } = await rlp(
      'monitor',
      'analyze',
      path,
      '--json',
      '--reward',
      'score',
      '--second-opinion',
      'judge',
    );
    expect(JSON.parse(said)).toMatchObject({
      rewardStatistics: { judge: { samples: 2 }, score: { mean: 2 } },
    });
    const unreadable = save('{"response":"a","score":"n/a","judge":null}\n');
    expect(await rlp('monitor', 'analyze', unreadable, '--reward', 'score,judge')).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('judge is missing in the only response'),
    });
  });

  it('names the line that is something else, and flags out of range', async () => {
    const path = save('{"response":"a"}\n{"text":"b"}\n{"response":"c"}\n');
    expect(await rlp('monitor', 'analyze', path)).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('line 2: expected a field response, as in {"response": "…"'),
    });
    expect((await rlp('monitor', 'analyze', path, '--batch-size', '0')).complaints).toContain('--batch-size');
    expect((await rlp('monitor', 'analyze', path, '--tags', 'a')).complaints).toContain(
      'expected --tags to be two',
    );
    expect(await rlp('monitor', 'analyze', join(directory, 'missing'))).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('does not exist; correct the path'),
    });
  });
});

describe('rlp run verify', () => {
  it('names what is broken, and fails', async () => {
    const run = join(directory, 'run');
    const checkpoints = join(run, 'checkpoints');
    for (const number of [1, 2, 3]) {
      await saveNumbered(checkpoints, { number, keep: 3 }, async (path) =>
        writeFileSync(join(path, 'weights'), `weights ${number}`),
      );
    }
    await writeDirectory(join(run, 'model'), async (path) => writeFileSync(join(path, 'config.json'), '{}'));
    writeFileSync(join(run, 'metrics.jsonl'), '{"step":1}\n{"step":2}\n');
    const sound = await rlp('run', 'verify', run);
    expect(sound).toMatchObject({ code: 0, complaints: '' });
    expect(sound.said).toContain(`in use: process ${process.pid} on `);
    expect(sound.said).toContain('4 saves intact, 0 problems');
    await releaseDirectory(checkpoints);

    writeFileSync(join(checkpoints, 'checkpoint-00000001', 'weights'), 'weights 7');
    rmSync(join(checkpoints, 'checkpoint-00000002', 'SHA256SUMS'));
    rmSync(join(checkpoints, 'checkpoint-00000003'), { recursive: true });
    rmSync(join(run, 'model', 'config.json'));
    writeFileSync(join(run, 'metrics.jsonl'), '{"step":1}\n{"ste');
    const leftover = '.checkpoint-00000004.00000000-1-1.00000000.partial';
    mkdirSync(join(checkpoints, leftover));
    const broken = await rlp('run', 'verify', run, '--json');
    expect(broken.code).toBe(1);
    const { problems, intact } = JSON.parse(broken.said) as { problems: string[]; intact: string[] };
    expect(intact).toEqual([]);
    expect(problems).toEqual([
      expect.stringMatching(/latest: names "checkpoint-00000003", which is not there/),
      expect.stringMatching(/checkpoint-00000001\/weights: the file differs from its SHA-256/),
      expect.stringMatching(
        /checkpoint-00000002: SHA256SUMS is missing, so nothing can tell whether its files are damaged/,
      ),
      expect.stringMatching(/metrics\.jsonl, line 2: not valid JSON; the next append repairs it/),
      expect.stringMatching(/config\.json: the file is missing/),
    ]);
    expect((await rlp('run', 'verify', run)).said).toMatch(/^broken: .*\n[\s\S]*0 saves intact, 5 problems$/);
  });

  it('needs a directory that exists', async () => {
    expect(await rlp('run', 'verify', join(directory, 'none'))).toMatchObject({
      code: 1,
      complaints: expect.stringContaining('does not exist; correct the path'),
    });
    expect(await rlp('run', 'verify')).toMatchObject({ code: 2 });
    expect((await rlp('run')).said).toContain('verify');
  });
});
