import { expect, test } from 'vitest';
import { servedDocument } from '#infra/reference/api-document.ts';
import { createWireApp } from '../support/chat/wire-app.ts';

const get = (headers: Record<string, string> = {}) =>
  createWireApp().call({ method: 'GET', path: '/v1/openapi.json', uid: undefined, headers });

test('GET /v1/openapi.json returns the document to anybody, and lets it be cached', async () => {
  const answer = await get();

  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toEqual(JSON.parse(JSON.stringify(servedDocument())));
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
});

test('GET /v1/openapi.json is sent again only to a caller with another tag', async () => {
  const etag = (await get()).headers.get('etag') ?? '';

  for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
    expect(await get({ 'if-none-match': tag })).toMatchObject({ status: 304, text: '' });
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
});
