import { onceTimeIsKnown } from '#functions/adapters/clocks.ts';
import { messageModules, warmUp } from '#functions/bootstrap/warm-up.ts';
import { loadRoutes, servedRoutes } from '#functions/chat/chat-routes.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
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

test('a route is loaded once and shared by all its addresses', async () => {
  const routes = await Promise.all([...servedRoutes, ...servedRoutes].map(({ load }) => load()));

  expect(new Set(routes).size).toBe((await loadRoutes()).length);
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

test('the warm-up goes on behind a load that fails', async () => {
  const loaded: string[] = [];
  const failing = () => Promise.reject(new Error('no such file'));
  const loading = () => Promise.resolve(loaded.push('the next one'));

  await warmUp([failing, loading], { afterMs: 0 });

  expect(loaded).toEqual(['the next one']);
});

test('a token is verified only once the time is known', async () => {
  const order: string[] = [];
  const verifier = onceTimeIsKnown(
    {
      verify: (token: string) => {
        order.push(`judged ${token}`);
        return Promise.resolve('alice');
      },
    },
    async () => {
      await Promise.resolve();
      order.push('heard');
    },
  );

  expect(await verifier.verify('t')).toBe('alice');
  expect(order).toEqual(['heard', 'judged t']);
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
