import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { evictionOrder } from '#shared/compaction/ledger/budget/eviction-order.ts';
import { valuedFacts, type LastingFact } from '#shared/compaction/ledger/items/item-facts.ts';
import { lastingFacts } from '#shared/compaction/ledger/operations/lasting-facts.ts';
import { workingItems, type Item } from '#shared/conversation/documents/snapshot.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { counting, item, snapshotWith } from '../ledger-samples.ts';

function orderOf(sections: Record<string, Item[]>, facts: readonly LastingFact[] = []): string[] {
  const snapshot = snapshotWith(sections);
  const valued = valuedFacts(workingItems(snapshot), facts);
  return evictionOrder(snapshot, { newestSeq: 1, counting, facts: valued }).map(({ id }) => id);
}

describe('what leaves a snapshot first', () => {
  test.each<[string, Item[], string]>([
    [
      'what another item says as well',
      [
        item('alone', 'The order ORD-20231 is under way'),
        item('again', 'The order ORD-20232 is under way'),
        item('twice', 'They said that ORD-20232 is under way'),
      ],
      'twice',
    ],
    [
      'a scrap, however short',
      [item('prose', 'The mother of the bride likes roses'), item('scrap', '1.')],
      'scrap',
    ],
    [
      'a long line that says one fact',
      [
        item('short', 'Call `openDoor()` first'),
        item('long', 'this.container.child(this.theme.text.from("dim", this.text), none, none);'),
      ],
      'long',
    ],
  ])('the first to leave a snapshot is %s', (_, items, first) => {
    expect(orderOf({ key_knowledge: items })[0]).toBe(first);
  });

  test('uninformative knowledge leaves a snapshot before informative files', () => {
    const sections = {
      artifacts: [item('file', 'Wrote src/door.ts'), item('vague', 'wrote it down')],
      key_knowledge: [item('scrap', '- and so on')],
    };

    expect(orderOf(sections)).toEqual(['vague', 'scrap', 'file']);
  });

  test('the model’s least important items leave a snapshot before extracted lists', () => {
    const list = item('list', 'Files: src/a.ts src/b.ts src/c.ts', { importance: 1, by: 'code' });
    const sections = {
      artifacts: [list],
      key_knowledge: [item('prose', 'so they went on with it')],
    };

    expect(orderOf(sections)).toEqual(['prose', 'list']);
  });

  test('new items leave a snapshot before those of an earlier snapshot', () => {
    const carried = item('carried', 'The gate has `openGate()`');
    const brought = item('brought', 'The door has `openDoor()`');
    const previous = snapshotWith({ key_knowledge: [carried] });

    const facts = lastingFacts(previous, []);
    expect(orderOf({ key_knowledge: [carried, brought] }, facts)).toEqual(['brought', 'carried']);
  });

  test('tool-only statements leave a snapshot before what people said', () => {
    const facts = extractFacts(
      readUtterances([saidTurn(1, { user: 'Run it', model: 'It took 38 ms.' })]),
    );
    const shown = facts.map((fact) => ({ ...fact, tier: 3 as const }));
    const items = {
      key_knowledge: [item('said', 'It took 39 ms'), item('shown', 'It took 38 ms')],
    };

    expect(orderOf(items, shown)).toEqual(['shown', 'said']);
  });
});
