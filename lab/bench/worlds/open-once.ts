import { once } from '#shared/lib/once.ts';

/** What several cases run on: started when it is first asked for, and closed only if it was. */
export function openOnce<World extends { close(): Promise<void> }>(start: () => Promise<World>) {
  let isOpen = false;
  const open = once(() => {
    isOpen = true;
    return start();
  });
  return {
    open,
    close: async () => {
      if (isOpen) await (await open()).close();
    },
  };
}
