import { loadRoutes } from '#functions/chat/chat-routes.ts';
import { noBody } from '#functions/chat/route.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  expectClean,
} from '#test/support/chat/chat-server.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';

const chatRoutes = await loadRoutes();

/* Fields that no caller may set. */

const chat = await startChatServer();
afterAll(() => chat.stop());

/** No body has a place for them: what a caller would like to decide, and a name that every object knows. */
const FORBIDDEN = ['ownerUid', 'constructor'];

/** Façades take their protocol's body, with fields that they do not know, and use only what they name. */
const isFacade = ({ format = 'aip' }: (typeof chatRoutes)[number]) => format !== 'aip';

const writing = chatRoutes
  .filter((route) => route.access === 'user' && route.method !== 'GET' && !isFacade(route))
  .filter(({ body }) => body !== noBody)
  .map(({ method, path }) => [method, path] as const);

/** Path parameters that their schemas take. */
const VALUES: Readonly<Record<string, string>> = {
  turnId: 't_1',
  generation: '1',
  jobId: 'job-1',
  pinId: 'pin-1',
};
const addressOf = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? randomUUID());

test.each(writing)(
  'S3: any forbidden field is refused by its name at %s %s',
  async (method, path) => {
    for (const field of FORBIDDEN) {
      const error = await errorOf(
        await chat.call(addressOf(path), { method, body: { [field]: 'system' } }),
      );

      expectClean(error);
      expect(error).toMatchObject({ http: 400, reason: 'BAD_FIELD' });
      expect(error.metadata.field.split(',')).toContain(field);
    }
  },
);

test('S3: a forbidden field is refused as a query parameter of every route', async () => {
  for (const { method, path, access, ...route } of chatRoutes) {
    if (access !== 'user' || isFacade({ method, path, access, ...route })) continue;
    const body = method === 'GET' ? {} : { body: {} };
    const address = `${addressOf(path)}?ownerUid=bob`;
    const error = await errorOf(await chat.call(address, { method, ...body }));

    expect({ path, ...error }).toMatchObject({ path, http: 400, reason: 'BAD_FIELD' });
    expect(error.message).toContain('`ownerUid`');
  }
});

test('S3: a forbidden field makes nobody the owner: the uid comes from the token', async () => {
  const headers = {
    'x-user-id': 'bob',
    'x-goog-authenticated-user-id': 'bob',
    cookie: 'uid=bob',
  };

  const { id } = await createConversation(chat, { body: {}, headers });

  const [conversation] = await chat.dependencies.store.get([conversationPath(id)]);
  expect(conversation?.fields['ownerUid']).toBe('alice');
});
