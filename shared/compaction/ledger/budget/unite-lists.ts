import { workingItems, type Item, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { oneLine } from '#shared/text/one-line.ts';
import {
  createDraft,
  archiveItem,
  dropItem,
  putItem,
  snapshotOfDraft,
  type LedgerDraft,
} from '../ledger-draft.ts';
import type { SnapshotRoom } from '../render-snapshot.ts';

/** What code lists by itself. */
type ListKind = 'path' | 'link' | 'identifier';

const labels: Readonly<Record<ListKind, string>> = {
  path: 'Files:',
  link: 'Links:',
  identifier: 'Identifiers:',
};

const listText = (kind: ListKind, elements: readonly string[]): string =>
  [labels[kind], ...elements].join(' ');

/** Whether an item is the list of `kind`: what code took from turns word for word carries a quote. */
const isListOfKind = (kind: ListKind, item: Item): boolean =>
  item.by === 'code' && item.quote === undefined && item.text.startsWith(`${labels[kind]} `);

/** Whether an item is a list that code makes and no operation changes. */
export const isUnitedList = (item: Item): boolean =>
  isListOfKind('path', item) || isListOfKind('link', item) || isListOfKind('identifier', item);

/** The elements of a list; none of them holds a blank. */
const listElements = (item: Item): string[] => item.text.split(' ').slice(1);

const kinds: readonly ListKind[] = ['path', 'link', 'identifier'];
/** Where they stand in the profile `coding`; conversations with people have none. */
const listSection = 'artifact_trail';
/** A word without the brackets, quotes and punctuation around it. */
const wordCore = /[^("'`«“[<](?:.*[^)"'`»”\]>.,;:!?])?/u;

/** Every word that other items say: what stands there needs no place in a list. */
const wordsOfItems = (snapshot: Snapshot): ReadonlySet<string> =>
  new Set(
    workingItems(snapshot)
      .filter((item) => !isUnitedList(item))
      .flatMap(({ text }) => text.split(' ').map((word) => wordCore.exec(word)?.[0] ?? '')),
  );

interface Used {
  text: string;
  /** The last turn that says it. */
  seq: number;
}

/** What the user named himself, the newest first. */
function usedIn(facts: readonly Fact[], kind: ListKind): Used[] {
  return facts
    .filter((fact) => fact.kind === kind && fact.speaker === 'user' && fact.isShown !== true)
    .map((fact) => ({ text: oneLine(fact.text), seq: fact.seqs.at(-1) ?? 0 }))
    .filter(
      ({ text, seq }) =>
        seq > 0 &&
        !text.includes(' ') &&
        text.length <= ledgerConstants.listElementCharacters.value,
    )
    .toSorted((a, b) => b.seq - a.seq)
    .slice(0, ledgerConstants.listElementLimit.value);
}

interface List {
  kind: ListKind;
  old: Item | undefined;
  room: SnapshotRoom;
}

/** The newest elements that fit what a list may take. */
function fitting(elements: readonly string[], { budgetTokens, counting }: SnapshotRoom): string[] {
  let left = ledgerConstants.listFraction.value * budgetTokens;
  return elements.slice(0, ledgerConstants.listElementLimit.value).filter((text) => {
    left -= estimateTextTokens(` ${text}`, counting);
    return left >= 0;
  });
}

/** `src/core/setup.ts` says `setup.ts` as well. */
const withoutEnds = (elements: readonly string[]): string[] =>
  elements.filter((text) => !elements.some((other) => other.endsWith(`/${text}`)));

function putList(draft: LedgerDraft, list: List, used: readonly Used[]): void {
  const { kind, old, room } = list;
  const section = listSection;
  const said = wordsOfItems(draft.base);
  const elements = [...used.map(({ text }) => text), ...(old ? listElements(old) : [])];
  const unsaid = withoutEnds([...new Set(elements)].filter((text) => !said.has(text)));
  const seqs = [...(old?.sources ?? []), ...used.map(({ seq }) => seq)];
  const sources = [...new Set(seqs)].toSorted((a, b) => a - b);
  if (old !== undefined && sources.length > ledgerConstants.itemSourceLimit.value) {
    // No source of an element may be forgotten, or its erasure would miss the list: a new one begins.
    archiveItem(draft, { ...old, section });
    putList(draft, { ...list, old: undefined }, used);
  } else if (fitting(unsaid, room).length > 0) {
    const text = listText(kind, fitting(unsaid, room));
    const id = old === undefined ? {} : { id: old.id };
    putItem(draft, section, { ...id, text, sources, importance: 1, by: 'code' });
  } else if (old !== undefined) dropItem(draft, { ...old, section });
}

/** Lists that an earlier version made in conversations with people: found by search, no longer shown. */
function withoutLists(snapshot: Snapshot): Snapshot {
  const lists = workingItems(snapshot).filter(isUnitedList);
  if (lists.length === 0) return snapshot;
  const draft = createDraft(snapshot);
  for (const list of lists) archiveItem(draft, list);
  return snapshotOfDraft(draft);
}

/**
 * The snapshot of a coding conversation with the paths, links and identifiers that the user named, as one item a kind
 * that code keeps over all generations: the newest first, each once, none that another item says, within a share of the
 * budget. `facts` are those of the folded turns.
 */
export function uniteLists(
  snapshot: Snapshot,
  facts: readonly Fact[],
  room: SnapshotRoom,
): Snapshot {
  if (snapshot.profile !== 'coding') return withoutLists(snapshot);
  const draft = createDraft(snapshot);
  for (const kind of kinds) {
    const used = usedIn(facts, kind);
    const old = snapshot.sections[listSection]?.find((item) => isListOfKind(kind, item));
    if (used.length > 0) putList(draft, { kind, old, room }, used);
  }
  return snapshotOfDraft(draft);
}
