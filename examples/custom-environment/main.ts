import { play } from './hot-and-cold.ts';

let iteration = 0;
for await (const won of play(60)) {
  iteration += 1;
  if (iteration === 1 || iteration % 10 === 0)
    console.log(`iteration ${iteration}: ${(100 * won).toFixed(0)} % won`);
}
