import { expect, test } from 'vitest';
import { warmUp, messageModules } from '#functions/bootstrap/warm-up.ts';

test('loads one after the other, in later turns of the event loop', async () => {
  const events: string[] = [];
  const loading = warmUp(
    ['store', 'model'].map((name) => async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
    }),
    { afterMs: 0 },
  );
  events.push('the request goes on');
  await loading;

  expect(events).toEqual([
    'the request goes on',
    'store begins',
    'store ends',
    'model begins',
    'model ends',
  ]);
});

test('goes on after a load that fails', async () => {
  let isLoaded = false;

  await warmUp(
    [() => Promise.reject(new Error('not there')), () => Promise.resolve((isLoaded = true))],
    { afterMs: 0 },
  );

  expect(isLoaded).toBe(true);
});

test('what a message needs is there to be loaded', async () => {
  const loaded = await Promise.all(messageModules.map((load) => load()));

  expect(loaded).toEqual([
    expect.objectContaining({ Firestore: expect.any(Function) }),
    expect.objectContaining({ sendMessageRoute: expect.any(Object) }),
    expect.objectContaining({ sendMessage: expect.any(Function) }),
    expect.objectContaining({ GoogleGenAI: expect.any(Function) }),
  ]);
});
