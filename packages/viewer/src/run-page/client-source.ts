/** The program of the page of runs, bundled from source. The published package has the bundle instead. */
import { bundleClient } from '../../bundle-client.mjs';

export const clientCode: string = await bundleClient('run-page/main.tsx');
