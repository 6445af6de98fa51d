import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';

const uid = 'alice';
const environment = { CLIENT_WRITABLE: 'model', MODEL_WINDOWS: '{"house-model":32000}' };
const app = createWireApp({}, environment);

const create = (model: string, id = randomUUID()) =>
  app.call({
    method: 'POST',
    path: '/v1/conversations',
    uid,
    body: JSON.stringify({ id, model }),
  });

const patch = (id: string, body: object) =>
  app.call({ method: 'PATCH', path: `/v1/conversations/${id}`, uid, body: JSON.stringify(body) });

const ownResource = 'projects/p1/locations/global/endpoints/123';

describe('a model that a caller names', () => {
  test('a conversation with a misspelt model is refused with those that are known', async () => {
    const answer = await create('gemini-3.8-flsh');

    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: {
        message: expect.stringMatching(/Known are .*house-model/),
        details: [{ reason: 'MODEL_UNKNOWN', metadata: { field: 'model' } }, {}],
      },
    });
  });

  test('a conversation keeps its model where a change names an unknown one', async () => {
    const id = randomUUID();
    await create('gemini-3.8-flash', id);

    const answer = await patch(id, { model: 'gpt-9' });
    const kept = await app.ok({ method: 'GET', path: `/v1/conversations/${id}`, uid });

    expect(answer.status).toBe(400);
    expect(answer.text).toContain('MODEL_UNKNOWN');
    expect(kept).toMatchObject({ model: 'gemini-3.8-flash' });
  });

  test.each([
    'gemini-3.8-flash',
    'models/gemini-3.5-flash-001',
    'house-model',
    ownResource,
    'tunedModels/mine',
  ])('a conversation with the model %s is created', async (model) => {
    const { status, text } = await create(model);

    expect({ status, model: JSON.parse(text).model }).toEqual({ status: 201, model });
  });

  test('a conversation whose model is not known any more can be changed all the same', async () => {
    const id = randomUUID();
    await create('gemini-3.8-flash', id);
    const [before] = await app.dependencies.store.get([conversationPath(id)]);
    await app.dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(id),
        fields: { model: 'gone-model' },
        guard: { updateTime: before?.updateTime ?? '' },
      },
    ]);

    const answer = await patch(id, { model: 'gone-model', title: 'Trip' });

    expect(answer.status).toBe(200);
  });
});

describe('a model that the environment names', () => {
  const project = { GOOGLE_CLOUD_PROJECT: 'demo-recap' };

  test.each(['MODEL', 'QUICK_MODEL', 'COMPRESSOR_MODEL'])(
    'a start with a misspelt %s names it, known models, and how to make it known',
    (variable) => {
      const start = () => parseConfig({ ...project, [variable]: 'gemini-3.5-flahs' });

      expect(start).toThrow(
        `${variable}: gemini-3.5-flahs is no model that is known here. Known are `,
      );
      expect(start).toThrow('MODEL_WINDOWS');
    },
  );

  test.each([
    [{ MODEL: ownResource }],
    [{ MODEL: 'gemini-9-flash', MODEL_WINDOWS: '{"gemini-9-flash":1048576}' }],
    [
      {
        MODEL: 'gemini-9-flash',
        MODEL_PRICES: '{"gemini-9-flash":{"input":1,"cached":0.1,"output":2}}',
      },
    ],
  ])('a start with %o is not stopped', (settings) => {
    expect(parseConfig({ ...project, ...settings }).MODEL).toBe(settings.MODEL);
  });
});
