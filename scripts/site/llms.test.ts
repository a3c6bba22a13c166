import { expect, it } from 'vitest';
import { languageModelTexts } from './llms.ts';

const pages = [
  { path: 'index.md', text: '---\nlayout: home\n---\n' },
  { path: 'metrics.md', text: '# Metrics\n\nThis page lists every number. It is long.\n' },
  {
    path: 'guides/agents.md',
    text: '# Train `agents`\n\n**Task.** Train a policy that [calls](x.md) tools. More.\n',
  },
  { path: 'guides/index.md', text: '# Guides\n\n| a | table |\n' },
  { path: 'start/index.md', text: '---\ntitle: x\n---\n\n# Install\n\nYou need Node 20.19. Nothing else.\n' },
];

it('lists pages by section with their first sentence, and has their whole text in a second file', () => {
  const { list, full } = languageModelTexts(pages);
  expect(list.slice(list.indexOf('## Start'))).toBe(
    [
      '## Start\n\n- [Install](/start/): You need Node 20.19.\n',
      '## Guides\n\n- [Train agents](/guides/agents): Train a policy that calls tools.\n- [Guides](/guides/)\n',
      '## More\n\n- [Metrics](/metrics): This page lists every number.\n',
    ].join('\n'),
  );
  expect(list).toMatch(/^# rlp\n\n> /);
  for (const text of ['Nothing else.', '| a | table |', '**Task.** Train', '<!-- /metrics -->'])
    expect(full).toContain(text);
  expect(full).not.toContain('layout: home');
});
