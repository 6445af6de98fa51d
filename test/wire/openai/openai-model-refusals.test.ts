import { afterAll, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { bodyOf, clientOf, errorOfSdk, newText } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

test('the OpenAI SDK does not repeat a request that the model refuses for good', async () => {
  const { client, posts } = await clientOf(server);
  const text = newText();
  const asked = errorOfSdk(client.chat.completions.create(bodyOf(text)));
  (await server.callOf(text)).fail(
    new AppError({
      status: 'INTERNAL',
      reason: 'MODEL_REFUSED_REQUEST',
      message: 'refused by a test',
      publicMessage: 'The model did not accept the request.',
    }),
  );
  const error = await asked;

  expect(error.code).toBe('MODEL_REFUSED_REQUEST');
  expect(error.status).toBe(500);
  expect(posts).toHaveLength(1);
});
