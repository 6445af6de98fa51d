import type { Item, Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { foldedTurn } from './folded-turn.ts';

/** What is said in one turn; absent speakers are silent. */
export interface Said {
  user?: string;
  model?: string;
  /** What a tool returns. */
  tool?: string;
  at?: Date;
}

/** A finished turn in which these texts are said. */
export function saidTurn(seq: number, { user = '', model, tool, at = new Date(0) }: Said): Turn {
  const called = [
    { role: 'model' as const, parts: [{ functionCall: { name: 'look_up', args: {} } }] },
    {
      role: 'user' as const,
      parts: [{ functionResponse: { name: 'look_up', response: { output: tool } } }],
    },
  ];
  const answer = { role: 'model' as const, parts: [{ text: model }] };
  return {
    ...foldedTurn(seq, user),
    createTime: at,
    contents: [...(tool === undefined ? [] : called), ...(model === undefined ? [] : [answer])],
  };
}

/** An item as a model makes it. */
export const modelItem = (id: number, text: string, fields: Partial<Item> = {}): Item => ({
  id: `i${id}`,
  text,
  sources: [1],
  importance: 2,
  by: 'model',
  ...fields,
});

/** A snapshot of a conversation between people with these items. */
export const snapshotWith = (sections: Record<string, Item[]>): Snapshot => ({
  schemaVersion: 1,
  profile: 'assistant',
  sections,
  archive: [],
  nextId: Object.values(sections).flat().length + 100,
});
