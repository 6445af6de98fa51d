import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { readDocuments } from '#lab/property/invariants/documents.ts';
import { snapshotFaults } from '#lab/property/invariants/true-snapshots.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { type Item, type Snapshot, workingItems } from '#shared/conversation/documents/snapshot.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import {
  type Lifecycle,
  owner,
  removeMessage,
  setConversation,
  worldWith,
} from '#test/support/chat/lifecycle.ts';
import { fork } from '#test/support/chat/sending.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';
import { readableFields } from '#test/support/stores/readable-fields.ts';
import { expect, test } from 'vitest';

const IBAN = 'DE89370400440532013000';
const parcelOf = (seq: number): string => `PCL-${73_000 + seq}`;
const ruleOf = (seq: number): string => `Always send parcel ${parcelOf(seq)} by ship.`;

/** What the user says in a turn; every fifth one sets a rule. */
const said = (seq: number): string =>
  [
    ...(seq === 1 ? [`My account is ${IBAN}.`] : []),
    ...(seq % 5 === 0 ? [ruleOf(seq)] : []),
    `Parcel ${parcelOf(seq)} is waiting.`,
    madeUpQuestion(seq),
  ].join(' ');

const numberedTurns = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    user: said(first + index),
    answer: madeUpAnswer(first + index),
  }));

/** A summariser that notes parcels and rules, goes on with its first note, and makes a topic of every three turns. */
function noting({ contents }: ModelRequest): Promise<string> {
  const shown = contents.map(contentText).join('\n');
  const seqs = [...shown.matchAll(/^\[(\d+)\] user: /gmu)].map(([, seq]) => Number(seq));
  const [first = 1] = seqs;
  const known = /^\{"id":"(i\d+)","section":"key_knowledge","text":"([^"]*)"/mu.exec(shown);
  const add = (section: string, text: string, sources: readonly number[]) => ({
    op: 'add',
    section,
    text,
    sources,
  });
  const rules = seqs.filter((seq) => shown.includes(ruleOf(seq)));
  const operations = [
    ...(shown.includes(`My account is ${IBAN}`)
      ? [add('user_profile', `Pays from ${IBAN}.`, [2])]
      : []),
    ...seqs.map((seq) => add('key_knowledge', `Parcel ${parcelOf(seq)} waits.`, [seq])),
    ...rules.map((seq) => ({ ...add('active_constraints', ruleOf(seq), []), quote: ruleOf(seq) })),
    ...(known === null
      ? []
      : [{ op: 'update', id: known[1], text: `${known[2]} So does another.`, sources: [first] }]),
  ];
  const topics = seqs
    .filter((_, index) => index % 3 === 0)
    .map((from) => ({
      title: `parcel ${parcelOf(from)} and others`,
      from,
      through: from + 2,
    }));
  return Promise.resolve(JSON.stringify({ scratchpad: '', operations, topics }));
}

const THRESHOLD = { thresholdTokens: 6_000 };

async function compactMore(world: Lifecycle, conversationId: string): Promise<void> {
  const { conversation } = await see(world.store, conversationId);
  for (const turn of numberedTurns(conversation.lastSeq + 1, 12))
    await addTurn(world.store, conversationId, turn);
  world.bench.clock.advance(600_000);
  const requestId = `request-${conversation.generation}`;
  const manual = { requestId, since: world.bench.clock.now() };
  await setConversation(world, conversationId, { 'compactionRequests.manual': manual });
  expect(await compactOnce(world.bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
}

const faultsOf = async ({ store }: Lifecycle, conversationId: string) =>
  snapshotFaults(await readDocuments(store, conversationId));

/** Stored documents of a conversation that hold a text. */
const holding = async ({ documents }: Lifecycle, conversationId: string, text: string) =>
  (await documents())
    .filter(
      ({ path, fields }) => path.includes(conversationId) && readableFields(fields).includes(text),
    )
    .map(({ path }) => path);

const snapshotOf = async ({ store }: Lifecycle, conversationId: string): Promise<Snapshot> => {
  const { history } = await see(store, conversationId);
  if (!history?.snapshot) throw new Error('there is no snapshot');
  return history.snapshot;
};

test('snapshots stay true through three compactions, a restore, a fork, erasures and one more compaction', async () => {
  const world = worldWith('ledger', [noting]);
  const conversationId = await buildDue(world, {
    turns: numberedTurns(1, 30),
    conversation: { settings: THRESHOLD, compactionRequests: {} },
  });
  for (let generation = 1; generation <= 3; generation++) {
    await compactMore(world, conversationId);
    expect(await faultsOf(world, conversationId)).toEqual([]);
  }
  const whole = await snapshotOf(world, conversationId);
  const account = [...workingItems(whole), ...whole.archive].find(({ text }) =>
    text.includes(IBAN),
  );
  expect(account?.sources).toEqual([1, 2]);
  expect(whole.archive.length).toBeGreaterThan(0);
  expect(whole.sections['timeline']?.length).toBeGreaterThan(0);
  expect(workingItems(whole).filter(({ section }) => section === 'active_constraints')).not.toEqual(
    [],
  );

  await restoreGeneration(world.chat, {
    caller: owner,
    conversationId,
    generation: 2,
    locale: undefined,
  });
  expect(await faultsOf(world, conversationId)).toEqual([]);

  const { conversationId: forkId } = await fork(world, conversationId, 'message-60');
  expect(await faultsOf(world, forkId)).toEqual([]);
  const topics = (await snapshotOf(world, forkId)).sections['timeline'] ?? [];
  const middle = topics.map(({ sources }) => sources[0] ?? 0).find((from) => from > 1) ?? 0;
  for (const id of [conversationId, forkId]) {
    // The account was said in turn 1, and the summariser cited turn 2.
    await removeMessage(world, id, 'message-1');
    expect(await holding(world, id, IBAN)).toEqual([]);
    await removeMessage(world, id, `message-${middle + 1}`);
    expect(await holding(world, id, parcelOf(middle + 1))).toEqual([]);
    const { sections, archive } = await snapshotOf(world, id);
    const left = [...(sections['timeline'] ?? []), ...archive];
    const isAround = ({ sources: [from = 0], through = 0 }: Item) =>
      from <= middle + 1 && middle + 1 <= through;
    expect(left.filter(isAround)).toEqual([]);
    expect(await faultsOf(world, id)).toEqual([]);

    await compactMore(world, id);
    expect(await faultsOf(world, id)).toEqual([]);
    for (const gone of [IBAN, parcelOf(middle + 1)])
      expect(await holding(world, id, gone)).toEqual([]);
  }
}, 120_000);
