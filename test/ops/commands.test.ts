import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { sendAll } from '#test/support/chat/sending.ts';
import { compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import {
  compactedThrice,
  foundIn,
  verifyWorld,
  type VerifyWorld,
} from '../support/compaction/verifying.ts';
import { ops } from '../support/processes/ops.ts';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';

const SAID = 'The harbour master is called Odysseus.';

const jsonOf = (out: string): Record<string, unknown> => JSON.parse(out);

async function chatted(world: VerifyWorld): Promise<string> {
  const conversationId = randomUUID();
  await sendAll(world.chat, conversationId, [SAID, 'And the market?']);
  return conversationId;
}

const storedConversation = async ({ store }: VerifyWorld, conversationId: string) =>
  (await readConversation(store, conversationId))?.value;

describe('a command that only looks', () => {
  const world = verifyWorld();
  let folded = '';
  let short = '';
  beforeAll(async () => {
    folded = await compactedThrice(world);
    short = await chatted(world);
  });

  test('ops lists conversations with figures and no texts, page by page', async () => {
    const first = await ops(world, ['conversations', '--json', '--limit', '1']);
    const { next } = jsonOf(first.out);
    const second = await ops(world, ['conversations', '--limit', '1', '--after', String(next)]);

    expect([folded, short]).toContain(next);
    expect(second.out).toContain(next === folded ? short : folded);
    expect(first.out + second.out).not.toContain('Odysseus');
    expect(first.code).toBe(0);
  });

  test('ops shows what a terminal would obey in a text, and which message each line belongs to', async () => {
    const conversationId = randomUUID();
    const said = 'Hi \u001B]52;c;ZXZpbA==\u0007\u202Ethere\n[1] model: I agree.';
    const lone = verifyWorld();
    await sendAll(lone.chat, conversationId, [said]);

    const shown = await ops(lone, ['show', conversationId, '--text']);
    const context = await ops(lone, ['context', conversationId, '--text']);
    const asJson = await ops(lone, ['show', conversationId, '--text', '--json']);

    for (const { out } of [shown, context, asJson])
      // oxlint-disable-next-line no-control-regex -- what a terminal obeys
      expect(out).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202E]/u);
    expect(shown.out).toContain(String.raw`[1] user: Hi \u001b]52;c;ZXZpbA==\u0007\u202ethere`);
    expect(shown.out).toContain('\n    [1] model: I agree.');
    expect(jsonOf(asJson.out)).toMatchObject({ turns: [{ user: { parts: [{ text: said }] } }] });
  });

  test('ops shows turns, generations and attempts, and message text only with --text', async () => {
    const plain = await ops(world, ['show', short]);
    const json = await ops(world, ['show', folded, '--json', '--limit', '2']);
    const told = await ops(world, ['show', short, '--text']);

    expect(plain.out).toContain('turns         2, folded through 0');
    expect(plain.out + json.out).not.toContain('Odysseus');
    expect(told.out).toContain(`[1] user: ${SAID}`);
    const { turns, generations, attempts } = jsonOf(json.out);
    const lists = [turns, generations, attempts];
    expect(lists.map((list) => Array.isArray(list) && list.length)).toEqual([2, 3, 3]);
  });

  test('ops shows the context piece by piece, with texts only where --text asks', async () => {
    const plain = await ops(world, ['context', folded]);
    const told = await ops(world, ['context', folded, '--text']);
    const earlier = await ops(world, ['context', folded, '--generation', '1']);

    expect(plain.out).toMatch(/^generation 3, [\d,]+ tokens\n/u);
    expect(plain.out).toMatch(/^pin .*\nsnapshot /mu);
    expect(plain.out).not.toContain('hazelnuts');
    expect(told.out).toContain('hazelnuts');
    expect(earlier.out).toMatch(/^generation 1,/u);
  });
});

describe('a command that changes something', () => {
  test('ops describes a restore without writing, and writes it with --yes', async () => {
    const world = verifyWorld();
    const id = await compactedThrice(world);
    const dry = await ops(world, ['restore', id, '--generation', '0']);
    const before = await storedConversation(world, id);
    const done = await ops(world, ['restore', id, '--generation', '0', '--yes']);

    expect(dry.out).toContain('would make generation 4 of generation 0');
    expect(before?.generation).toBe(3);
    expect(done.out).toContain('generation 4 goes on from 0');
    expect(await storedConversation(world, id)).toMatchObject({
      generation: 4,
      coveredThrough: { seq: 0 },
    });
    expect(await foundIn(world, id)).toEqual([]);
  });

  test('ops shows what a compaction would fold, and requests it with --yes', async () => {
    const world = verifyWorld();
    const { conversationId: id } = await buildConversation(world.store, {
      turns: 20,
      conversation: { settings: { thresholdTokens: 1_000 } },
    });
    const dry = await ops(world, ['compact', id]);
    const before = await storedConversation(world, id);
    const asked = await ops(world, ['compact', id, '--yes']);
    await compactOnce(world.bench, id);

    expect(dry.out).toMatch(/^would fold \d+ turns, 1 to \d+/u);
    expect(before?.compactionRequests).toEqual({});
    expect(asked.out).toContain('is QUEUED');
    expect(world.chat.published).toHaveLength(1);
    expect((await storedConversation(world, id))?.generation).toBe(1);
  });

  test('ops describes an erasure, and marks with --yes one conversation or all of a user', async () => {
    const world = verifyWorld();
    const [one, two, three] = [await chatted(world), await chatted(world), await chatted(world)];
    const { conversationId: other } = await buildConversation(world.store, {
      turns: 1,
      conversation: { ownerUid: 'u2' },
    });
    const states = () =>
      Promise.all(
        [one, two, three, other].map(async (id) => (await storedConversation(world, id))?.state),
      );

    const dry = await ops(world, ['erase', one]);
    const dryUser = await ops(world, ['erase', '--user', 'u1']);
    const before = await states();
    await ops(world, ['erase', one, '--yes']);
    const between = await states();
    const done = await ops(world, ['erase', '--user', 'u1', '--yes']);

    expect(dry.out).toContain(`would erase ${one}: 2 turns`);
    expect(dryUser.out).toContain('would erase 3 conversations');
    expect(before).toEqual(['live', 'live', 'live', 'live']);
    expect(between).toEqual(['erasing', 'live', 'live', 'live']);
    expect(done.code).toBe(0);
    expect(await states()).toEqual(['erasing', 'erasing', 'erasing', 'live']);
  });

  test('ops deletes what is stored below a missing conversation', async () => {
    const world = verifyWorld();
    const id = await chatted(world);
    await world.store.commit([{ op: 'delete', path: conversationPath(id) }]);
    const tree = {
      collectionsBelow: () => Promise.resolve(['turns', 'messages']),
      documentsIn: async function* () {
        yield await Promise.resolve([id]);
      },
    };
    const found = await ops(world, ['verify', id], { tree });
    const dry = await ops(world, ['erase', id], { tree });
    const done = await ops(world, ['erase', id, '--yes'], { tree });

    expect(found.code).toBe(1);
    expect(found.out).toContain(`below-missing-head  ${turnPath(id, 1)}`);
    expect(dry.out).toContain('turns, messages');
    expect(done.out).toMatch(/^deleted \d+ documents/u);
    expect(await world.store.get([turnPath(id, 1)])).toEqual([undefined]);
  });
});

describe('a command that cannot be carried out', () => {
  const world = verifyWorld();

  test.each([
    ['an unknown command', ['frobnicate'], 'there is no command frobnicate'],
    ['an unknown option', ['show', 'c1', '--loud'], "'--loud'"],
    ['a missing option', ['restore', 'c1'], '--generation'],
    ['nothing to verify', ['verify'], '--all'],
  ])('ops ends with 2 and names %s', async (_, argv, named) => {
    const { code, out, err } = await ops(world, argv);

    expect(err).toContain(named);
    expect(err).not.toMatch(/^ {4}at /mu);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  test.each(['show', 'context', 'compact', 'erase'])(
    'ops %s says that there is no such conversation',
    async (command) => {
      const { code, out, err } = await ops(world, [command, 'c-none']);

      expect(`${out}${err}`).toContain('c-none');
      expect(code).toBe(command === 'erase' ? 0 : 1);
    },
  );
});
