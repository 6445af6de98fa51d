import { expect, test } from 'vitest';
import { warmUp, messageModules } from '#functions/bootstrap/warm-up.ts';

test('the warm-up continues after a load that fails', async () => {
  let isLoaded = false;

  await warmUp(
    [() => Promise.reject(new Error('not there')), () => Promise.resolve((isLoaded = true))],
    { afterMs: 0 },
  );

  expect(isLoaded).toBe(true);
});

test('the warm-up can load everything that a message needs', async () => {
  const loaded = await Promise.all(messageModules.map((load) => load()));

  expect(loaded).toEqual([
    expect.objectContaining({ Firestore: expect.any(Function) }),
    expect.objectContaining({ sendMessageRoute: expect.any(Object) }),
    expect.objectContaining({ sendMessage: expect.any(Function) }),
    expect.objectContaining({ GoogleGenAI: expect.any(Function) }),
    expect.objectContaining({ condenseRound: expect.any(Function) }),
    expect.objectContaining({ createRenderer: expect.any(Function) }),
  ]);
});
