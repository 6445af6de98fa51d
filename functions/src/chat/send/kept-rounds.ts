import { readStoredTurn } from '../../../../shared/conversation/read-conversation.ts';
import type { TurnDocument, TurnUsage } from '../../../../shared/conversation/turn.ts';
import type { KeptRounds } from '../../../../shared/conversation/turn-writes.ts';
import { firstFrameId } from '../../../../shared/wire/frame-ids.ts';
import type { ProgressAtStart } from '../answer/turn-progress.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** What attempts before this one have left, and what it cost. */
interface Kept extends KeptRounds {
  usage: TurnUsage | undefined;
  settled: TurnUsage | undefined;
}

/** The rounds of a turn that is taken over, those whose calls nobody answered included. */
export async function keptRounds(
  { store }: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  known: TurnDocument | undefined,
): Promise<Kept | undefined> {
  if (known?.value.rounds === undefined) return undefined;
  const { contents, rounds, usage, settled } = (await readStoredTurn(store, conversationId, known))
    .value;
  return rounds && { contents: contents.slice(0, 2 * rounds.count), rounds, usage, settled };
}

/** What an attempt begins with. */
export const progressAtStart = (attempt: number, kept: Kept | undefined): ProgressAtStart => ({
  contents: [],
  ...kept,
  ...(kept && { rounds: { ...kept.rounds, step: kept.rounds.step + 1, frames: [] } }),
  chunks: 0,
  nextFrameId: firstFrameId(attempt),
  isResumed: false,
});
