import { defineConfig } from 'vitepress';
import { sidebar } from './sidebar.ts';

export default defineConfig({
  title: 'rlp',
  description: 'Reinforcement learning of language models, in TypeScript',
  lang: 'en',
  srcDir: '../runs/site/pages',
  outDir: '../runs/site/html',
  cacheDir: '../runs/site/cache',
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { 'reference/api/README.md': 'reference/api/index.md' },
  markdown: { html: false, theme: { light: 'github-light', dark: 'github-dark' } },
  vite: { build: { chunkSizeWarningLimit: 4000, reportCompressedSize: false } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/' },
      { text: 'Guides', link: '/guides/' },
      { text: 'Recipes', link: '/recipes/' },
      { text: 'Reference', link: '/reference/' },
      { text: 'Playground', link: '/playground/index.html', target: '_self' },
    ],
    sidebar,
  },
});
