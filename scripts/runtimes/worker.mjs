/** The smoke test as a Cloudflare Worker, for `workerd test`. */
import { smoke } from './smoke.mjs';

export default {
  async test() {
    console.log(await smoke());
  },
};
