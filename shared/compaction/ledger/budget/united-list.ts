import type { Item } from '#shared/conversation/documents/snapshot.ts';

/** What code lists by itself. */
export type ListKind = 'path' | 'link' | 'identifier';

const labels: Readonly<Record<ListKind, string>> = {
  path: 'Files:',
  link: 'Links:',
  identifier: 'Identifiers:',
};

export const listText = (kind: ListKind, elements: readonly string[]): string =>
  [labels[kind], ...elements].join(' ');

/** Whether an item is the list of `kind`: what code took from turns word for word carries a quote. */
export const isListOfKind = (kind: ListKind, item: Item): boolean =>
  item.by === 'code' && item.quote === undefined && item.text.startsWith(`${labels[kind]} `);

/** Whether an item is a list that code makes and no operation changes. */
export const isUnitedList = (item: Item): boolean =>
  isListOfKind('path', item) || isListOfKind('link', item) || isListOfKind('identifier', item);

/** The elements of a list; none of them holds a blank. */
export const listElements = (item: Item): string[] => item.text.split(' ').slice(1);
