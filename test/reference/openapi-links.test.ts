import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { buildOpenApiDocument } from '#functions/chat/openapi/build-document.ts';
import { noBody, publicRoute, type Route } from '#functions/chat/route.ts';
import { servedDocument } from '#infra/reference/api-document.ts';

interface Linked {
  links?: Record<string, { operationId: string; parameters?: Record<string, string> }>;
}

const operations = Object.entries(servedDocument().paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { operationId, responses, parameters }]) => {
    const links = Object.values<Linked>(responses).flatMap(({ links: each = {} }) =>
      Object.values(each),
    );
    return { method, path, operationId, parameters, links };
  }),
);

const byId = new Map(operations.map((each) => [each.operationId, each]));

/** A route as a later one may look: only what links are made from. */
const route = (
  described: Partial<Route> & Pick<Route, 'operation' | 'method' | 'path'>,
): Route => ({
  ...publicRoute({
    summary: 'A route of a test',
    params: z.object(
      Object.fromEntries(
        [...described.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, z.string()]),
      ),
    ),
    query: z.object({}),
    body: noBody,
    response: noBody,
    statuses: [200],
    handle: async () => ({ kind: 'empty', status: 204 }),
    ...described,
  }),
  ...described,
});

function linksFrom(routes: readonly Route[], path: string, method: string) {
  const responses: Record<string, Linked> =
    buildOpenApiDocument(routes).paths[path]?.[method]?.responses ?? {};
  return responses['200']?.links ?? {};
}

describe('links of the OpenAPI document', () => {
  test('every operation is reached by a link, or begins a walk along links without knowing an id', () => {
    const reached = new Set(
      operations.flatMap(({ links }) => links.map((each) => each.operationId)),
    );
    const rest = operations.filter(({ operationId }) => !reached.has(operationId));

    expect(rest.filter(({ path, links }) => path.includes('{') || links.length === 0)).toEqual([]);
  });

  test('every link leads to an operation of the document and names parameters that it takes', () => {
    const wrong = operations.flatMap(({ links }) =>
      links.filter(({ operationId, parameters = {} }) => {
        const taken = byId.get(operationId)?.parameters.map(({ name }) => name);
        return !Object.keys(parameters).every((name) =>
          taken?.includes(name.replace(/^\w+\./, '')),
        );
      }),
    );

    expect(wrong).toEqual([]);
  });

  test('a new collection is linked to its entries, however it writes their id', () => {
    const routes = [
      route({
        operation: 'make',
        method: 'POST',
        path: '/v1/berries',
        response: z.object({ id: z.string() }),
      }),
      route({
        operation: 'list',
        method: 'GET',
        path: '/v1/berries',
        response: z.object({ data: z.array(z.object({ id: z.string() })) }),
      }),
      route({
        operation: 'get',
        method: 'GET',
        path: '/v1/berries/{berry_id}',
        response: z.object({}),
      }),
    ];

    expect(linksFrom(routes, '/v1/berries', 'post')).toEqual({
      get: { operationId: 'get', parameters: { berry_id: '$response.body#/id' } },
    });
    expect(linksFrom(routes, '/v1/berries', 'get')).toEqual({
      get: { operationId: 'get', parameters: { berry_id: '$response.body#/data/0/id' } },
    });
  });

  test('an answer without an id that the request lacked is linked to nothing', () => {
    const routes = [
      route({
        operation: 'get',
        method: 'GET',
        path: '/v1/berries/{berryId}',
        response: z.object({ id: z.string() }),
      }),
      route({
        operation: 'eat',
        method: 'POST',
        path: '/v1/berries/{berryId}:eat',
        response: z.object({}),
      }),
    ];

    expect(linksFrom(routes, '/v1/berries/{berryId}', 'get')).toEqual({});
  });
});
