import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  createUsageDocuments,
  DOCUMENTS_KEPT_MAX,
  type UsageDocuments,
} from '#functions/quota/accounting.ts';
import {
  createMemoryDocumentStore,
  type StoreOperation,
} from '#infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import { noUsage, type Usage } from '#shared/quota/usage.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';

const UID = 'u1';
const DAY = '2026-01-02';

function world() {
  const operations: StoreOperation[] = [];
  const lost = { replies: 0, afterwards: () => Promise.resolve() };
  const manual = createManualClock();
  const store = createMemoryDocumentStore({
    beforeOperation: (operation) => {
      operations.push(operation);
      return Promise.resolve();
    },
    afterCommit: async () => {
      if (lost.replies-- <= 0) return;
      await lost.afterwards();
      throw new StoreUnavailableError({ operation: 'commit' });
    },
  });
  const clock = { now: () => manual.now(), wait: () => Promise.resolve() };
  const instance = () =>
    createUsageDocuments({ store, clock, randomness: { uuid: () => randomUUID() } });
  const count = (name: StoreOperation['name']) =>
    operations.filter((operation) => operation.name === name).length;
  return { instance, lost, count };
}

const change = (documents: UsageDocuments, next: (usage: Usage) => Usage, uid = UID) =>
  documents.change(uid, {
    days: [DAY],
    decide: (usageOf) => {
      const usage = next(usageOf(DAY) ?? noUsage);
      return { result: usage.messages, usage: { [DAY]: usage } };
    },
  });

const addOne = (usage: Usage): Usage => ({ ...usage, messages: usage.messages + 1 });

/** At most ten. */
const addBelow = (usage: Usage): Usage => {
  if (usage.messages >= 10) throw new Error('no more');
  return addOne(usage);
};

test('changes that are asked for at once take two writes, and none is lost', async () => {
  const { instance, count } = world();
  const documents = instance();

  const counts = await Promise.all(Array.from({ length: 50 }, () => change(documents, addOne)));

  expect(counts).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  expect(count('commit')).toBe(2);
  expect((await documents.read(UID, DAY)).messages).toBe(50);
});

test('of changes that are asked for at once those are refused that do not fit, and no others', async () => {
  const { instance } = world();
  const documents = [instance(), instance(), instance()];

  const ends = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) => {
      const one = documents[i % documents.length];
      return one ? change(one, addBelow) : Promise.reject(new Error('there are three'));
    }),
  );

  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect((await instance().read(UID, DAY)).messages).toBe(10);
});

test('a change whose reply is lost is made once, however much others write meanwhile', async () => {
  const { instance, lost } = world();
  const [one, other] = [instance(), instance()];
  lost.afterwards = async () => {
    for (let i = 0; i < 50; i++) await change(other, addOne);
  };
  lost.replies = 1;

  await change(one, addOne);

  expect((await one.read(UID, DAY)).messages).toBe(51);
});

test('an instance reads a document once', async () => {
  const { instance, count } = world();
  const documents = instance();

  for (let n = 0; n < 3; n++) await change(documents, addOne);

  expect(count('get')).toBe(1);
});

test('of more documents than are kept the one written longest ago is read again', async () => {
  const { instance, count } = world();
  const documents = instance();
  for (let user = 0; user <= DOCUMENTS_KEPT_MAX; user++)
    await change(documents, addOne, `user-${user}`);
  const before = count('get');

  await change(documents, addOne, `user-${DOCUMENTS_KEPT_MAX}`);
  expect(count('get')).toBe(before);
  await change(documents, addOne, 'user-0');
  expect(count('get')).toBe(before + 1);
});

test('what another instance has written is neither lost nor a reason to refuse', async () => {
  const { instance } = world();
  const [one, other] = [instance(), instance()];
  await change(one, addOne);
  await change(other, addOne);
  expect(await change(one, addOne)).toBe(3);

  await change(one, (usage) => ({ ...usage, messages: 10 }));
  await change(other, (usage) => ({ ...usage, messages: 0 }));

  expect(await change(one, addBelow)).toBe(1);
});
