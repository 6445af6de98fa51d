import { builtInTools } from '#functions/chat/turns/tools/built-in-tools.ts';
import { readBlob } from '#functions/chat/turns/tools/read-blob.ts';
import type { ToolCallContext } from '#functions/chat/turns/tools/server-tool.ts';
import { maskedText } from '#shared/compaction/shorten-output.ts';
import { cutIntoPieces } from '#shared/conversation/documents/json-pieces.ts';
import { blobPiecePath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

/** A conversation with a stored output, in as many pieces as it takes. */
async function withBlob(text: string, dependencies = chatDependencies()) {
  const { store, sha256 } = dependencies;
  const { conversationId } = await buildConversation(store, { turns: 1 });
  const name = sha256(text);
  for (const [index, piece] of cutIntoPieces(text).entries())
    await store.commit([
      {
        op: 'create',
        path: blobPiecePath(conversationId, { sha256: name, index }),
        fields: { text: piece },
      },
    ]);
  const context: ToolCallContext = {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    seq: 2,
    key: 't_2:0',
    isApproved: false,
    signal: new AbortController().signal,
  };
  const tool = readBlob(dependencies);
  const read = (args: { id?: string; fromCharacter?: number; maxCharacters?: number } = {}) =>
    tool.run(tool.parameters.parse({ id: name, ...args }), context);
  return { dependencies, conversationId, name, read, tool, context };
}

type Read = Awaited<ReturnType<typeof withBlob>>['read'];

async function allPages(read: Read, maxCharacters?: number): Promise<string[]> {
  const pages: string[] = [];
  let fromCharacter: unknown = 0;
  while (typeof fromCharacter === 'number') {
    const page = await read({ fromCharacter, ...(maxCharacters && { maxCharacters }) });
    pages.push(String(page['text']));
    fromCharacter = page['nextCharacter'];
  }
  return pages;
}

const mixed = '🙂 naïve 👩‍👩‍👧‍👦 한국어\r\n'.repeat(40);

describe('read_blob', () => {
  test('read_blob reads what the shortened output names', async () => {
    const output = 'line of a log\n'.repeat(1_000);
    const { name, read } = await withBlob(output);
    const shown = maskedText(output, { characters: 2_000, name });

    const id = /read_blob\("([^"]+)"\)/u.exec(shown)?.[1];

    expect(id).toBe(name);
    expect(await read({ ...(id && { id }) })).toEqual({
      text: output,
      fromCharacter: 0,
      totalCharacters: output.length,
    });
  });

  test.each([1, 2, 7, 100, 19_999])('read_blob returns every byte in pages of %i', async (size) => {
    const { read } = await withBlob(mixed);

    const pages = await allPages(read, size);

    expect(pages.join('')).toBe(mixed);
    expect(pages.every((page) => page.isWellFormed())).toBe(true);
    // A code point may be longer than a page of one.
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(Math.max(2, size));
  });

  test('read_blob returns a text of several stored pieces, 20,000 characters at a time', async () => {
    const output = '🙂 row of a listing\n'.repeat(80_000);
    const { read } = await withBlob(output);

    const pages = await allPages(read);

    expect(pages.join('') === output).toBe(true);
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(20_000);
  });

  test('read_blob begins before a character that its offset splits', async () => {
    const { read } = await withBlob('ab🙂cd');

    expect(await read({ fromCharacter: 3 })).toMatchObject({ text: '🙂cd', fromCharacter: 2 });
  });

  test('read_blob beyond the end returns nothing and the text’s length', async () => {
    const { read } = await withBlob('short');

    expect(await read({ fromCharacter: 99 })).toEqual({
      text: '',
      fromCharacter: 5,
      totalCharacters: 5,
    });
  });

  test('read_blob accepts the call as the id', async () => {
    const { read, name } = await withBlob('text');

    expect(await read({ id: `read_blob("${name}")` })).toMatchObject({ text: 'text' });
  });

  test.each(['nonsense', '../conversations/c', 'f'.repeat(64), 'F'.repeat(64), 'a'.repeat(65)])(
    'read_blob says that %s is unknown',
    async (id) => {
      const { read } = await withBlob('text');

      await expect(read({ id })).rejects.toMatchObject({
        reason: 'BLOB_NOT_FOUND',
        publicMessage: expect.stringContaining('No stored output'),
      });
    },
  );

  test('read_blob cannot read another conversation’s blob, even of the same user', async () => {
    const first = await withBlob('of the first');
    const second = await withBlob('of the second', first.dependencies);

    await expect(second.read({ id: first.name })).rejects.toMatchObject({
      reason: 'BLOB_NOT_FOUND',
    });
  });

  test('read_blob does not serve another user', async () => {
    const { tool, context, name } = await withBlob('text');
    const caller = { uid: 'bob', tier: 'signedIn' } as const;

    const asked = tool.run(tool.parameters.parse({ id: name }), { ...context, caller });

    await expect(asked).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test('read_blob does not read what is being erased', async () => {
    const { dependencies, conversationId, read, name } = await withBlob('text');
    const pendingErasure = { since: new Date(0), seqs: [1], blobs: [name] };
    await dependencies.store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { pendingErasure },
        guard: { exists: true },
      },
    ]);

    await expect(read()).rejects.toMatchObject({ reason: 'BLOB_NOT_FOUND' });
  });

  test.each([{ maxCharacters: 20_001 }, { maxCharacters: 0 }, { fromCharacter: -1 }])(
    'read_blob refuses %j',
    (args) => {
      const { parameters } = readBlob(chatDependencies());

      expect(parameters.safeParse({ id: randomUUID(), ...args }).success).toBe(false);
    },
  );
});

describe('the tools of the server', () => {
  test.each([
    [undefined, ['recall_history', 'read_blob', 'save_memory', 'forget_memory']],
    ['read_blob', ['read_blob']],
    ['read_blob,save_memory,forget_memory', ['read_blob', 'save_memory', 'forget_memory']],
    ['none', []],
  ])('the server’s tools with BUILT_IN_TOOLS=%s are %j', (setting, names) => {
    const dependencies = chatDependencies(
      {},
      setting === undefined ? {} : { BUILT_IN_TOOLS: setting },
    );

    expect(builtInTools(dependencies).map(({ name }) => name)).toEqual(names);
  });

  test('unknown server tools are refused at start', () => {
    expect(() => chatDependencies({}, { BUILT_IN_TOOLS: 'read_blob,rm' })).toThrow(
      'BUILT_IN_TOOLS',
    );
  });
});
