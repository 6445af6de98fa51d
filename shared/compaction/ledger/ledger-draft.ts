import type { ArchivedItem, Item, Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { textKey } from '#shared/text/one-line.ts';

/** A snapshot while operations are applied to it; every step on it takes constant time. */
export interface LedgerDraft {
  readonly base: Snapshot;
  /** By section, in the order of their making: the items by id. */
  readonly sections: Map<string, Map<string, Item>>;
  readonly sectionOfId: Map<string, string>;
  /** By section and text: the id of the item that says it. */
  readonly idOfText: Map<string, string>;
  readonly archive: Map<string, ArchivedItem>;
  readonly archivedByText: Map<string, ArchivedItem[]>;
  /** Ids of items that the operations made or gave other words. */
  readonly made: Set<string>;
  nextId: number;
}

const placeKey = (section: string, text: string): string => `${section}\n${textKey(text)}`;

function note(draft: LedgerDraft, section: string, item: Item): void {
  draft.sectionOfId.set(item.id, section);
  const key = placeKey(section, item.text);
  if (!draft.idOfText.has(key)) draft.idOfText.set(key, item.id);
}

function putArchived(draft: LedgerDraft, item: ArchivedItem): void {
  draft.archive.set(item.id, item);
  noteArchived(draft, item);
}

function noteArchived(draft: LedgerDraft, item: ArchivedItem): void {
  const key = placeKey(item.section, item.text);
  const known = draft.archivedByText.get(key);
  if (known === undefined) draft.archivedByText.set(key, [item]);
  else known.push(item);
}

function forgetText(draft: LedgerDraft, section: string, item: Item): void {
  const key = placeKey(section, item.text);
  if (draft.idOfText.get(key) === item.id) draft.idOfText.delete(key);
}

export function createDraft(base: Snapshot): LedgerDraft {
  const draft: LedgerDraft = {
    base,
    sections: new Map(),
    sectionOfId: new Map(),
    idOfText: new Map(),
    archive: new Map(base.archive.map((item) => [item.id, item])),
    archivedByText: new Map(),
    made: new Set(),
    nextId: base.nextId,
  };
  for (const [section, items] of Object.entries(base.sections)) {
    draft.sections.set(section, new Map(items.map((item) => [item.id, item])));
    for (const item of items) note(draft, section, item);
  }
  for (const item of base.archive) noteArchived(draft, item);
  return draft;
}

/** The item of the working layer with this id. */
export function findItem(draft: LedgerDraft, id: string): ArchivedItem | undefined {
  const section = draft.sectionOfId.get(id);
  if (section === undefined) return undefined;
  const item = draft.sections.get(section)?.get(id);
  return item && { ...item, section };
}

/** The item of a section that says this text, however it is written. */
export function findText(draft: LedgerDraft, section: string, text: string): Item | undefined {
  const id = draft.idOfText.get(placeKey(section, text));
  return id === undefined ? undefined : draft.sections.get(section)?.get(id);
}

/** Whether the archive has this text from all of these turns: saying it again says nothing new. */
export const isArchived = (
  draft: LedgerDraft,
  { section, text, sources }: { section: string; text: string; sources: readonly number[] },
): boolean =>
  (draft.archivedByText.get(placeKey(section, text)) ?? []).some(
    (item) => draft.archive.has(item.id) && sources.every((seq) => item.sources.includes(seq)),
  );

/** Adds an item under a new id, or replaces the one with its id. */
export function putItem(
  draft: LedgerDraft,
  section: string,
  item: Omit<Item, 'id'> & { id?: string },
): void {
  const stored: Item = { ...item, id: item.id ?? `i${draft.nextId++}` };
  const items = draft.sections.get(section) ?? new Map<string, Item>();
  const old = items.get(stored.id);
  if (old !== undefined) forgetText(draft, section, old);
  if (old?.text !== stored.text) draft.made.add(stored.id);
  items.set(stored.id, stored);
  draft.sections.set(section, items);
  note(draft, section, stored);
}

/** Takes an item out of the working layer. */
export function dropItem(draft: LedgerDraft, { section, ...item }: ArchivedItem): void {
  forgetText(draft, section, item);
  draft.sectionOfId.delete(item.id);
  draft.sections.get(section)?.delete(item.id);
}

/** Moves an item from the working layer to the archive. */
export function archiveItem(draft: LedgerDraft, item: ArchivedItem): void {
  dropItem(draft, item);
  putArchived(draft, item);
}

/**
 * Puts the words that an item is about to lose into the archive, as an item of their own. Returns its id;
 * undefined for words that these operations themselves gave it: nobody has seen them.
 */
export function archiveWords(draft: LedgerDraft, item: ArchivedItem): string | undefined {
  if (draft.made.has(item.id)) return undefined;
  const id = `i${draft.nextId++}`;
  putArchived(draft, { ...item, id });
  return id;
}

/** Takes away what an item took the place of, and what that did: without it they would hold again. */
export function forgetReplaced(draft: LedgerDraft, { supersedes }: ArchivedItem): void {
  let id = supersedes;
  while (id !== undefined) {
    const replaced = draft.archive.get(id);
    draft.archive.delete(id);
    id = replaced?.supersedes;
  }
}

export const snapshotOfDraft = (draft: LedgerDraft): Snapshot => ({
  ...draft.base,
  sections: Object.fromEntries(
    [...draft.sections].map(([section, items]) => [section, [...items.values()]]),
  ),
  archive: [...draft.archive.values()],
  nextId: draft.nextId,
});
