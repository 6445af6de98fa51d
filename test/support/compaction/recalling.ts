import { recallHistory } from '#functions/chat/turns/tools/built-in-tools.ts';
import type { ToolCallContext } from '#functions/chat/turns/tools/toolbox.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { chatDependencies } from '../chat/chat-dependencies.ts';
import { buildConversation, type TurnToBuild } from './conversation-builder.ts';

export const alice = { uid: 'u1', tier: 'signedIn' } as const;

/** What the tool tells of a turn. */
export interface Hit {
  seq: number;
  role: string;
  time: string;
  snippet: string;
  beside?: { role: string; snippet: string };
}

const isHits = (value: unknown): value is Hit[] => Array.isArray(value);

type Asked = { query: string; before?: number } & Partial<ToolCallContext>;

/** What the tool answers to a call in the turn after the last one. */
export async function recall(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'clock' | 'logger'>,
  conversationId: string,
  { query, before, ...context }: Asked,
) {
  const conversation = await readConversation(dependencies.store, conversationId);
  const seq = (conversation?.value.lastSeq ?? 0) + 1;
  const response = await recallHistory(dependencies).run(
    { query, before },
    {
      caller: alice,
      conversationId,
      seq,
      key: `t_${seq}:0`,
      isApproved: false,
      signal: new AbortController().signal,
      ...context,
    },
  );
  const { hits, topics, searched, note } = response;
  if (!isHits(hits)) throw new Error('no hits in the response');
  return { hits, topics, searched, note };
}

/** A conversation of these turns, in an instance of its own. */
export async function conversationOf(turns: readonly TurnToBuild[]) {
  const dependencies = chatDependencies();
  const { conversationId } = await buildConversation(dependencies.store, { turns });
  return { dependencies, conversationId };
}

/** Turns that say nothing. */
export const filler = (count: number): TurnToBuild[] =>
  Array.from({ length: count }, (_, i) => ({ user: `Filler ${i}.`, answer: 'Nothing.' }));

export const call = (name: string, args: Record<string, unknown>): Content => ({
  role: 'model',
  parts: [{ functionCall: { name, args } }],
});
export const response = (name: string, output: string): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name, response: { output } } }],
});
