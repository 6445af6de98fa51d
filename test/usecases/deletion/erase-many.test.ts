import { expect, test } from 'vitest';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildMany } from '#test/support/stores/many-conversations.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

const statesOf = (store: DocumentStore, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await readConversation(store, id))?.value.state));

test('two thousand conversations of a user are marked in parallel, each published once', async () => {
  let [underWay, most] = [0, 0];
  const chat = chatDependencies();
  const ids = await buildMany(chat.store, 2_000, () => ({}));
  const publish = async (event: Parameters<typeof chat.publisher.publish>[0]) => {
    most = Math.max(most, (underWay += 1));
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    await chat.publisher.publish(event);
  };

  const { conversations } = await eraseUser({ ...chat, publisher: { publish } }, { caller });

  expect(conversations).toBe(2_000);
  expect(most).toBe(10);
  expect(chat.published).toHaveLength(2_000);
  expect(new Set(await statesOf(chat.store, ids))).toEqual(new Set(['erasing']));
});

test('an erasure stopped at every page completes by repeating the request', async () => {
  const chat = chatDependencies();
  const ids = await buildMany(chat.store, 500, () => ({}));
  let pagesLeft = 0;
  const store: DocumentStore = {
    ...chat.store,
    query: (query) =>
      pagesLeft-- > 0
        ? chat.store.query(query)
        : Promise.reject(new StoreUnavailableError({ operation: 'query' })),
  };

  for (let pages = 1; pages <= 5; pages++) {
    pagesLeft = pages;
    await expect(eraseUser({ ...chat, store }, { caller })).rejects.toThrow(StoreUnavailableError);
    const states = await statesOf(chat.store, ids);
    expect(states.filter((state) => state === 'erasing')).toHaveLength(100 * pages);
  }
  const { conversations } = await eraseUser(chat, { caller });

  expect(conversations).toBe(500);
});
