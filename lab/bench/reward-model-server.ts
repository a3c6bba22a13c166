/**
 * A reward model in a process of its own: answers after 20 to 50 ms, or five times that for several episodes. Started by
 * external-rewards.ts with an IPC channel; sends `{ port }` once it listens, and answers any message with the requests that it had
 * under way, each millisecond in which it had any since the last message.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let underWay = 0;
let served = 0;
let samples: number[] = [];

const server = createServer((request, response) => {
  underWay += 1;
  // 20 to 50 ms, in no order that follows the order of arrival.
  const milliseconds = 20 + ((served++ * 17) % 31);
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const asked = JSON.parse(body) as { readonly episodes?: readonly unknown[] };
    const answer = asked.episodes ? { rewards: asked.episodes.map(() => 1) } : { reward: 1 };
    const answered = () => {
      underWay -= 1;
      response.end(JSON.stringify(answer));
    };
    setTimeout(answered, asked.episodes ? 5 * milliseconds : milliseconds);
  });
});

setInterval(() => {
  if (underWay > 0) samples.push(underWay);
}, 1);

process.on('message', () => {
  process.send?.({ samples });
  samples = [];
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
