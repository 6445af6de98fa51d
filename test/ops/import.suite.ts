import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import type { DocumentTree } from '#infra/ops/document-tree.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { sendAll } from '../support/chat/sending.ts';
import { foundIn, verifyWorld } from '../support/compaction/verifying.ts';
import {
  answeredDocument,
  answeredDocuments,
  conversationIdFor,
  sentAt,
  storeDiscussion,
  transcript,
} from '../support/import/extension.ts';
import {
  killedAt,
  readImported,
  run,
  storedDiscussion,
  type ImportWorld,
} from '../support/import/import-world.ts';

function mappingTests(newWorld: () => ImportWorld): void {
  test('an import makes one conversation of each discussion, with its owner, order and times', async () => {
    const world = newWorld();
    const { collection, conversationId } = await storedDiscussion(world, answeredDocuments(3));

    const { code, out } = await run(world, '--yes');

    const conversation = await readImported(world, conversationId);
    expect(code).toBe(0);
    expect(out).toContain('1 discussion: 1 created');
    expect(conversation).toMatchObject({
      ownerUid: 'u1',
      state: 'live',
      lastSeq: 3,
      title: 'Question 1',
      createTime: sentAt(1),
      metadata: { importedFrom: collection },
    });
    expect(await transcript(world.store, conversationId, 3)).toEqual(
      [1, 2, 3].map((n) => ({
        said: [`Question ${n}`, `Answer ${n}`],
        state: 'done',
        inContext: true,
        createTime: sentAt(n),
        finishTime: new Date(sentAt(n).getTime() + 4_000),
      })),
    );
    expect(await foundIn(world, conversationId)).toEqual([]);
  });

  test('an import without --yes tells what it would do and writes nothing', async () => {
    const world = newWorld();
    const { conversationId } = await storedDiscussion(world, answeredDocuments(3));

    const { code, out } = await run(world);

    expect(code).toBe(0);
    expect(out).toContain('1 would be created');
    expect(out).toContain('3 turns would be written\n--yes does it');
    expect(await readImported(world, conversationId)).toBeUndefined();
  });
}

function repetitionTests(newWorld: () => ImportWorld): void {
  test('a second import changes nothing, and one after new messages adds them alone', async () => {
    const world = newWorld();
    const { collection, conversationId } = await storedDiscussion(world, answeredDocuments(3));
    await run(world, '--yes');
    const first = await readConversation(world.store, conversationId);

    const second = await run(world, '--yes');
    const same = await readConversation(world.store, conversationId);
    const later = { later: answeredDocument(9, 'And now?', 'Now this.') };
    await storeDiscussion(world.store, collection, later);
    const third = await run(world, '--yes');

    expect(second.out).toContain('1 unchanged, 0 without a message; 0 turns written');
    expect(same).toEqual(first);
    expect(third.out).toContain('1 extended, 0 unchanged, 0 without a message; 1 turn written');
    expect((await transcript(world.store, conversationId, 4)).at(-1)?.said).toEqual([
      'And now?',
      'Now this.',
    ]);
    expect(await foundIn(world, conversationId)).toEqual([]);
  });
}

function concurrencyTests(newWorld: () => ImportWorld): void {
  test('two imports at once write every turn once', async () => {
    const world = newWorld();
    const { conversationId } = await storedDiscussion(world, answeredDocuments(450));

    const both = await Promise.all([run(world, '--yes'), run(world, '--yes')]);

    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await readImported(world, conversationId)).toMatchObject({
      state: 'live',
      lastSeq: 450,
    });
    expect(await foundIn(world, conversationId)).toEqual([]);
  });
}

function changedSinceTests(newWorld: () => ImportWorld): void {
  test('a conversation in which its user wrote in Recap is not touched by another import', async () => {
    const world = newWorld();
    const { collection, conversationId } = await storedDiscussion(world, answeredDocuments(2));
    await run(world, '--yes');
    await sendAll(world.chat, conversationId, ['I go on here.']);
    const before = await readConversation(world.store, conversationId);
    await storeDiscussion(world.store, collection, { x: answeredDocument(9, 'There', 'too.') });

    const { code, out } = await run(world, '--yes');

    expect([code, out]).toEqual([0, expect.stringContaining('1 discussion left out (continued)')]);
    expect(out).toContain(collection);
    expect(await readConversation(world.store, conversationId)).toEqual(before);
  });

  test('a conversation that its user deleted in Recap stays deleted when it is imported again', async () => {
    const world = newWorld();
    const { conversationId } = await storedDiscussion(world, answeredDocuments(2));
    await run(world, '--yes');
    await deleteConversation(world.chat, {
      caller: { uid: 'u1', tier: 'signedIn' },
      conversationId,
    });

    const { out } = await run(world, '--yes');

    expect(out).toContain('left out (deleted)');
    expect((await readImported(world, conversationId))?.state).toBe('deleted');
  });

  test('an import that lost documents between imported ones says so and fails', async () => {
    const world = newWorld();
    const { collection, conversationId } = await storedDiscussion(world, answeredDocuments(3));
    await run(world, '--yes');
    await storeDiscussion(world.store, collection, { y: answeredDocument(1.5, 'Between', '.') });

    const { code, out } = await run(world, '--yes');

    expect(code).toBe(1);
    expect(out).toContain('left out (source-changed)');
    expect((await readImported(world, conversationId))?.lastSeq).toBe(3);
  });
}

function killTests(newWorld: () => ImportWorld): void {
  test.each([1, 2, 3])(
    'an import killed at commit %i of a long discussion hides it, and the next run completes it',
    async (nth) => {
      const world = newWorld();
      const { conversationId } = await storedDiscussion(world, answeredDocuments(450));
      const killed = {
        ...world,
        chat: { ...world.chat, store: killedAt(world.store, nth) },
      };

      const first = await run(killed, '--yes');
      const between = await readImported(world, conversationId);
      const hidden = await foundIn(world, conversationId);
      const second = await run(world, '--yes');

      expect(first.code).toBe(1);
      expect(between?.state).toBe(nth === 1 ? undefined : 'deleted');
      expect(hidden).toEqual([]);
      expect(second.code).toBe(0);
      expect(await readImported(world, conversationId)).toMatchObject({
        state: 'live',
        lastSeq: 450,
      });
      const said = (await transcript(world.store, conversationId, 450)).map((turn) => turn.said);
      expect(said).toEqual(
        Array.from({ length: 450 }, (_, i) => [`Question ${i + 1}`, `Answer ${i + 1}`]),
      );
      expect(await foundIn(world, conversationId)).toEqual([]);
    },
  );
}

function failedAnswerTests(newWorld: () => ImportWorld): void {
  test('failed and empty answers keep their messages in the transcript and out of the context', async () => {
    const world = newWorld();
    const { conversationId } = await storedDiscussion(world, {
      a: answeredDocument(1, 'One', 'First.'),
      b: { prompt: 'Two', createTime: sentAt(2), status: { state: 'ERROR', error: 'No quota.' } },
      c: { prompt: 'Three', createTime: sentAt(3), status: { state: 'COMPLETED' }, response: '' },
      d: answeredDocument(4, 'Four', 'Fourth.'),
    });

    await run(world, '--yes');

    const turns = await transcript(world.store, conversationId, 4);
    expect(turns.map(({ said, state, inContext }) => [...said, state, inContext])).toEqual([
      ['One', 'First.', 'done', true],
      ['Two', 'failed', false],
      ['Three', 'failed', false],
      ['Four', 'Fourth.', 'done', true],
    ]);
    expect(await foundIn(world, conversationId)).toEqual([]);
  });

  test('a document that outgrows the store in Recap leaves its discussion out, and the others come', async () => {
    const world = newWorld();
    const large = '\u0001'.repeat(700_000);
    const { collection } = await storedDiscussion(world, { a: answeredDocument(1, large, 'Oh.') });
    const other = await storedDiscussion(world, answeredDocuments(1));

    const { code, out } = await run(world, '--yes');

    expect(code).toBe(1);
    expect(out).toContain(`left out (too-large)`);
    expect(out).toContain(collection);
    expect(await readImported(world, other.conversationId)).toMatchObject({ lastSeq: 1 });
  });
}

function leftOutTests(newWorld: () => ImportWorld): void {
  test('documents without prompt, order or answer are left out and named with the reason', async () => {
    const world = newWorld();
    const { collection, conversationId } = await storedDiscussion(world, {
      a: answeredDocument(1, 'One', 'First.'),
      b: { prompt: 'Two', createTime: sentAt(2), status: { state: 'PROCESSING' } },
      c: { prompt: 3, createTime: sentAt(3) },
      d: { prompt: 'Four', response: 'Fourth.' },
      e: { createTime: sentAt(5) },
    });

    const { out, code } = await run(world, '--yes');

    expect(code).toBe(0);
    expect(out).toContain('2 documents left out (no-prompt)');
    expect(out).toContain(
      `1 document left out (no-order): has no value in the order field, so the extension left it out of the history\n  ${collection}/d`,
    );
    expect(out).toContain('1 document left out (not-answered)');
    expect(await readImported(world, conversationId)).toMatchObject({ lastSeq: 1 });
  });

  test('fields of other names and a fixed owner are taken from a collection without parameters', async () => {
    const world = newWorld();
    const collection = `generate-${randomUUID()}`;
    await storeDiscussion(world.store, collection, {
      a: { in: { text: 'Second?' }, out: 'Yes.', at: 2 },
      b: { in: { text: 'First?' }, out: 'No.', at: 1 },
    });

    const fields = '--prompt-field in.text --response-field out --order-field at';
    await run(world, '--from', collection, '--owner', 'u7', ...fields.split(' '), '--yes');

    const conversationId = conversationIdFor(collection);
    expect((await readImported(world, conversationId))?.ownerUid).toBe('u7');
    const turns = await transcript(world.store, conversationId, 2);
    expect(turns.map(({ said }) => said)).toEqual([
      ['First?', 'No.'],
      ['Second?', 'Yes.'],
    ]);
  });
}

/** Imports discussions of the extension in a store, and looks at the conversations. */
export function importSuite(
  storeName: string,
  createStore: () => { store: DocumentStore; tree: DocumentTree | undefined },
): void {
  const newWorld = (): ImportWorld => {
    const { store, tree } = createStore();
    return { ...verifyWorld(store), tree };
  };

  describe(`discussions of the Firebase extension in ${storeName}`, () => {
    mappingTests(newWorld);
    repetitionTests(newWorld);
    concurrencyTests(newWorld);
    changedSinceTests(newWorld);
  });
  describe(`an import into ${storeName} that is killed`, () => {
    killTests(newWorld);
  });
  describe(`documents in ${storeName} that are broken or unfinished`, () => {
    failedAnswerTests(newWorld);
    leftOutTests(newWorld);
  });
}
