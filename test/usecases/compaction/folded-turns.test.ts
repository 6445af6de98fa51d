import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createHmacSigner } from '#functions/adapters/hmac-signer.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { Asked, PreCompactEvent, PreCompactHook } from '#shared/compaction/hooks.ts';
import { exportLineResponse } from '#shared/wire/resources/export.ts';
import { decodeToken, encodeToken } from '#shared/wire/page-token.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { createWireApp } from '#test/support/chat/wire-app.ts';
import {
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';

const MINUTE_MS = 60_000;

/** A compaction whose hook keeps what it is told. */
async function compactWithHook(
  base: Partial<CompactionBench> = {},
  others: readonly PreCompactHook[] = [],
) {
  const told: PreCompactEvent[] = [];
  const tell = ({ event }: Asked<PreCompactEvent>) => {
    told.push(event);
    return Promise.resolve(undefined);
  };
  const hook = { name: 'backup', run: tell };
  const bench = compactionBench({
    hooks: { preCompact: [hook, ...others], postCompact: [hook] },
    ...base,
  });
  const id = await buildDue(bench, { conversation: { ownerUid: 'alice' } });
  await compactOnce(bench, id);
  const [before, after] = told;
  const { foldedTurns } = before ?? {};
  if (!before || !foldedTurns) throw new Error('the hook was given nothing to read with');
  const app = createWireApp({ store: bench.store, clock: bench.clock, signer: bench.signer });
  const read = (path: string, token: string | undefined) =>
    app.call({
      method: 'GET',
      path,
      uid: undefined,
      headers: token === undefined ? {} : { 'x-recap-read-token': token },
    });
  return { bench, app, id, before, after, foldedTurns, read };
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => exportLineResponse.parse(JSON.parse(line)));

describe('what a PreCompact hook is given to read the folded turns with', () => {
  test('a PreCompact hook reads exactly the folded turns, word for word, without a sign-in', async () => {
    const { bench, before, after, foldedTurns, read } = await compactWithHook();

    const answer = await read(foldedTurns.path, foldedTurns.token);

    expect(after).not.toHaveProperty('foldedTurns');
    expect(foldedTurns.expireTime).toBe(
      new Date(bench.clock.now().getTime() + 15 * MINUTE_MS).toISOString(),
    );
    const lines = linesOf(answer.text);
    const seqs = lines.map((line) => (line.type === 'message' ? line.seq : 0));
    expect(answer.status).toBe(200);
    expect([...new Set(seqs)]).toEqual(
      Array.from({ length: before.turnsFolded }, (_, index) => before.from + index),
    );
    expect(lines[0]).toMatchObject({ type: 'message', role: 'user', fate: 'answered' });
    expect(answer.text).toContain('Question 1: what do you know about');
    expect(answer.text).not.toContain(`Question ${before.upTo + 1}:`);
  });

  test('a PreCompact hook’s reading omits a message deleted meanwhile', async () => {
    const caller = { uid: 'alice', tier: 'signedIn' } as const;
    const store = createMemoryDocumentStore();
    const deleting: PreCompactHook = {
      name: 'deleting',
      run: async ({ event: { conversationId } }) => {
        const messageId = 'message-1';
        await deleteMessage(chatDependencies({ store }), { caller, conversationId, messageId });
        return undefined;
      },
    };
    const { foldedTurns, read } = await compactWithHook({ store }, [deleting]);

    const { text } = await read(foldedTurns.path, foldedTurns.token);

    expect(text).not.toContain('Question 1:');
    expect(text).toContain('"fate":"deleted"');
    expect(text).toContain('Question 2:');
  });
});

const tokenSchema = z.tuple([z.looseObject({}), z.string()]);

/** The token with other claims under the signature that it has. */
function altered(token: string, changes: object): string {
  const [claims, signature] = tokenSchema.parse(decodeToken(token));
  return encodeToken([{ ...claims, ...changes }, signature]);
}

const reasonIn = (text: string): unknown => JSON.parse(text).error.details[0].reason;

describe('S1: reading folded turns', () => {
  test.each([
    ['without a token', () => undefined],
    ['with an ID token instead', () => 'alice'],
    ['with a longer range', (token: string) => altered(token, { upTo: 20 })],
    ['with a later end', (token: string) => altered(token, { expireTime: '2030-01-01T00:00:00Z' })],
  ])('S1: reading folded turns with %s is refused', async (_, tokenFrom) => {
    const { foldedTurns, read } = await compactWithHook();

    const answer = await read(foldedTurns.path, tokenFrom(foldedTurns.token));

    expect([answer.status, reasonIn(answer.text)]).toEqual([401, 'READ_TOKEN_INVALID']);
  });

  test('S1: reading folded turns with another conversation’s token is refused, existing or not', async () => {
    const { bench, foldedTurns, read } = await compactWithHook();
    const other = await buildDue(bench);

    for (const id of [other, randomUUID()]) {
      const answer = await read(`/v1/conversations/${id}/foldedTurns`, foldedTurns.token);
      expect([answer.status, reasonIn(answer.text)]).toEqual([401, 'READ_TOKEN_INVALID']);
    }
  });

  test('S1: reading folded turns with a token of another key is refused', async () => {
    const signer = createHmacSigner('x'.repeat(32));
    const { foldedTurns } = await compactWithHook({ signer });
    const { read } = await compactWithHook();

    expect((await read(foldedTurns.path, foldedTurns.token)).status).toBe(401);
  });

  test('S1: reading folded turns works for a quarter of an hour', async () => {
    const { bench, foldedTurns, read } = await compactWithHook();
    bench.clock.advance(15 * MINUTE_MS - 1);
    const last = await read(foldedTurns.path, foldedTurns.token);
    bench.clock.advance(1);
    const late = await read(foldedTurns.path, foldedTurns.token);

    expect(last.status).toBe(200);
    expect([late.status, reasonIn(late.text)]).toEqual([401, 'READ_TOKEN_INVALID']);
  });

  test('S1: reading folded turns ends with the conversation', async () => {
    const { app, id, foldedTurns, read } = await compactWithHook();
    await app.ok({ method: 'DELETE', path: `/v1/conversations/${id}`, uid: 'alice' });

    const answer = await read(foldedTurns.path, foldedTurns.token);

    expect([answer.status, reasonIn(answer.text)]).toEqual([404, 'CONVERSATION_NOT_FOUND']);
  });

  test('S1: reading folded turns ends with the first change after the swap', async () => {
    const { app, bench, id, foldedTurns, read } = await compactWithHook();
    const caller = { uid: 'alice', tier: 'signedIn' } as const;
    expect((await see(bench.store, id)).conversation.generation).toBe(1);
    await deleteMessage(app.dependencies, { caller, conversationId: id, messageId: 'message-1' });

    expect((await read(foldedTurns.path, foldedTurns.token)).status).toBe(404);
  });
});
