import { expect, test } from 'vitest';
import { systemClock } from '#functions/adapters/clocks.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { snapshotView } from '#shared/wire/resources/compaction.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { owner } from '#test/support/chat/lifecycle.ts';
import {
  buildDue,
  neverAborted,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { type TurnToBuild, madeUpQuestion } from '#test/support/compaction/conversation-builder.ts';

const UEFA = 'https://uefa.com/euro';
const EXAMPLE = 'https://example.org/trams';
const WON = 'Spain won Euro 2024 by 2-1 against England on 14 July 2024.';
const TRAMS = 'Tram 12 of Lisbon runs every 14 minutes.';
const answer = `${WON} ${TRAMS}`;

const span = (said: string) => ({
  start: answer.indexOf(said),
  end: answer.indexOf(said) + said.length,
});

const grounded: TurnToBuild = {
  user: 'Who won Euro 2024, and how often does tram 12 of Lisbon run?',
  answer,
  grounding: {
    sources: [
      { url: UEFA, title: 'uefa.com', spans: [span(WON)] },
      { url: EXAMPLE, title: 'example.org', spans: [span(TRAMS)] },
    ],
    queries: ['euro 2024 winner'],
  },
};

const filler = Array.from({ length: 24 }, (_, n) => ({
  user: `ORD-${70_000 + n} goes to door ${n + 1}. ${madeUpQuestion(n + 1)}`,
}));

/** What a summariser says of the second turn. */
const summary = JSON.stringify({
  scratchpad: '',
  operations: [
    {
      op: 'add',
      section: 'key_knowledge',
      items: [WON, TRAMS].map((text) => ({ text, sources: [2] })),
    },
  ],
  topics: [],
});

/** A conversation whose second turn rests on sources, compacted. */
async function compacted(turns: readonly TurnToBuild[]) {
  const chat = chatDependencies();
  const { store, config } = chat;
  const conversationId = await buildDue(chat, { turns });
  const model = createScriptedModel({ answers: [summary] });
  const worker = { ...compactionBench({ store, config, model }), clock: systemClock };
  await runCompaction(worker, { conversationId, signal: neverAborted() });
  const { history, text } = await see(store, conversationId);
  return { chat, conversationId, history, text, asked: JSON.stringify(model.calls[0]) };
}

const withSources = () => compacted([...filler.slice(0, 1), grounded, ...filler.slice(1)]);

test('a statement that a folded answer’s source bears out names it in the context, and no other statement does', async () => {
  const { history } = await withSources();

  const text = history?.snapshotText ?? '';
  expect(text).toContain(`- ${WON} [s2.1]\n`);
  expect(text).toContain(`- ${TRAMS} [s2.2]\n`);
  expect(text).toContain('<sources>\n- s2.1: uefa.com\n- s2.2: example.org\n</sources>');
  expect(text.match(/\[s2\./g)).toHaveLength(2);
});

test('the address behind a source’s tag is found in the context and beside its statement', async () => {
  const { chat, conversationId, history } = await withSources();

  const { items } = await showContext(chat, { caller: owner, conversationId });
  const snapshot = items.find(({ kind }) => kind === 'snapshot');
  const won =
    history?.snapshot &&
    snapshotView(history.snapshot).find(({ text }) => text.includes('Spain won'));

  expect(snapshot?.sources).toEqual([
    { id: 's2.1', url: UEFA, title: 'uefa.com' },
    { id: 's2.2', url: EXAMPLE, title: 'example.org' },
  ]);
  expect(won).toMatchObject({
    sources: [2],
    citations: [{ id: 's2.1', url: UEFA, title: 'uefa.com' }],
  });
});

test('of a deleted answer no source is left in the snapshot', async () => {
  const { chat, conversationId } = await withSources();

  await deleteMessage(chat, { caller: owner, conversationId, messageId: 'm_2' });

  const { history, text } = await see(chat.store, conversationId);
  expect(JSON.stringify(history?.snapshot)).not.toContain('uefa');
  expect(text).not.toContain('uefa');
  expect(text).not.toContain('s2.1');
});
