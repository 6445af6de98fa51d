import { onceTimeIsKnown } from '#functions/adapters/clocks.ts';
import { messageModules } from '#functions/bootstrap/warm-up.ts';
import { loadRoutes, servedRoutes } from '#functions/chat/chat-routes.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { expect, test } from 'vitest';

test('every address leads to the route that declares it', async () => {
  for (const { method, path, load } of servedRoutes) {
    const route = await load();

    expect({ method, paths: [route.path, ...(route.aliases ?? [])] }).toEqual({
      method: route.method,
      paths: expect.arrayContaining([path]),
    });
  }
});

test('every address of a declared route is served once', async () => {
  const routes = await loadRoutes();
  const declared = routes.flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((each) => `${method} ${each}`),
  );

  expect(servedRoutes.map(({ method, path }) => `${method} ${path}`)).toEqual(declared);
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

test('a token is not refused for a machine’s clock while the database is silent', async () => {
  const verifier = onceTimeIsKnown({ verify: () => Promise.reject(new Error('expired')) }, () =>
    Promise.reject(new StoreUnavailableError({ operation: 'get' })),
  );

  await expect(verifier.verify('t')).rejects.toMatchObject({
    reason: 'STORE_UNAVAILABLE',
    retryable: true,
  });
});
