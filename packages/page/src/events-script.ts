/**
 * Source of a function for the script of a page that `servePage` of `@rlp/http` serves:
 *
 *     followEvents(received: (event: string, data: unknown) => void, said: (status: string) => void): Promise<void>
 *
 * It reads the events of the page with the token of its address. `received` also gets `connected`, each time. If the connection is lost, it
 * connects again after two seconds. It ends with the event `end`, and without a valid token.
 */
export const eventsScript = `
// Not an EventSource, which sends no headers.
const followEvents = async (received, said) => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  const follow = async () => {
    const response = await fetch('events', { headers: { authorization: 'Bearer ' + token } });
    if (response.status === 401) return 'Not connected; open the whole address that the program printed, with its token.';
    if (!response.ok) throw new Error(response.statusText);
    said('Live.');
    received('connected');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = '';
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const texts = (waiting + read.value).split('\\n\\n');
      waiting = texts.pop();
      for (const text of texts) {
        const event = /^event: (.*)$/m.exec(text)?.[1];
        if (event === 'end') return 'The run is over.';
        if (event) received(event, JSON.parse(/^data: (.*)$/m.exec(text)[1]));
      }
    }
    throw new Error('cut off');
  };
  for (;;) {
    const end = await follow().catch(() => undefined);
    said(end ?? 'Not connected; trying again.');
    if (end) return;
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
};
`;
