import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { showContext } from '#functions/chat/context/show-context.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { overloaded } from '#test/support/model-down.ts';
import { passTime } from '#test/support/pass-time.ts';
import { regenerate, edit } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { shownContents } from '#test/support/chat/shown-contents.ts';
import { instances, queued, turnsOf } from '#test/support/chat/starts.ts';
import { home, LABEL, sundayChat, withContext } from '#test/support/compaction/sunday-chat.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const homeLines = '- screen: "home"\n- values.cart: ["kayak"]';

const textsOf = (content: Content | undefined) => content?.parts.map(({ text }) => text);
/** What is told where nothing else is. */
const alone = (time: string) =>
  `Told by the service, not by the user: it is ${at(time).slice('- now: '.length)}.`;

const at = (time: string) => `- now: Sunday, 22 November 2026, ${time} (Asia/Seoul, UTC+09:00)`;

describe('the context of an app', () => {
  test('an app’s context stands before the message, in full with the first one', async () => {
    const { send } = sundayChat();

    const prompt = await send(withContext(request(randomUUID(), 'Hello')));

    expect(prompt.map(textsOf)).toEqual([[`${LABEL}:\n${at('10:05')}\n${homeLines}`, 'Hello']]);
  });

  test('an app’s context is sent as differences, and earlier bytes stay unchanged', async () => {
    const { send, clock } = sundayChat();
    const id = randomUUID();
    const prompts: (readonly Content[])[] = [];
    for (const [text, screen] of [
      ['One', 'home'],
      ['Two', 'home'],
      ['Three', 'cart'],
    ] as const) {
      prompts.push(await send(withContext(request(id, text), { ...home, screen })));
      clock.advance(60_000);
    }

    const [first = [], second = [], third = []] = prompts;
    expect(textsOf(second.at(-1))).toEqual([alone('10:06'), 'Two']);
    expect(textsOf(third.at(-1))).toEqual([
      `${LABEL}; what is not named is as it was:\n${at('10:07')}\n- screen: "cart"`,
      'Three',
    ]);
    expect(second.slice(0, 1)).toEqual(first);
    expect(third.slice(0, 3)).toEqual(second);
  });

  test('an app’s context is sent in full again after a swap and enters no summary', async () => {
    const { send, compact, summaries, lastPrompt } = sundayChat();
    const id = randomUUID();
    const bees = 'about bees '.repeat(400);
    for (let i = 0; i < 8; i++) await send(withContext(request(id, `Question ${i} ${bees}`)));

    const outcome = await compact(id);
    await send(withContext(request(id, 'Hello')));

    expect(outcome).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(JSON.stringify(summaries())).toContain('Question 0');
    expect(JSON.stringify(summaries())).not.toMatch(/Told by the app|kayak|Seoul/);
    expect(textsOf(lastPrompt().at(-1))?.[0]).toContain(homeLines);
  });

  test('an app’s time zone dates what was said for the summary', async () => {
    const { send, compact, summaries, clock } = sundayChat();
    const id = randomUUID();
    // Ten in the morning in Seoul, and still Saturday in New York.
    const zones = { first: 'Asia/Seoul', later: 'America/New_York' };
    for (let i = 0; i < 8; i++) {
      const timeZone = i === 0 ? zones.first : zones.later;
      await send(
        withContext(request(id, `Question ${i} ${'about bees '.repeat(400)}`), { timeZone }),
      );
      clock.advance(60_000);
    }

    await compact(id);

    const read = JSON.stringify(summaries());
    expect(read).toContain('turn 1: 2026-11-22 Sunday');
    expect(read).toContain('turn 2: 2026-11-21 Saturday');
  });

  test('a message resent with another app context keeps its first one', async () => {
    const { dependencies, clock, send, streamer, stored } = sundayChat();
    const asked = request(randomUUID(), 'Hello');
    await send(withContext(asked));
    clock.advance(3_600_000);

    const handle = await sendMessage(dependencies, withContext(asked, { screen: 'cart' }));

    expect(handle.replayed).toBe(true);
    expect(streamer.requests).toHaveLength(1);
    expect((await stored(asked.conversationId, 1))?.surroundings).toContain(at('10:05'));
  });

  test('a retried failed message keeps its first app context', async () => {
    const { dependencies, clock, lastPrompt } = sundayChat();
    const asked = request(randomUUID(), 'Hello');
    const failing = scriptedStreamer({ error: overloaded() });
    const broken = { ...dependencies, model: failing.model };
    await (await sendMessage(broken, withContext(asked))).result.catch(() => undefined);
    clock.advance(3_600_000);

    await (
      await sendMessage(dependencies, withContext(asked, { screen: 'cart' }))
    ).result;

    expect(lastPrompt()).toEqual(failing.requests[0]?.contents);
  });

  test('an app’s context belongs to the new turn of a regeneration or edit, in full', async () => {
    const { send, lastPrompt } = sundayChat();
    const asked = request(randomUUID(), 'One');
    await send(withContext(request(asked.conversationId, 'Zero')));
    await send(withContext(asked));

    const cart = { ...home, screen: 'cart' };
    const again = regenerate(asked.conversationId, 'm_2');
    await send(withContext(again, cart));
    const anew = lastPrompt().at(-1);
    await send(withContext(edit(asked.conversationId, again.message.id, 'Uno'), home));

    expect(textsOf(anew)).toEqual([
      expect.stringContaining('- screen: "cart"\n- values.cart'),
      'One',
    ]);
    expect(textsOf(lastPrompt().at(-1))).toEqual([expect.stringContaining(homeLines), 'Uno']);
    expect(lastPrompt()).toHaveLength(3);
  });

  test('without an app context in the request, only the time in the known zone is sent', async () => {
    const { send } = sundayChat();
    const id = randomUUID();
    await send(withContext(request(id, 'One')));

    const second = await send(request(id, 'Two'));
    const third = await send(withContext(request(id, 'Three')));

    expect(textsOf(second.at(-1))).toEqual([alone('10:05'), 'Two']);
    expect(textsOf(third.at(-1))).toEqual([alone('10:05'), 'Three']);
  });

  test('an app’s context counts as tokens of its turn', async () => {
    const { send, stored, dependencies } = sundayChat();
    const id = randomUUID();
    const values = { page: 'word '.repeat(3_000) };

    await send(withContext(request(id, 'One'), { values }));

    const turn = await stored(id, 1);
    const shown = await showContext(dependencies, { caller, conversationId: id });
    expect(turn?.tokens.user).toBeGreaterThan(2_500);
    expect(shown.items.at(0)?.tokens).toBeGreaterThan(2_500);
  });

  test('an app’s context is in `/context`, which is the next prompt but its last content', async () => {
    const { send, dependencies } = sundayChat();
    const id = randomUUID();
    await send(withContext(request(id, 'One')));
    const shown = await showContext(dependencies, { caller, conversationId: id });

    const prompt = await send(withContext(request(id, 'Two'), { screen: 'cart' }));

    expect(shownContents(shown.items)).toEqual(prompt.slice(0, -1));
  });

  test('an app’s context is sent in full where the prompt leaves turns out', async () => {
    const { send, dependencies } = sundayChat({ THRESHOLD_TOKENS: '1000' }, 3_500);
    const id = randomUUID();
    const long = 'about bees '.repeat(400);
    for (let i = 0; i < 3; i++) await send(withContext(request(id, `${i} ${long}`)));

    const prompt = await send(withContext(request(id, 'Hello')));

    expect(
      (await showContext(dependencies, { caller, conversationId: id })).shrunken,
    ).toBeDefined();
    expect(textsOf(prompt.at(-1))?.[0]).toContain(homeLines);
  });

  test('an app’s context is deleted with its turn', async () => {
    const { send, dependencies, stored } = sundayChat();
    const asked = request(randomUUID(), 'One');
    const { conversationId } = asked;
    await send(withContext(asked));
    await send(withContext(request(conversationId, 'Two')));

    await deleteMessage(dependencies, { caller, conversationId, messageId: asked.message.id });
    const prompt = await send(withContext(request(conversationId, 'Three')));

    const turn = await stored(conversationId, 1);
    expect(turn).toMatchObject({ user: { parts: [] } });
    expect(turn).not.toHaveProperty('surroundings');
    expect(turn).not.toHaveProperty('describedClient');
    expect(textsOf(prompt.at(-1))?.[0]).toContain(homeLines);
  });

  test('an app’s context goes with its turn into a fork', async () => {
    const { send, dependencies, lastPrompt } = sundayChat();
    const id = randomUUID();
    await send(withContext(request(id, 'One')));
    const before = lastPrompt();

    const fork = await forkConversation(dependencies, {
      caller,
      conversationId: id,
      messageId: 'm_1',
    });
    const prompt = await send(withContext(request(fork.conversationId, 'Two')));

    expect(prompt.slice(0, 1)).toEqual(before);
  });
});

test('a waiting message keeps its sending-time context in full, whoever answers it', async () => {
  const stack = instances();
  const chat = stack.instance();
  const id = randomUUID();
  const first = await sendMessage(chat, withContext(request(id, 'one')));
  await stack.called(1);
  const second = await sendMessage(chat, withContext(queued(id, 'two')));
  const [, waiting] = await turnsOf(chat, id, 2);

  stack.answerAll();
  await first.result;
  await passTime(stack.clock, second.result);

  expect(waiting?.surroundings).toContain(homeLines);
  expect(textsOf(stack.calls[1]?.request.contents.at(-1))).toEqual([waiting?.surroundings, 'two']);
  expect((await turnsOf(chat, id, 2))[1]?.surroundings).toBe(waiting?.surroundings);
});

describe('date and time', () => {
  const UNKNOWN =
    "Told by the service, not by the user: it is Sunday, 22 November 2026, 01:05 (UTC; the user's zone is not known).";

  test('date and time are given in UTC where no message has named a zone', async () => {
    const { send } = sundayChat();

    const prompt = await send(request(randomUUID(), 'Hello'));

    expect(prompt.map(textsOf)).toEqual([[UNKNOWN, 'Hello']]);
  });

  test('date and time use the last named zone, also by an edit or in a fork', async () => {
    const { send, dependencies } = sundayChat();
    const asked = request(randomUUID(), 'One');
    const { conversationId } = asked;
    await send(withContext(asked, { timeZone: 'Asia/Seoul', locale: 'ko-KR' }));

    const edited = await send(edit(conversationId, asked.message.id, 'Uno'));
    const fork = await forkConversation(dependencies, {
      caller,
      conversationId,
      messageId: 'm_2',
    });
    const forked = await send(request(fork.conversationId, 'Two'));

    const said = `${LABEL}:\n${at('10:05')}\n- locale: "ko-KR"`;
    expect(textsOf(edited.at(-1))).toEqual([said, 'Uno']);
    expect(textsOf(forked.at(-1))).toEqual([said, 'Two']);
  });

  test('date and time use the known zone after compaction and deletion of its message', async () => {
    const { send, compact, dependencies, lastPrompt } = sundayChat();
    const asked = request(randomUUID(), 'Question 0');
    const { conversationId } = asked;
    await send(withContext(asked, { timeZone: 'Asia/Seoul' }));
    for (let i = 1; i < 8; i++)
      await send(request(conversationId, `Question ${i} ${'about bees '.repeat(400)}`));
    await compact(conversationId);
    await deleteMessage(dependencies, { caller, conversationId, messageId: asked.message.id });

    await send(request(conversationId, 'Hello'));

    expect(textsOf(lastPrompt().at(-1))).toEqual([alone('10:05'), 'Hello']);
  });

  test('date and time cost no additional read or write', async () => {
    const { send, dependencies } = sundayChat();
    const conversationId = randomUUID();
    await send(withContext(request(conversationId, 'One')));
    const commits: string[][] = [];
    const reads: string[][] = [];
    const { store } = dependencies;
    const watched = {
      ...store,
      get: (paths: readonly string[]) => {
        reads.push([...paths]);
        return store.get(paths);
      },
      commit: (writes: Parameters<typeof store.commit>[0]) => {
        commits.push(writes.map(({ path }) => path));
        return store.commit(writes);
      },
    };

    const sent = request(conversationId, 'Two');
    const handle = await sendMessage({ ...dependencies, store: watched }, sent);
    await handle.result;

    expect(reads.flat().filter((path) => path.startsWith('users/'))).toHaveLength(1);
    expect(commits[0]).toHaveLength(3);
  });

  test('date and time are given only with an app context where the deployment wants that', async () => {
    const { send } = sundayChat({ TELL_TIME: 'with-context' });
    const id = randomUUID();
    await send(withContext(request(id, 'One')));

    const prompt = await send(request(id, 'Two'));

    expect(textsOf(prompt.at(-1))).toEqual(['Two']);
  });
});
