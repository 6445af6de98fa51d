import type { Recap, RecapStore } from './api.ts';
import { readKept } from './lib/saver.ts';

const DEVICE_KEY = 'device';

interface KeptDevice {
  id: string;
  /** What was registered; absent: nothing is. */
  registered?: string;
}

/** Push messages to this installation. */
export function createPush(
  store: RecapStore,
  call: Recap['call'],
  draw: () => string,
): Recap['push'] {
  const path = (id: string): string => `/v1/users/me/devices/${id}`;
  return {
    register: async (token, platform, locale) => {
      const kept = (await readKept<KeptDevice>(store, DEVICE_KEY)) ?? { id: draw() };
      const body = { token, platform, locale };
      const registered = JSON.stringify(body);
      if (kept.registered === registered) return;
      await store.set(DEVICE_KEY, JSON.stringify({ id: kept.id }));
      await call('PUT', path(kept.id), { body });
      await store.set(DEVICE_KEY, JSON.stringify({ id: kept.id, registered }));
    },
    unregister: async () => {
      const kept = await readKept<KeptDevice>(store, DEVICE_KEY);
      if (kept?.registered === undefined) return;
      await call('DELETE', path(kept.id));
      // A deleted device is not taken again under its id.
      await store.delete(DEVICE_KEY);
    },
  };
}
