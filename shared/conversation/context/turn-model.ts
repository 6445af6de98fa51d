import { isRouted } from '#shared/routing/routing.ts';
import type { Turn } from '../documents/turn.ts';

/**
 * The model that a turn is answered with: that of its conversation as the turn begins (an id, or `auto`), and the same
 * until it ends, whoever goes on with it and whatever the conversation has changed to meanwhile. An answer that failed
 * before any tool had run leaves nothing behind that a model made: the next attempt begins anew. `turn` is absent
 * while there is none.
 */
export function turnModel(
  conversationModel: string,
  turn: Pick<Turn, 'state' | 'model' | 'rounds'> | undefined,
): string {
  if (!turn || turn.state === 'queued') return conversationModel;
  const isAnew = turn.state === 'failed' && turn.rounds === undefined;
  return isAnew ? conversationModel : (turn.model ?? conversationModel);
}

/** Id of the model that has answered a turn so far; undefined where none was asked, or nobody noted it. */
export function modelThatAnswered({
  model,
  routing,
}: Pick<Turn, 'model' | 'routing'>): string | undefined {
  if (routing) return routing.model;
  return model === undefined || isRouted(model) ? undefined : model;
}
