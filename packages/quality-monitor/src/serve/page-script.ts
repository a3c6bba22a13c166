import { eventsScript } from '@rlp/page';

/** Script of the live page. It replaces the body on each update and keeps open details and scroll positions. */
export const pageScript = `${eventsScript}
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
addEventListener('hashchange', () => location.reload());
followEvents((event, data) => event === 'body' && show(data), (text) => { status.textContent = text; });
`;
