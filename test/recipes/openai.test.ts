import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import { ask, clientOptions } from '#docs/clients/recipes/openai-sdk.ts';
import { appCheckClaims } from '#test/support/token-keys.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const PROJECT_NUMBER = '123456789012';

test('the OpenAI recipe sends the App Check token that it is given', async () => {
  const server = await startWireServer({
    environment: { APP_CHECK: 'enforced', APP_CHECK_PROJECT_NUMBER: PROJECT_NUMBER },
  });
  onTestFinished(() => server.stop());
  const user = {
    baseUrl: server.url,
    idToken: (await server.authorization()).replace('Bearer ', ''),
  };
  const appCheckToken = await server.keys.sign(appCheckClaims(PROJECT_NUMBER));
  const question = {
    conversationId: randomUUID(),
    messageId: randomUUID(),
    text: 'Hello',
    show: () => undefined,
  };

  await expect(ask(new OpenAI(clientOptions(user)), question)).rejects.toThrow('App Check');
  const answer = ask(new OpenAI(clientOptions({ ...user, appCheckToken })), question);
  await server.answer('Hello', 'Hi.');

  expect(await answer).toBe('Hi.');
});
