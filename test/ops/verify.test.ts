import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  deleteConversation,
  eraseOwnConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import {
  findFaults,
  invariants,
  verifyConversation,
} from '#infra/ops/verify/verify-conversation.ts';
import { loadConversation, type StoredHistory } from '#infra/ops/verify/load.ts';
import type { Item } from '#shared/conversation/documents/snapshot.ts';
import { decodeAnyConversation } from '#shared/conversation/documents/conversation.ts';
import { firstInboxWrites } from '#shared/conversation/documents/inbox.ts';
import { conversationPath, inboxPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';
import { mendInbox } from '#infra/ops/verify/inbox.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { owner } from '#test/support/chat/lifecycle.ts';
import { compactedThrice, readingOf, verifyWorld } from '../support/compaction/verifying.ts';
import { planted, type Documents } from './planted.ts';

const world = verifyWorld();
const conversationId = await compactedThrice(world);
const root = conversationPath(conversationId);

/** The entry of the inbox that belongs to a conversation document, where that can be read. */
async function listAsStored(store: DocumentStore, fields: DocumentFields): Promise<void> {
  try {
    const document = { path: root, fields, updateTime: '1.1' };
    const { value } = decodeAnyConversation(document);
    await store.commit(firstInboxWrites(conversationId, value, new Date()));
  } catch (error) {
    if (!(error instanceof NewerDocumentError)) throw error;
  }
}

test('an entry of the inbox that differs from its conversation is found, and written anew', async () => {
  const store = createMemoryDocumentStore();
  const built = await buildConversation(store, { turns: 2 });
  const path = inboxPath('u1', built.conversationId);
  const guard = { exists: true } as const;
  await store.commit([{ op: 'update', path, fields: { state: 'failed', readSeq: 1 }, guard }]);
  const reading = { ...readingOf(world), store };
  const found = async () =>
    (await verifyConversation(reading, built.conversationId)).findings
      .filter(({ name }) => name === 'inbox-differs')
      .map(({ is }) => is);

  expect(await found()).toEqual(['state differ from the head']);
  await mendInbox(store, built.conversationId, new Date());
  expect(await found()).toEqual([]);
  expect((await store.get([path]))[0]?.fields).toMatchObject({ state: 'idle', readSeq: 1 });
  await store.commit([{ op: 'delete', path }]);
  expect(await found()).toEqual(['it is not there']);
  await mendInbox(store, built.conversationId, new Date());
  expect(await found()).toEqual([]);
});

describe('a conversation that was spoiled', async () => {
  const names = ['turns', 'messages', 'histories', 'jobs', 'public', 'recall'];
  const stored = [
    ...(await world.store.get([root])),
    ...(
      await Promise.all(
        names.map((name) => world.store.query({ collection: `${root}/${name}`, limit: 300 })),
      )
    ).flat(),
  ];

  /** What is found in a copy of the conversation that `change` has spoiled. */
  async function foundAfter(change: (documents: Documents) => void) {
    const documents: Documents = new Map(
      stored.flatMap((document) =>
        document ? [[document.path.slice(root.length + 1), document.fields]] : [],
      ),
    );
    change(documents);
    const store = createMemoryDocumentStore();
    await store.commit(
      [...documents].map(([below, fields]) => ({
        op: 'create',
        path: below === '' ? root : `${root}/${below}`,
        fields,
      })),
    );
    const head = documents.get('');
    if (head) await listAsStored(store, head);
    const reading = { ...readingOf(world), store };
    return (await verifyConversation(reading, conversationId)).findings;
  }

  test('verification finds nothing in a conversation that the service compacted three times', async () => {
    expect(await foundAfter(() => undefined)).toEqual([]);
  });

  test.each(planted.map((corruption) => [`${corruption.name} ${corruption.at}`, corruption]))(
    'verification finds the planted fault: %s',
    async (_, { name, at, changes, besides = [] }) => {
      const findings = await foundAfter((documents) => {
        for (const change of changes) change(documents);
      });

      expect(findings.map((found) => `${found.name} ${found.path}`)).toContain(
        `${name} ${at === '' ? root : `${root}/${at}`}`,
      );
      const expected: readonly string[] = [name, ...besides];
      expect(findings.filter((found) => !expected.includes(found.name))).toEqual([]);
    },
  );
});

describe('a conversation whose newest history is another', async () => {
  const whole = await loadConversation(readingOf(world), conversationId);

  const foundWith = (change: (newest: StoredHistory) => StoredHistory) =>
    findFaults({
      ...whole,
      histories: whole.histories.map((each) =>
        each.history.generation === 3 ? change(each) : each,
      ),
    });

  const constraint: Item = {
    id: 'i90',
    text: 'Never write "<b>" & never mention rivals.',
    sources: [3],
    importance: 3,
    by: 'model',
  };

  const foundWithConstraint = (snapshotText: string) =>
    foundWith((newest) => {
      const { snapshot } = newest.history;
      if (!snapshot) throw new Error('the conversation was not compacted');
      const sections = { ...snapshot.sections, active_constraints: [constraint] };
      const history = { ...newest.history, snapshotText, snapshot: { ...snapshot, sections } };
      return { ...newest, history };
    });

  test.each([
    ['written as XML', 'x\n- Never write "&lt;b&gt;" &amp; never mention rivals.\n'],
    ['written as it is', 'x Never write "<b>" & never mention\nrivals.'],
  ])('verification recognises a constraint %s', (_, text) => {
    expect(foundWithConstraint(text)).toEqual([]);
  });

  test('verification reports a constraint missing from the text by its id alone', () => {
    const findings = foundWithConstraint('Nothing of the kind.');

    expect(findings).toMatchObject([{ name: 'constraint-not-in-context', is: 'i90 is not in it' }]);
    expect(JSON.stringify(findings)).not.toContain('rivals');
  });
});

test('verification accepts a conversation in the bin, while it is erased, after that, and none', async () => {
  const erasedWorld = verifyWorld();
  const id = await compactedThrice(erasedWorld);
  const target = { caller: owner, conversationId: id };
  const look = async (looked = id) => {
    const { state, findings } = await verifyConversation(readingOf(erasedWorld), looked);
    return { state, findings };
  };

  await deleteConversation(erasedWorld.chat, target);
  expect(await look()).toEqual({ state: 'deleted', findings: [] });
  await eraseOwnConversation(erasedWorld.chat, target);
  expect(await look()).toEqual({ state: 'erasing', findings: [] });
  await eraseConversation(erasedWorld.bench, id, new AbortController().signal);
  expect(await look()).toEqual({ state: 'erased', findings: [] });
  expect(await look(randomUUID())).toEqual({ state: 'none', findings: [] });
});

test('every invariant is broken on purpose by a test', () => {
  const byThemselves = ['constraint-not-in-context', 'inbox-differs'];
  const tried = new Set([...planted.map(({ name }) => name), ...byThemselves]);

  expect(Object.keys(invariants).filter((name) => !tried.has(name))).toEqual([]);
});
