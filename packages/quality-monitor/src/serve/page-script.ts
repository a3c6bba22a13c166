/** Script of the live page. It replaces the body on each update and keeps open details and scroll positions. */
export const pageScript = `
const live = document.getElementById('live');
const status = document.getElementById('status');
const nameOf = (element) => element.querySelector('summary')?.textContent ?? element.getAttribute('aria-label');
const show = (markup) => {
  const open = new Map([...live.querySelectorAll('details')].map((element) => [nameOf(element), element.open]));
  const scrolled = new Map([...live.querySelectorAll('.scroll')].map((element) => [nameOf(element), element.scrollTop]));
  const focused = live.contains(document.activeElement) ? nameOf(document.activeElement.closest('details, .scroll') ?? live) : null;
  live.innerHTML = markup;
  for (const element of live.querySelectorAll('details')) if (open.has(nameOf(element))) element.open = open.get(nameOf(element));
  for (const element of live.querySelectorAll('.scroll')) element.scrollTop = scrolled.get(nameOf(element)) ?? 0;
  if (focused) for (const element of live.querySelectorAll('details, .scroll')) {
    if (nameOf(element) === focused) (element.querySelector('summary') ?? element).focus({ preventScroll: true });
  }
};
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
const receive = (text) => {
  const event = /^event: (.*)$/m.exec(text)?.[1];
  if (event === 'body') show(JSON.parse(/^data: (.*)$/m.exec(text)[1]));
  return event;
};
// Not an EventSource, which sends no headers.
const follow = async () => {
  const response = await fetch('events', { headers: { authorization: 'Bearer ' + token } });
  if (response.status === 401) return 'Not connected; open the whole address that the program printed, with its token.';
  if (!response.ok) throw new Error(response.statusText);
  status.textContent = 'Live.';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = '';
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const texts = (waiting + read.value).split('\\n\\n');
    waiting = texts.pop();
    for (const text of texts) if (receive(text) === 'end') return 'The run is over.';
  }
  throw new Error('cut off');
};
const connect = async () => {
  try {
    status.textContent = await follow();
  } catch {
    status.textContent = 'Not connected; trying again.';
    setTimeout(connect, 2000);
  }
};
addEventListener('hashchange', () => location.reload());
connect();
`;
