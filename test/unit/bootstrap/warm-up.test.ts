import { expect, test } from 'vitest';
import { messageModules } from '#functions/bootstrap/warm-up.ts';

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
