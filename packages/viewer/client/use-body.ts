import { useEffect, useState } from 'preact/hooks';
import type { Body, Payload } from '../src/payload.ts';
import { loadBody } from './store.ts';

/** The trajectories at these places, once they are unpacked. */
export function useBodies(payload: Payload, places: readonly number[]): readonly Body[] | undefined {
  const key = places.join();
  const [loaded, setLoaded] = useState<{ key: string; bodies: readonly Body[] }>();
  useEffect(() => {
    let isWanted = true;
    Promise.all(places.map((place) => loadBody(payload, place))).then((bodies) => {
      if (isWanted) setLoaded({ key, bodies });
    });
    return () => {
      isWanted = false;
    };
  }, [payload, key]);
  return loaded?.key === key ? loaded.bodies : undefined;
}
