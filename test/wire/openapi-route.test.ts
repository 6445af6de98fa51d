import { describe, expect, test } from 'vitest';
import { servedDocument } from '#infra/reference/api-document.ts';
import { createWireApp } from '../support/chat/wire-app.ts';

const get = (headers: Record<string, string> = {}) =>
  createWireApp().call({ method: 'GET', path: '/v1/openapi.json', uid: undefined, headers });

describe('GET /v1/openapi.json', () => {
  test('GET /v1/openapi.json returns the document to anybody', async () => {
    const answer = await get();

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual(JSON.parse(JSON.stringify(servedDocument())));
  });

  test('GET /v1/openapi.json may be cached, unlike a user’s data', async () => {
    const answer = await get();

    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
  });

  test.each([
    ['the same tag', (etag: string) => etag],
    ['the same tag, weak', (etag: string) => `W/${etag}`],
    ['several tags', (etag: string) => `"other", ${etag}`],
    ['any tag', () => '*'],
  ])('GET /v1/openapi.json is unchanged for a caller who has %s', async (_, tagOf) => {
    const etag = (await get()).headers.get('etag') ?? '';
    const answer = await get({ 'if-none-match': tagOf(etag) });

    expect(answer).toMatchObject({ status: 304, text: '' });
    expect(answer.headers.get('etag')).toBe(etag);
  });

  test('GET /v1/openapi.json is sent again to a caller with another tag', async () => {
    const answer = await get({ 'if-none-match': '"other"' });

    expect(answer.status).toBe(200);
  });
});
