import { expect, test } from 'vitest';
import { loadRoutes, servedRoutes } from '#functions/chat/chat-routes.ts';

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
