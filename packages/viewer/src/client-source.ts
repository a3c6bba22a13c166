/** The page's program, bundled from source. The published package has the bundle instead. */
import { bundleClient } from '../bundle-client.mjs';

export const clientCode: string = await bundleClient('main.tsx');
