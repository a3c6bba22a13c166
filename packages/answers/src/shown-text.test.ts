import { describe, expect, it } from 'vitest';
import { shownText, withoutHidden, withoutSources } from './shown-text.ts';

/** Elements whose text Chromium 156 lays out, and those whose text it does not. */
const shown =
  'a abbr acronym address applet article aside b bdi bdo big blink blockquote body button caption center cite code content data dd dfn dir ' +
  'div dl dt em fieldset figcaption figure font footer form h1 h6 header hgroup html i ins kbd label legend li listing main map mark marquee ' +
  'menu nav nobr ol output p picture plaintext portal pre q rb rt rtc ruby s samp search section small span strong sub summary sup table ' +
  'tbody td text tfoot th thead time tr tt u ul var xmp details think answer';
const unshown =
  'audio canvas datalist dialog fencedframe iframe meter noembed noframes noscript option progress rp script select slot style template title ' +
  'video desc annotation';
/** Read as a browser that supports them would: struck out, or in place of something else. */
const replaced = 'del strike object metadata annotation-xml optgroup';

describe('shownText', () => {
  it.each(shown.split(' '))('shows what is in <%s>', (name) => {
    expect(shownText(`<${name}>inside</${name}>`)).toContain('inside');
  });

  it.each(`${unshown} ${replaced}`.split(' '))('does not show what is in <%s>', (name) => {
    expect(shownText(`before <${name.toUpperCase()} a="b">inside</${name}> after`)).toBe('before  after');
    expect(shownText(`before <${name}>inside`)).toBe('before ');
  });

  it.each([
    ['a <dialog open>b</dialog>', 'a <dialog open>b</dialog>'],
    ['a <div hidden><div>b</div>c</div>d', 'a d'],
    ['a <!-- b --> c <!-- d', 'a  c '],
    ['a `<canvas>` b', 'a `<canvas>` b'],
    ['```html\n<title>a</title>\n```\n<title>b</title>', '```html\n<title>a</title>\n```\n'],
    ['a <input type="hidden"> b <img hidden> c', 'a <input type="hidden"> b <img hidden> c'],
    [
      '<br style="color:white"> <i title="style=color:white">b</i>',
      '<br style="color:white"> <i title="style=color:white">b</i>',
    ],
    ['vector<int> a, <b>', 'vector<int> a, <b>'],
    ['a List<Object>list and `a`', 'a List<Object>list and `a`'],
    ['<option>s and the <video>element', '<option>s and the <video>element'],
    ['a <select>stop', 'a '],
    ['<template><b>a</b>', ''],
    ['<<a title>> b', '<<a title>> b'],
    ['18[^1]\n\n[^1]: 20', '18[^1]\n\n'],
    ['a\n[//]: # (b)\n[Answer]: c', 'a\n\n[Answer]: c'],
    ['a [](b) [c](d)', 'a  [c](d)'],
    ['a <span title=">" style="display:none">b</span> c', 'a  c'],
    ['a <p/hidden>b</p> <p id="d"hidden>b</p> c', 'a   c'],
    ['a <a href="x/hidden">b</a>', 'a <a href="x/hidden">b</a>'],
    ['a <! b > <?b?> </ b>c', 'a   c'],
    ['a ~~b~~ c', 'a  c'],
  ])('reads %j as %j', (text, expected) => {
    expect(shownText(text)).toBe(expected);
  });

  it.each([
    'color: red',
    'color:#1a73e8; font-weight: bold;',
    'background-color: white',
    'text-align:center;margin-left:20px',
    'font-size: 12px',
    'border-collapse:collapse',
    'background:#111; color:#eee',
    'color:white;background-color:navy',
    'color: rgb(255,255,255); background: rgb(0, 0, 0)',
    'color:hsl(0, 0%, 95%); background: linear-gradient(#000,#222)',
    'color:var(--text)',
    '',
  ])('shows an element of the style %j', (style) => {
    expect(shownText(`<p style="${style}">a</p>`)).toContain('a</p>');
    expect(shownText(`<p style='${style}' hidden>a</p>`)).toBe('');
  });

  it.each([
    'display:none',
    'color:red;display:none',
    'color: white',
    'color:#FFF',
    'color:snow',
    'color:#00000000',
    'color:rgb(238,238,238); background:#fff',
    'color:white; background:none',
    'color:white; background:url(black.png) #fefefe',
    'color:white; background:rgba(0,0,0,0.1)',
    'color:white; border-color:black',
    'color:black; background:#111',
    'color:tomato; background:tomato',
    'opacity:0%',
    'font-size:0.1px',
    'text-indent:-9999px',
    'margin-left: -5000px',
    'transform:scale(0)',
    'text-decoration: line-through',
    'content-visibility:hidden',
  ])('does not show an element of the style %j', (style) => {
    expect(shownText(`a<p style="${style}">b<p>c</p></p>d`)).toBe('ad');
  });
});

it('reads behind long attributes, but not an element of which they hide how it looks', () => {
  const text = `<path d="${'M0 1'.repeat(999)}"/><img src="${'a'.repeat(3000)}"> b`;
  expect(shownText(text)).toBe(text);
  expect(shownText(`<i ${'x '.repeat(2000)}>a</i> b`)).toBe(' b');
  expect(shownText(`<i style="${'color:red;'.repeat(400)}display:none">a</i> b`)).toBe(' b');
});

it('leaves elements without a text that it looks for', () => {
  const text = '<i hidden>a</i> <i hidden>b</i> <!-- b --> <video>b';
  expect(withoutHidden(text, 'b')).toBe('<i hidden>a</i>   ');
  expect(withoutHidden(text, 'c')).toBe('<i hidden>a</i> <i hidden>b</i>  <video>b');
});

it('takes linear time on hostile text', () => {
  const begun = performance.now();
  for (const unit of [
    '<a ',
    '`',
    '```',
    '<dialog>',
    '<i hidden>',
    '<a style="color:red color:red ',
    '<!--',
    '<a "',
    `<a '"`,
    '</ ',
    '[a]:\n',
  ])
    shownText(unit.repeat(100_000));
  for (const unit of ['x="', 'x=" style="a', '"', "'", '" ']) shownText(`<a ${unit.repeat(200_000)}>`);
  for (const part of ['color:red ', 'color:red;', 'background:', 'background:#000 ', 'style=color:#eee '])
    shownText(`<a style="${part.repeat(100_000)}">`);
  expect(performance.now() - begun).toBeLessThan(5000);
});

describe('withoutSources', () => {
  it.each([
    ['<style>p{color:red}</style><p>Paris</p>', '<p>Paris</p>'],
    ['<TITLE>Answer</Title >Paris', 'Paris'],
    ['a<script src="x">if (a < b) c();</script>b<style>x</style>c', 'abc'],
    ['<title>word that nothing closes', '<title>word that nothing closes'],
    ['</style>a<style>b', '</style>a<style>b'],
    ['<styled>a</styled>', '<styled>a</styled>'],
    ['<del>Lyon</del> Paris', '<del>Lyon</del> Paris'],
  ])('reads %j as %j', (text, kept) => {
    expect(withoutSources(text)).toBe(kept);
  });

  it('takes linear time on hostile text', () => {
    const texts = ['<style>', '<style></script>', '</title><title>', '<script <script '];
    const start = performance.now();
    for (const text of texts) withoutSources(text.repeat(100_000));
    expect(performance.now() - start).toBeLessThan(3000);
  });
});
