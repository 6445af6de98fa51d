import { frameSnapshot } from '#shared/compaction/snapshot-sections.ts';
import { everyItem, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { compactAgain, compacted, type Lifecycle } from '../chat/lifecycle.ts';
import { rewriteHistory } from '../stored-histories.ts';

/** What all items of both layers say. */
export const snapshotTexts = (snapshot: Snapshot): string[] =>
  everyItem(snapshot).map(({ text }) => text);

/** A statement and the turns that it cites. */
export type KnownItem = [text: string, ...sources: number[]];

const snapshotOf = (items: readonly KnownItem[]): Snapshot => ({
  schemaVersion: 1,
  profile: 'assistant',
  sections: {
    key_knowledge: items.map(([text, ...sources], index) => ({
      id: `i${index + 1}`,
      text,
      sources,
      importance: 2,
      by: 'model',
    })),
  },
  archive: [],
  nextId: items.length + 1,
});

/** Puts these statements, and nothing else, into the snapshot of a generation. */
function setItems(
  { store }: Pick<Lifecycle, 'store'>,
  target: { conversationId: string; generation: number },
  items: readonly KnownItem[],
): Promise<void> {
  const snapshot = snapshotOf(items);
  const body = snapshotTexts(snapshot).join('\n');
  return rewriteHistory(store, target, {
    snapshot,
    boundary: 'b',
    snapshotText: frameSnapshot({ body, boundary: 'b' }),
    report: { leftOut: items.map(([text]) => text) },
  });
}

/** Two compactions of a conversation whose third message says the canary, with these statements in both. */
export async function compactedTwice(
  world: Lifecycle,
  items: readonly KnownItem[],
): Promise<string> {
  const conversationId = await compacted(world);
  await compactAgain(world, conversationId);
  for (const generation of [1, 2]) await setItems(world, { conversationId, generation }, items);
  return conversationId;
}
