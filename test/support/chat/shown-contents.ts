import { itemContents, type ContextItem } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { ContextItemView } from '#shared/wire/resources/context.ts';

const isSent = (
  item: ContextItemView,
): item is ContextItemView & Pick<ContextItem, 'kind' | 'content'> =>
  item.kind !== 'system' && item.kind !== 'tools';

/** The contents that `/context` shows, as the next prompt has them. */
export const shownContents = (items: readonly ContextItemView[]): Content[] =>
  itemContents(items.filter(isSent));
