import { repeats } from '#shared/text/repeated-words.ts';
import { readableParts, type Part } from '#shared/conversation/documents/content.ts';
import { readHistories } from '#shared/conversation/context/find-history.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Generations of one read. */
const GENERATIONS_PER_READ = 20;
/** Noted in the conversation document at most; snapshots that hold more are emptied whole. */
const ITEMS_MAX = 2_000;

/** What a part says: a call by its arguments, a response by what it returned. */
const saidBy = ({ text, functionCall, functionResponse }: Part): string[] => [
  ...(text === undefined ? [] : [text]),
  ...(functionCall === undefined ? [] : [JSON.stringify(functionCall.args ?? {})]),
  ...(functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)]),
];

/** Everything that was said in some turns, tools included. */
export const saidIn = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ user, contents }) =>
    [user, ...contents].flatMap((content) => readableParts(content).flatMap(saidBy)),
  );

type RepeatingItems = NonNullable<NonNullable<Conversation['pendingErasure']>['items']>;

/**
 * The items of all generations that repeat what the turns say, whatever they cite: by generation and id,
 * because afterwards nobody can compare them any more. Generations that end before the turns cannot.
 */
export async function repeatingItems(
  dependencies: Pick<ChatDependencies, 'store' | 'logger'>,
  target: { conversationId: string; conversation: Conversation },
  turns: readonly Turn[],
): Promise<RepeatingItems> {
  const first = Math.min(...turns.map(({ seq }) => seq));
  const isRepeated = repeats(saidIn(turns));
  const found: RepeatingItems = [];
  let left = ITEMS_MAX;
  for (let newest = target.conversation.generation; newest > 0; newest -= GENERATIONS_PER_READ) {
    const length = Math.min(GENERATIONS_PER_READ, newest);
    const generations = Array.from({ length }, (_, i) => newest - i);
    for (const { generation, snapshot, coveredThrough } of await readHistories(
      dependencies,
      target,
      generations,
    )) {
      if (!snapshot || coveredThrough.seq < first) continue;
      const items = [...Object.values(snapshot.sections).flat(), ...snapshot.archive];
      const ids = items.filter(({ text }) => isRepeated(text)).map(({ id }) => id);
      if (ids.length === 0) continue;
      left -= ids.length;
      // No id: the whole generation.
      found.push({ generation, ids: left < 0 ? [] : ids });
    }
  }
  return found;
}
