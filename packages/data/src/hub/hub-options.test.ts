import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withEnvironment } from './hub-options.ts';

const given = {} as Parameters<typeof withEnvironment>[0];
const folder = (environment: NodeJS.ProcessEnv) => withEnvironment(given, environment).cacheDirectory;

it('the hub, its cache and the token come from the variables of Hugging Face, or have defaults', () => {
  expect(withEnvironment(given, {})).toMatchObject({
    ...{ accessToken: undefined, use: 'download', url: 'https://huggingface.co' },
    cacheDirectory: join(homedir(), '.cache', 'huggingface', 'hub'),
  });
  expect(folder({ XDG_CACHE_HOME: '/x' })).toBe(join('/x', 'huggingface', 'hub'));
  expect(folder({ XDG_CACHE_HOME: '/x', HF_HOME: '/h' })).toBe(join('/h', 'hub'));
  expect(folder({ HF_HOME: '/h', HF_HUB_CACHE: '/c' })).toBe('/c');
  expect(withEnvironment(given, { HF_TOKEN: '', HF_ENDPOINT: 'http://mirror//' })).toMatchObject({
    ...{ accessToken: undefined, url: 'http://mirror' },
  });
  expect(withEnvironment(given, { HF_TOKEN: 'hf_1' }).accessToken).toBe('hf_1');
});

it('what is passed counts more than a variable', () => {
  const passed = {
    accessToken: 'mine',
    use: 'download',
    cacheDirectory: '/mine',
    url: 'http://mine/',
  } as const;
  const environment = { HF_TOKEN: 'hf', HF_HUB_OFFLINE: '1', HF_HUB_CACHE: '/c', HF_ENDPOINT: 'http://c' };
  expect(withEnvironment({ ...given, ...passed }, environment)).toMatchObject({
    ...passed,
    url: 'http://mine',
  });
});

it.each([
  ...(['1', 'true', 'YES', 'on'] as const).map((text) => [text, 'cache'] as const),
  ...(['', '0', 'no', '10', 'offline'] as const).map((text) => [text, 'download'] as const),
])('HF_HUB_OFFLINE=%s means %s', (HF_HUB_OFFLINE, use) => {
  expect(withEnvironment(given, { HF_HUB_OFFLINE }).use).toBe(use);
});
