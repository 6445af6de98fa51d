import { contentText } from '#shared/conversation/documents/content.ts';
import { stringsIn } from '#shared/conversation/repair/content-strings.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { foldedThrough } from '#functions/recall/read-index.ts';
import type { BegunTurn } from '../start/begun-turn.ts';

/** Loaded by the first turn that follows a compaction: the finders of facts take a while. */
const loadSaidAgain = () => import('#shared/recall/said-again.ts');

/**
 * Whether the user had to say something again that was folded and that the model was not given; undefined where nobody
 * can tell: nothing is folded, the index of recall was not read for the turn, or the message is a repeated one. What was
 * brought back for this very message does not count as given: it came because the user says it again. Never throws.
 */
export async function saidAgain(
  { logger }: Pick<ChatDependencies, 'logger'>,
  { turn, context, call, attempt, progress }: BegunTurn,
): Promise<boolean | undefined> {
  const { index } = call.recalled;
  if (!index || progress.rounds || turn.replaces !== undefined) return undefined;
  const { conversation, turns } = context;
  const { systemInstruction = '', contents } = call.prompt;
  const broughtBack = turns.flatMap(({ recalled }) => recalled?.seqs ?? []);
  try {
    const { isSaidAgain } = await loadSaidAgain();
    return isSaidAgain({
      message: contentText(turn.user),
      now: turn.createTime,
      segments: index.segments,
      throughSeq: Math.min(index.throughSeq, foldedThrough(conversation)),
      leftOut: new Set([...(conversation.pendingErasure?.seqs ?? []), ...broughtBack]),
      known: [systemInstruction, turn.surroundings ?? '', ...stringsIn(contents.slice(0, -1))],
    });
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    const { conversationId } = attempt;
    logger.log('ERROR', 'said_again_failed', { conversationId, error: name });
    return undefined;
  }
}
